#include "envs/bench_physics.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

#include "core/error.h"
#include "core/statistics.h"
#include "envs/bench_parts.h"

namespace gripstream {
namespace {

BenchRow MakeRow(const std::string& name, double work, const std::vector<double>& ours_s,
                 const std::vector<double>& peer_s, double goal, const std::string& unit) {
  std::vector<double> ratios;
  for (size_t i = 0; i < ours_s.size(); ++i) ratios.push_back(peer_s[i] / ours_s[i]);
  return {name, work / Median(ours_s), work / Median(peer_s), "mjb_step", Median(ratios), goal, unit, ""};
}

// The same states, stepped through our interface and through mjb_step; the two must agree to the last bit.
BenchRow BenchStepping(EnvBatch& envs, int substeps, const BenchPhysicsOptions& options) {
  const std::vector<const mjModel*> models = ModelsOf(envs);
  RawBatch raw(models, options.threads);
  const std::unique_ptr<BatchPhysics> ours = MakeMujocoPhysics(models.front(), envs.Envs(), options.threads);
  ours->SetModels(models);
  std::vector<mjtNum> start(raw.StateSize()), end(raw.StateSize());
  ReadStates(envs.Physics(), start.data());
  const int calls = std::max(1, 24 / substeps);
  const auto step_ours = [&] {
    for (int i = 0; i < calls; ++i)
      ours->Step(
          1, substeps, [](int, int, const SimView&) {}, [](int, const SimView&) {});
  };
  const auto step_raw = [&] {
    for (int i = 0; i < calls; ++i) raw.Step(substeps);
  };
  std::vector<double> ours_s, raw_s;
  for (int round = -1; round < options.rounds; ++round) {  // the first is a warm-up
    WriteStates(*ours, start.data());
    std::copy(start.begin(), start.end(), raw.State());
    const bool ours_first = round % 2 == 0;
    const double a = SecondsOf(ours_first ? std::function<void()>(step_ours) : step_raw);
    const double b = SecondsOf(ours_first ? std::function<void()>(step_raw) : step_ours);
    if (round < 0) continue;
    ours_s.push_back(ours_first ? a : b);
    raw_s.push_back(ours_first ? b : a);
  }
  ReadStates(*ours, end.data());
  GS_CHECK(std::memcmp(end.data(), raw.State(), end.size() * sizeof(mjtNum)) == 0, "ours and raw mjb_step disagree");
  return MakeRow("physics.step_" + std::to_string(substeps), 1.0 * calls * substeps * envs.Envs(), ours_s, raw_s, 0.95,
                 "physics steps/s");
}

// Whole policy steps beside mjb_step.
BenchRow BenchEnvironment(EnvBatch& envs, const TaskConfig& task, const BenchPhysicsOptions& options) {
  const int steps = 2 * envs.EpisodeSteps();
  const StepTimes times = TimePolicySteps(envs, task.decimation, steps, options.threads);
  const double ours_sum = std::accumulate(times.ours_s.begin(), times.ours_s.end(), 0.0);
  const double raw_sum = std::accumulate(times.raw_s.begin(), times.raw_s.end(), 0.0);
  const double work = static_cast<double>(envs.Envs()) * steps;
  return {"env.step", work / ours_sum, work / raw_sum, "mjb_step", raw_sum / ours_sum, 0.75, "policy steps/s", ""};
}

}  // namespace

std::vector<BenchRow> BenchPhysics(const BenchPhysicsOptions& options) {
  const TaskConfig task;
  PhysicsConfig physics;
  physics.threads = options.threads;
  const std::unique_ptr<EnvBatch> envs = EnvBatch::Make(task, physics, kBenchSeed, 0, options.envs);
  envs->Reset({});
  const int halfway = envs->EpisodeSteps() / 2;  // hands on the move, some on the table or an object
  for (int step = 0; step < halfway; ++step) envs->Step(BenchActions(*envs, step).data());
  std::vector<BenchRow> rows;
  for (const int substeps : {2, 12}) rows.push_back(BenchStepping(*envs, substeps, options));
  rows.push_back(BenchEnvironment(*envs, task, options));
  return rows;
}

}  // namespace gripstream
