// One row of named numbers per iteration, to RUN/metrics.csv and to TensorBoard at once.
//
// The first row fixes the columns. After a resume, rows past the resumed iteration are dropped, so the file reads as
// if the run had never stopped; where another version began the run and measured other things, the file has the columns
// of both, with nan where nothing was measured. Not thread-safe. Throws RunError when the disk refuses, InputError when
// a resumed run's file is not its own.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/event_file.h"

namespace gripstream {

using Metrics = std::vector<std::pair<std::string, double>>;  // TensorBoard tag ("rollout/return"), value

class MetricsWriter {
 public:
  // `resumed_iteration` < 0 starts anew; otherwise rows of iterations beyond it are dropped first.
  MetricsWriter(const std::string& run_dir, int64_t resumed_iteration);
  void Write(int64_t iteration, const Metrics& metrics);
  EventFile& Events() { return events_; }

 private:
  void DropRowsAfter(int64_t iteration);
  void WriteHeader(const Metrics& metrics);
  // Gives the file that a resumed run goes on with the columns of these metrics first, then those that it alone has.
  void TakeColumns(const Metrics& metrics);

  std::string csv_path_;
  EventFile events_;
  std::ofstream csv_;
  std::vector<std::string> columns_;  // those that are measured first
  size_t measured_ = 0;
  bool resumed_ = false;
};

}  // namespace gripstream
