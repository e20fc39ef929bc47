// gripstream bench: our figures beside peers' and limits' from one run, as a table and as JSON.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "core/bench.h"
#include "core/cpus.h"
#include "core/error.h"
#include "core/files.h"
#include "envs/bench_env.h"
#include "envs/bench_envpool.h"
#include "envs/bench_physics.h"
#include "envs/env_batch.h"
#include "launch/bench_capacity.h"
#include "launch/bench_rows.h"
#include "launch/bench_tune.h"
#include "launch/child.h"
#include "launch/commands.h"
#include "launch/role_plan.h"
#include "launch/temporary_folder.h"
#include "launch/version.h"
#include "sim_server/render/bench_render.h"
#include "wire/bench_control.h"
#include "wire/bench_wire.h"

namespace gripstream {
namespace {

constexpr double kLongestBenchmark_s = 3600;

std::vector<BenchRow> Physics(double) {
  return BenchPhysics({});
}

std::vector<BenchRow> Env(double) {
  std::vector<BenchRow> rows = BenchEnv({});
  for (BenchRow& row : BenchEnvpool({})) rows.push_back(std::move(row));
  return rows;
}

// The grasping scene with every training object.
std::vector<BenchRow> Render(double seconds) {
  const std::unique_ptr<EnvBatch> envs = EnvBatch::Make({}, {}, 1, 0, 1);
  const std::vector<const mjModel*> models = envs->DistinctModels();
  RenderBenchOptions options;
  options.sample_s = seconds / options.samples;
  return RenderBenchmark(models, options);
}

// What needs LibTorch, which this program does not link.
std::vector<BenchRow> WithTorch(const std::string& what, double seconds) {
  const TemporaryFolder folder;
  const std::string json = folder.Path() + "/rows.json";
  Child program("the benchmark",
                {RoleProgram("gripstream-bench"), what, "--seconds", std::to_string(seconds), "--json", json});
  const int code = program.EndBy(Deadline::After(kLongestBenchmark_s));
  if (code != kExitOk) throw RunError("the " + what + " benchmark failed: " + program.HowItEnded());
  return RowsFromJson(ReadText(json));
}

std::vector<BenchRow> Pipeline(double seconds) {
  return WithTorch("pipeline", seconds);
}

std::vector<BenchRow> Gradients(double seconds) {
  return WithTorch("gradients", seconds);
}

std::vector<BenchRow> Learner(double seconds) {
  return WithTorch("learner", seconds);
}

// --seconds scales the number of samples here.
std::vector<BenchRow> Classic(double scale) {
  return WithTorch("classic", scale);
}

struct Benchmark {
  const char* name;
  std::vector<BenchRow> (*run)(double seconds);
  bool by_name_only = false;  // takes too long to be one of all
};

constexpr Benchmark kBenchmarks[] = {
    {"env", Env},
    {"physics", Physics},
    {"render", Render},
    {"wire", BenchWire},
    {"control", BenchControl},
    {"pipeline", Pipeline},
    {"gradients", Gradients},
    {"learner", Learner},
    {"tune", BenchTune},
    {"capacity", BenchCapacity, true},
    {"classic", Classic, true},
};

// Where and by what the figures were measured.
std::string Machine() {
  std::string processor = "unknown processor";
  std::istringstream info(ReadText("/proc/cpuinfo"));
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    processor = line.substr(line.find(':') + 2);
    break;
  }
  double load = 0;
  if (getloadavg(&load, 1) != 1) load = 0;
  char rest[128];
  std::snprintf(rest, sizeof(rest), "%d CPUs for this process, load %.1f at the end", AvailableCpus(), load);
  return "gripstream " + std::string(kVersion) + " (" + kGitRevision + ") on " + processor + ", " + rest +
         ". Ratios are better when larger; bold: short of the goal.\n\n";
}

}  // namespace

int BenchCommand(const BenchArguments& arguments) {
  if (!std::isfinite(arguments.seconds)) throw InputError("command line", "--seconds", "nan", "a number of seconds");
  std::vector<BenchRow> rows;
  bool known = false;
  for (const Benchmark& benchmark : kBenchmarks) {
    const bool one_of_all = arguments.what == "all" && !benchmark.by_name_only;
    if (!one_of_all && arguments.what != benchmark.name) continue;
    known = true;
    for (BenchRow& row : benchmark.run(arguments.seconds)) rows.push_back(std::move(row));
  }
  if (!known)
    throw InputError(
        "command line", "bench", arguments.what,
        "env, physics, render, wire, control, pipeline, gradients, learner, tune, capacity, classic or all");
  std::printf("%s", ToTable(rows).c_str());
  if (!arguments.markdown_path.empty()) WriteFileAtomically(arguments.markdown_path, Machine() + ToMarkdown(rows));
  if (!arguments.json_path.empty()) WriteFileAtomically(arguments.json_path, ToJson(rows));
  return kExitOk;
}

}  // namespace gripstream
