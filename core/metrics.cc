#include "core/metrics.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"

namespace gripstream {
namespace {

const std::string kNothing = "nan";

std::vector<std::string> Cells(const std::string& line) {
  std::istringstream row(line);
  std::vector<std::string> cells;
  for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
  return cells;
}

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
      columns_ = Cells(line);
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
  measured_ = columns_.size();
  csv_ << '\n';
}

void MetricsWriter::TakeColumns(const Metrics& metrics) {
  std::vector<std::string> columns;
  for (const auto& [name, value] : metrics) columns.push_back(name);
  for (const std::string& name : columns_) {
    if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
  }
  if (columns == columns_) return;
  LogInfo(csv_path_, " was begun by another version, which measured other things: it has the columns of both now");
  std::istringstream in(ReadText(csv_path_));
  std::string line, text = "iteration";
  for (const std::string& name : columns) text += ',' + name;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const std::vector<std::string> row = Cells(line);
    text += '\n' + row.front();
    for (const std::string& name : columns) {
      const auto at = static_cast<size_t>(std::ranges::find(columns_, name) - columns_.begin()) + 1;
      text += ',' + (at < row.size() ? row[at] : kNothing);
    }
  }
  csv_.close();
  WriteFileAtomically(csv_path_, text + '\n');
  csv_.open(csv_path_, std::ios::app);
  columns_ = columns;
}

void MetricsWriter::Write(int64_t iteration, const Metrics& metrics) {
  if (columns_.empty()) WriteHeader(metrics);
  if (resumed_) TakeColumns(metrics), measured_ = metrics.size();
  resumed_ = false;
  GS_CHECK(measured_ == metrics.size(), "the metrics of a run must not change their columns");
  csv_ << iteration;
  for (size_t i = 0; i < metrics.size(); ++i) {
    GS_CHECK(columns_[i] == metrics[i].first, "unexpected metric " + metrics[i].first);
    csv_ << ',' << FormatNumber(metrics[i].second);
  }
  for (size_t i = metrics.size(); i < columns_.size(); ++i) csv_ << ',' << kNothing;
  csv_ << '\n' << std::flush;
  if (!csv_) throw RunError(csv_path_ + ": cannot write (disk full?)");
  events_.WriteScalars(iteration, metrics);
}

}  // namespace gripstream
