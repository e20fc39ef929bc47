// A run's metrics.csv as columns: what plot, compare and top read.
//
// Plain values. Throws InputError when there is no such file, or no such column.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace gripstream {

struct MetricsTable {
  std::string file;
  std::vector<std::string> names;         // in the file's order, "iteration" first
  std::vector<std::vector<double>> rows;  // as many numbers each; NaN where there is none

  // Throws InputError naming the nearest column.
  size_t Column(const std::string& name) const;
  // Of the last row; NaN when there are no rows or no such column.
  double Last(const std::string& name) const;
};

// `run`: a run folder, or a metrics.csv. A row that is still being written is left out.
MetricsTable ReadMetrics(const std::string& run);

}  // namespace gripstream
