// One row of named numbers per iteration, to RUN/metrics.csv and to TensorBoard at once.
//
// The first row fixes the columns. After a resume, rows past the resumed iteration are dropped, so the file reads as
// if the run had never stopped. Not thread-safe. Throws RunError when the disk refuses,
// InputError when a resumed run's file is not its own.
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
  void RequireSameColumns(const Metrics& metrics) const;  // of the file that a resumed run goes on with

  std::string csv_path_;
  EventFile events_;
  std::ofstream csv_;
  std::vector<std::string> columns_;
  bool resumed_ = false;
};

}  // namespace gripstream
