// gripstream bench: our figures beside peers' and limits' from one run, as a table and as JSON.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/bench.h"
#include "core/error.h"
#include "core/files.h"
#include "envs/bench_env.h"
#include "envs/bench_physics.h"
#include "envs/env_batch.h"
#include "launch/commands.h"
#include "sim_server/render/bench_render.h"
#include "wire/bench_control.h"
#include "wire/bench_wire.h"

namespace gripstream {
namespace {

std::vector<BenchRow> Physics(double) {
  return BenchPhysics({});
}

std::vector<BenchRow> Env(double) {
  return BenchEnv({});
}

// The grasping scene with every training object.
std::vector<BenchRow> Render(double seconds) {
  const std::unique_ptr<EnvBatch> envs = EnvBatch::Make({}, {}, 1, 0, 1);
  const std::vector<const mjModel*> models = envs->DistinctModels();
  RenderBenchOptions options;
  options.sample_s = seconds / options.samples;
  return RenderBenchmark(models, options);
}

struct Benchmark {
  const char* name;
  std::vector<BenchRow> (*run)(double seconds);
};

constexpr Benchmark kBenchmarks[] = {
    {"env", Env}, {"physics", Physics}, {"render", Render}, {"wire", BenchWire}, {"control", BenchControl},
};

std::string Number(double value) {
  if (std::isnan(value)) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), std::fabs(value) >= 100 ? "%.0f" : "%.3g", value);
  return text;
}

bool FallsShort(const BenchRow& row) {
  return !std::isnan(row.ratio) && row.ratio < row.goal;
}

void PrintTable(const std::vector<BenchRow>& rows) {
  std::printf("%-44s %12s %12s %8s %6s  %-10s %s\n", "", "ours", "peer", "ratio", "goal", "unit", "peer is");
  for (const BenchRow& row : rows) {
    std::printf(
        "%-44s %12s %12s %8s %6s  %-10s %s%s\n", row.name.c_str(), Number(row.ours).c_str(), Number(row.peer).c_str(),
        Number(row.ratio).c_str(), Number(row.goal).c_str(), row.unit.c_str(), row.peer_name.c_str(),
        FallsShort(row) ? "  << short of the goal" : (std::isnan(row.ratio) ? ("  (" + row.why + ")").c_str() : ""));
  }
}

nlohmann::json NumberOrNull(double value) {
  return std::isnan(value) ? nlohmann::json() : nlohmann::json(value);
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

}  // namespace

int BenchCommand(const BenchArguments& arguments) {
  if (!std::isfinite(arguments.seconds)) throw InputError("command line", "--seconds", "nan", "a number of seconds");
  std::vector<BenchRow> rows;
  bool known = false;
  for (const Benchmark& benchmark : kBenchmarks) {
    if (arguments.what != "all" && arguments.what != benchmark.name) continue;
    known = true;
    for (BenchRow& row : benchmark.run(arguments.seconds)) rows.push_back(std::move(row));
  }
  if (!known) throw InputError("command line", "bench", arguments.what, "env, physics, render, wire, control or all");
  PrintTable(rows);
  if (!arguments.json_path.empty()) WriteFileAtomically(arguments.json_path, ToJson(rows));
  return kExitOk;
}

}  // namespace gripstream
