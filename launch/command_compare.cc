// gripstream compare: runs side by side, in figures and in what their configurations do not share.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/progress.h"
#include "launch/commands.h"
#include "launch/flat_config.h"
#include "launch/metrics_table.h"
#include "launch/run_folder.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

// A label and a cell for each run.
using Row = std::vector<std::string>;

struct ComparedRun {
  std::string name;
  std::map<std::string, std::string> config;
  MetricsTable metrics;
  nlohmann::json results;  // an empty object until the run has ended
};

ComparedRun Read(const std::string& run) {
  ComparedRun compared{.name = fs::weakly_canonical(run).filename().string(),
                       .config = FlatConfig(OpenRunFolder(run, {})),
                       .metrics = fs::exists(run + "/metrics.csv") ? ReadMetrics(run) : MetricsTable{},
                       .results = nlohmann::json::object()};
  compared.config.erase("run.dir");
  if (fs::exists(run + "/results.json")) {
    compared.results = nlohmann::json::parse(ReadText(run + "/results.json"), nullptr, false);
    if (!compared.results.is_object()) throw InputError(run + "/results.json", "holds no results");
  }
  return compared;
}

std::string Number(double value, const char* format) {
  if (std::isnan(value)) return "-";
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

double Result(const ComparedRun& run, const char* name) {
  const auto found = run.results.find(name);
  return found != run.results.end() && found->is_number() ? found->get<double>() : NAN;
}

std::string Success(const ComparedRun& run) {
  const auto interval = run.results.find("success_ci95");
  std::string text = Number(100 * Result(run, "success"), "%.1f %%");
  if (interval == run.results.end() || !interval->is_array()) return text;
  text += " (" + Number(100 * interval->at(0).get<double>(), "%.1f") + " to ";
  return text + Number(100 * interval->at(1).get<double>(), "%.1f") + ")";
}

double MeanRate(const ComparedRun& run) {
  return run.metrics.Last("run/env_steps") / run.metrics.Last("run/wall_s");
}

std::string Count(double value) {
  return std::isnan(value) ? "-" : FormatCount(value);
}

std::vector<Row> Figures(const std::vector<ComparedRun>& runs) {
  std::vector<Row> rows;
  const auto add = [&](const char* label, const std::function<std::string(const ComparedRun&)>& cell) {
    Row& row = rows.emplace_back(Row{label});
    for (const ComparedRun& run : runs) row.push_back(cell(run));
  };
  add("", [](const auto& run) { return run.name; });
  add("status", [](const auto& run) { return run.results.value("status", "not ended"); });
  add("iterations", [](const auto& run) { return Number(run.metrics.Last("iteration"), "%.0f"); });
  add("environment steps", [](const auto& run) { return Count(run.metrics.Last("run/env_steps")); });
  add("training time", [](const auto& run) {
    const double wall_s = run.metrics.Last("run/wall_s");
    return std::isnan(wall_s) ? "-" : FormatDuration(wall_s);
  });
  add("steps/s, mean", [](const auto& run) { return Count(MeanRate(run)); });
  add("success in training, last",
      [](const auto& run) { return Number(100 * run.metrics.Last("episode/success"), "%.1f %%"); });
  add("return in training, last", [](const auto& run) { return Number(run.metrics.Last("episode/return"), "%.2f"); });
  add("success, evaluated", Success);
  add("return, evaluated", [](const auto& run) { return Number(Result(run, "return"), "%.2f"); });
  add("success, image blanked",
      [](const auto& run) { return Number(100 * Result(run, "success_blank_image"), "%.1f %%"); });
  add("parameters", [](const auto& run) { return run.results.value("parameters_sha256", "-").substr(0, 12); });
  return rows;
}

// Keys whose values are not the same in all runs.
std::vector<Row> Differences(const std::vector<ComparedRun>& runs) {
  std::vector<Row> rows;
  for (const auto& [key, first] : runs.front().config) {
    Row row{key};
    for (const ComparedRun& run : runs) row.push_back(run.config.at(key));
    if (std::any_of(row.begin() + 1, row.end(), [&](const auto& value) { return value != first; })) rows.push_back(row);
  }
  return rows;
}

void Print(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.empty() ? 0 : rows.front().size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

}  // namespace

int CompareCommand(const PlotArguments& arguments) {
  std::vector<ComparedRun> runs;
  for (const std::string& run : arguments.runs) runs.push_back(Read(run));
  Print(Figures(runs));
  const std::vector<Row> differences = Differences(runs);
  std::printf("\n%s\n", differences.empty() ? "their configurations are the same" : "keys that differ");
  Print(differences);
  return arguments.output.empty() ? kExitOk : PlotCommand(arguments);
}

}  // namespace gripstream
