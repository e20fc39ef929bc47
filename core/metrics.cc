#include "core/metrics.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "core/files.h"

namespace gripstream {
namespace {

std::string FormatNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

}  // namespace

MetricsWriter::MetricsWriter(const std::string& run_dir, int64_t resumed_iteration)
    : csv_path_(run_dir + "/metrics.csv"), events_(run_dir + "/tensorboard") {
  const bool append = resumed_iteration >= 0 && std::filesystem::exists(csv_path_);
  if (append) DropRowsAfter(resumed_iteration);
  resumed_ = !columns_.empty();
  csv_.open(csv_path_, append ? std::ios::app : std::ios::trunc);
  if (!csv_) throw RunError(csv_path_ + ": cannot be written");
}

void MetricsWriter::DropRowsAfter(int64_t iteration) {
  std::istringstream in(ReadText(csv_path_));
  std::string kept, line;
  while (std::getline(in, line)) {
    if (columns_.empty()) {
      std::istringstream header(line);
      for (std::string column; std::getline(header, column, ',');) columns_.push_back(column);
      if (columns_.empty() || columns_.front() != "iteration")
        throw InputError(csv_path_, "is not a run's metrics file");
    } else if (std::atoll(line.c_str()) > iteration) {
      continue;
    }
    kept += line + '\n';
  }
  WriteFileAtomically(csv_path_, kept);
  if (!columns_.empty()) columns_.erase(columns_.begin());  // "iteration" is not a metric
}

void MetricsWriter::WriteHeader(const Metrics& metrics) {
  csv_ << "iteration";
  for (const auto& [name, value] : metrics) {
    csv_ << ',' << name;
    columns_.push_back(name);
  }
  csv_ << '\n';
}

void MetricsWriter::RequireSameColumns(const Metrics& metrics) const {
  for (size_t i = 0; i < std::max(columns_.size(), metrics.size()); ++i) {
    const std::string found = i < columns_.size() ? columns_[i] : "nothing";
    const std::string expected = i < metrics.size() ? metrics[i].first : "no further column";
    if (found != expected) throw InputError(csv_path_, "column " + std::to_string(i + 2), found, expected);
  }
}

void MetricsWriter::Write(int64_t iteration, const Metrics& metrics) {
  if (columns_.empty()) WriteHeader(metrics);
  if (resumed_) RequireSameColumns(metrics);
  resumed_ = false;
  GS_CHECK(columns_.size() == metrics.size(), "the metrics of a run must not change their columns");
  csv_ << iteration;
  for (size_t i = 0; i < metrics.size(); ++i) {
    GS_CHECK(columns_[i] == metrics[i].first, "unexpected metric " + metrics[i].first);
    csv_ << ',' << FormatNumber(metrics[i].second);
  }
  csv_ << '\n' << std::flush;
  if (!csv_) throw RunError(csv_path_ + ": cannot write (disk full?)");
  events_.WriteScalars(iteration, metrics);
}

}  // namespace gripstream
