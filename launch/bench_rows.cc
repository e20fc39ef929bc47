#include "launch/bench_rows.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace gripstream {
namespace {

std::string Number(double value) {
  if (std::isnan(value)) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), std::fabs(value) >= 100 ? "%.0f" : "%.3g", value);
  return text;
}

// What stands behind the row: that it falls short, or why nothing was measured.
std::string Remark(const BenchRow& row) {
  if (std::isnan(row.ratio)) return "  (" + row.why + ")";
  return row.ratio < row.goal ? "  << short of the goal" : "";
}

nlohmann::json NumberOrNull(double value) {
  return std::isnan(value) ? nlohmann::json() : nlohmann::json(value);
}

double NumberOrNan(const nlohmann::json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

}  // namespace

std::string ToTable(const std::vector<BenchRow>& rows) {
  std::string table;
  const auto add = [&](const std::string& name, const std::string& ours, const std::string& peer,
                       const std::string& ratio, const std::string& goal, const std::string& unit,
                       const std::string& rest) {
    char line[512];
    std::snprintf(line, sizeof(line), "%-44s %12s %12s %8s %6s  %-10s ", name.c_str(), ours.c_str(), peer.c_str(),
                  ratio.c_str(), goal.c_str(), unit.c_str());
    table += line + rest + "\n";
  };
  add("", "ours", "peer", "ratio", "goal", "unit", "peer is");
  for (const BenchRow& row : rows) {
    add(row.name, Number(row.ours), Number(row.peer), Number(row.ratio), Number(row.goal), row.unit,
        row.peer_name + Remark(row));
  }
  return table;
}

std::string ToMarkdown(const std::vector<BenchRow>& rows) {
  std::string table =
      "| | ours | peer | ratio | goal | unit | peer is |\n| --- | --: | --: | --: | --: | --- | --- |\n";
  for (const BenchRow& row : rows) {
    const bool is_short = row.ratio < row.goal;
    const std::string ratio = is_short ? "**" + Number(row.ratio) + "**" : Number(row.ratio);
    table += "| " + row.name + " | " + Number(row.ours) + " | " + Number(row.peer) + " | " + ratio + " | " +
             Number(row.goal) + " | " + row.unit + " | " + row.peer_name + Remark(row) + " |\n";
  }
  return table;
}

std::string ToJson(const std::vector<BenchRow>& rows) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const BenchRow& row : rows) {
    nlohmann::ordered_json item = {{"name", row.name},
                                   {"ours", NumberOrNull(row.ours)},
                                   {"peer", NumberOrNull(row.peer)},
                                   {"peer_name", row.peer_name},
                                   {"ratio", NumberOrNull(row.ratio)},
                                   {"goal", NumberOrNull(row.goal)},
                                   {"unit", row.unit}};
    if (!row.why.empty()) item["why"] = row.why;
    json.push_back(item);
  }
  return json.dump(2) + "\n";
}

std::vector<BenchRow> RowsFromJson(const std::string& json) {
  std::vector<BenchRow> rows;
  try {
    for (const nlohmann::json& item : nlohmann::json::parse(json)) {
      rows.push_back({item.at("name"), NumberOrNan(item.at("ours")), NumberOrNan(item.at("peer")), item.at("peer_name"),
                      NumberOrNan(item.at("ratio")), NumberOrNan(item.at("goal")), item.at("unit"),
                      item.value("why", "")});
    }
  } catch (const nlohmann::json::exception& error) {
    throw RunError(std::string("these are no benchmark rows: ") + error.what());
  }
  return rows;
}

}  // namespace gripstream
