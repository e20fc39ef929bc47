#include "envs/bench_physics.h"

#include <mujoco/mjbatch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

#include "core/error.h"
#include "envs/env_batch.h"

namespace gripstream {
namespace {

constexpr uint64_t kSeed = 1;

double Seconds(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// mjBatch as its documentation shows it: what a user of the library would write without us.
class RawBatch {
 public:
  RawBatch(std::vector<const mjModel*> models, int threads) : models_(std::move(models)) {
    mjBatchConfig config;
    mjb_defaultConfig(&config);
    config.nthread = threads;
    char error[256] = "";
    batch_.reset(mjb_makeBatch(models_.front(), static_cast<int>(models_.size()), &config, error, sizeof error));
    GS_CHECK(batch_ != nullptr, error);
    mjb_setModels(batch_.get(), models_.data());
  }
  void Step(int steps) { mjb_step(batch_.get(), nullptr, 0, steps, mjSTAGE_NONE); }
  mjtNum* State() { return mjb_state(batch_.get()); }
  size_t StateSize() const { return static_cast<size_t>(mjb_nstate(batch_.get())) * models_.size(); }

 private:
  struct Delete {
    void operator()(mjBatch* batch) const { mjb_deleteBatch(batch); }
  };
  std::vector<const mjModel*> models_;
  std::unique_ptr<mjBatch, Delete> batch_;
};

std::vector<const mjModel*> ModelsOf(const EnvBatch& envs) {
  std::vector<const mjModel*> models;
  for (int env = 0; env < envs.Envs(); ++env) models.push_back(envs.PhysicsModel(env));
  return models;
}

void ReadStates(const BatchPhysics& physics, mjtNum* out) {
  for (int env = 0; env < physics.Envs(); ++env) physics.ReadState(env, out + env * physics.StateSize());
}

void WriteStates(BatchPhysics& physics, const mjtNum* in) {
  for (int env = 0; env < physics.Envs(); ++env) physics.WriteState(env, in + env * physics.StateSize());
}

// Uniform actions, new ones for every step.
std::vector<float> RandomActions(const EnvBatch& envs, int step) {
  std::vector<float> actions(static_cast<size_t>(envs.Envs()) * envs.ActionSpec().Elements());
  Rng rng = RandomStream(kSeed, "bench actions").At(0, static_cast<uint64_t>(step));
  for (float& value : actions) value = rng.Uniform(-1, 1);
  return actions;
}

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
    const double a = Seconds(ours_first ? std::function<void()>(step_ours) : step_raw);
    const double b = Seconds(ours_first ? std::function<void()>(step_raw) : step_ours);
    if (round < 0) continue;
    ours_s.push_back(ours_first ? a : b);
    raw_s.push_back(ours_first ? b : a);
  }
  ReadStates(*ours, end.data());
  GS_CHECK(std::memcmp(end.data(), raw.State(), end.size() * sizeof(mjtNum)) == 0, "ours and raw mjb_step disagree");
  return MakeRow("physics.step_" + std::to_string(substeps), 1.0 * calls * substeps * envs.Envs(), ours_s, raw_s, 0.95,
                 "physics steps/s");
}

// Whole policy steps beside mjb_step from the same state under the controls that the policy step ended with.
BenchRow BenchEnvironment(EnvBatch& envs, const TaskConfig& task, const BenchPhysicsOptions& options) {
  RawBatch raw(ModelsOf(envs), options.threads);
  std::vector<mjtNum> before(raw.StateSize()), after(raw.StateSize());
  const mjModel* model = envs.Model(0);
  const int ctrl = mj_stateSize(model, mjSTATE_INTEGRATION & (mjSTATE_CTRL - 1));
  const int row = envs.Physics().StateSize();
  std::vector<double> ours_s, raw_s;
  for (int step = 0; step < 2 * envs.EpisodeSteps(); ++step) {
    ReadStates(envs.Physics(), before.data());
    const std::vector<float> actions = RandomActions(envs, step);
    ours_s.push_back(Seconds([&] { envs.Step(actions.data()); }));
    ReadStates(envs.Physics(), after.data());
    std::copy(before.begin(), before.end(), raw.State());
    for (int env = 0; env < envs.Envs(); ++env)
      std::copy_n(&after[static_cast<size_t>(env * row + ctrl)], model->nu, raw.State() + env * row + ctrl);
    raw_s.push_back(Seconds([&] { raw.Step(task.decimation); }));
  }
  const double ours_sum = std::accumulate(ours_s.begin(), ours_s.end(), 0.0);
  const double raw_sum = std::accumulate(raw_s.begin(), raw_s.end(), 0.0);
  const double work = static_cast<double>(envs.Envs()) * static_cast<double>(ours_s.size());
  return {"env.step", work / ours_sum, work / raw_sum, "mjb_step", raw_sum / ours_sum, 0.75, "policy steps/s", ""};
}

}  // namespace

std::vector<BenchRow> BenchPhysics(const BenchPhysicsOptions& options) {
  const TaskConfig task;
  PhysicsConfig physics;
  physics.threads = options.threads;
  const std::unique_ptr<EnvBatch> envs = EnvBatch::Make(task, physics, kSeed, 0, options.envs);
  envs->Reset({});
  const int halfway = envs->EpisodeSteps() / 2;  // hands on the move, some on the table or an object
  for (int step = 0; step < halfway; ++step) envs->Step(RandomActions(*envs, step).data());
  std::vector<BenchRow> rows;
  for (const int substeps : {2, 12}) rows.push_back(BenchStepping(*envs, substeps, options));
  rows.push_back(BenchEnvironment(*envs, task, options));
  return rows;
}

}  // namespace gripstream
