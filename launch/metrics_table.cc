#include "launch/metrics_table.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>

#include "core/config.h"
#include "core/error.h"
#include "core/files.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields;
  std::string field;
  for (std::istringstream row(line); std::getline(row, field, ',');) fields.push_back(field);
  return fields;
}

}  // namespace

size_t MetricsTable::Column(const std::string& name) const {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  const std::string nearest = NearestName(name, names);
  throw InputError(file, "metric", name,
                   nearest.empty() ? "one of its columns" : "one of its columns, perhaps '" + nearest + "'");
}

double MetricsTable::Last(const std::string& name) const {
  const auto found = std::ranges::find(names, name);
  if (rows.empty() || found == names.end()) return kNone;
  return rows.back()[static_cast<size_t>(found - names.begin())];
}

MetricsTable ReadMetrics(const std::string& run) {
  const fs::path file = fs::is_directory(run) ? fs::path(run) / "metrics.csv" : fs::path(run);
  if (!fs::exists(file)) throw InputError(file.string(), "is not there; a run folder or its metrics.csv is needed");
  MetricsTable table{.file = file.string(), .names = {}, .rows = {}};
  std::istringstream text(ReadText(table.file));
  std::string line;
  std::getline(text, line);
  table.names = Fields(line);
  while (std::getline(text, line)) {
    const std::vector<std::string> fields = Fields(line);
    // A run may write while we read: only what ends with its line is whole.
    if (text.eof() || fields.empty() || fields.front().empty()) continue;
    std::vector<double>& row = table.rows.emplace_back(table.names.size(), kNone);
    for (size_t i = 0; i < std::min(fields.size(), row.size()); ++i) {
      if (!fields[i].empty()) row[i] = std::strtod(fields[i].c_str(), nullptr);
    }
  }
  return table;
}

}  // namespace gripstream
