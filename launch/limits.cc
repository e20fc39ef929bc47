#include "launch/limits.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>

#include "core/clock.h"
#include "core/cpus.h"
#include "core/error.h"
#include "core/files.h"
#include "core/statistics.h"
#include "envs/bench_parts.h"
#include "envs/env_batch.h"
#include "launch/bench_rows.h"
#include "launch/child.h"
#include "launch/supervisor.h"
#include "launch/temporary_folder.h"
#include "sim_server/env_images.h"
#include "wire/layout.h"

namespace gripstream {
namespace {

constexpr int kMostEnvs = 128;  // enough for every CPU to be busy
constexpr double kLongest_s = 120;

// Median seconds of `once`, repeated for `seconds`.
double Time(double seconds, const std::function<void()>& once) {
  once();
  std::vector<double> times;
  for (const double start = SteadySeconds(); times.size() < 3 || SteadySeconds() - start < seconds;) {
    times.push_back(SecondsOf(once));
  }
  return Median(times);
}

void MeasureSimulator(const RunConfig& config, double seconds, MachineLimits& limits) {
  const int cpus = AvailableCpus(), n = std::min(config.TotalEnvs(), kMostEnvs);
  const std::unique_ptr<EnvBatch> envs =
      EnvBatch::Make(config.task, {.backend = config.physics.backend, .threads = cpus}, config.run.seed, 0, n);
  envs->Reset({});
  const std::vector<const mjModel*> models = envs->DistinctModels();
  EnvImages images(config.render, config.task, config.run.seed, models, n, n, cpus);
  std::vector<TensorSpec> specs = envs->RecordSpecs();
  specs.insert(specs.end(), images.Specs().begin(), images.Specs().end());
  const Layout layout(specs, n);
  std::vector<std::byte> record(layout.Bytes());
  limits.record_bytes = static_cast<double>(layout.Bytes()) / n;
  limits.images_per_s = n / Time(seconds, [&] { images.Render(*envs, 0, layout, record); });
  std::vector<std::byte> copy(layout.Bytes());
  limits.copied_bytes_per_s = static_cast<double>(layout.Bytes()) /
                              Time(seconds, [&] { std::memcpy(copy.data(), record.data(), record.size()); });
  std::vector<double> raw_s;
  for (const double start = SteadySeconds(); raw_s.empty() || SteadySeconds() - start < 2 * seconds;) {
    const StepTimes times = TimePolicySteps(*envs, config.task.decimation, 4, cpus);
    raw_s.insert(raw_s.end(), times.raw_s.begin(), times.raw_s.end());
  }
  limits.physics_steps_per_s = 1.0 * n * config.task.decimation / Median(raw_s);
}

void MeasureNetworks(const RunConfig& config, double seconds, MachineLimits& limits) {
  const TemporaryFolder folder;
  const std::string yaml = folder.Path() + "/config.yaml", json = folder.Path() + "/rows.json";
  WriteFileAtomically(yaml, ToYaml(config));
  Child program("gripstream-bench", {RoleProgram("gripstream-bench"), "limits", "--config", yaml, "--seconds",
                                     std::to_string(seconds), "--json", json});
  if (program.EndBy(Deadline::After(kLongest_s)) != kExitOk) {
    throw RunError("gripstream-bench failed: " + program.HowItEnded());
  }
  for (const BenchRow& row : RowsFromJson(ReadText(json))) {
    if (row.name == "limits.matrix_products") limits.operations_per_s = row.ours;
    if (row.name == "limits.acting") limits.acting_operations = row.ours;
    if (row.name == "limits.training") limits.training_operations = row.ours;
  }
}

}  // namespace

MachineLimits MeasureLimits(const RunConfig& config, double seconds) {
  MachineLimits limits;
  MeasureSimulator(config, seconds / 6, limits);
  MeasureNetworks(config, seconds / 6, limits);
  return limits;
}

}  // namespace gripstream
