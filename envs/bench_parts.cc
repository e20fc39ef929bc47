#include "envs/bench_parts.h"

#include <algorithm>
#include <chrono>

#include "core/error.h"

namespace gripstream {

double SecondsOf(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

RawBatch::RawBatch(std::vector<const mjModel*> models, int threads) : models_(std::move(models)) {
  mjBatchConfig config;
  mjb_defaultConfig(&config);
  config.nthread = threads;
  char error[256] = "";
  batch_.reset(mjb_makeBatch(models_.front(), static_cast<int>(models_.size()), &config, error, sizeof error));
  GS_CHECK(batch_ != nullptr, error);
  mjb_setModels(batch_.get(), models_.data());
}

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

std::vector<float> BenchActions(const EnvBatch& envs, int step) {
  std::vector<float> actions(static_cast<size_t>(envs.Envs()) * envs.ActionSpec().Elements());
  Rng rng = RandomStream(kBenchSeed, "bench actions").At(0, static_cast<uint64_t>(step));
  for (float& value : actions) value = rng.Uniform(-1, 1);
  return actions;
}

StepTimes TimePolicySteps(EnvBatch& envs, int decimation, int steps, int threads) {
  RawBatch raw(ModelsOf(envs), threads);
  std::vector<mjtNum> before(raw.StateSize()), after(raw.StateSize());
  const mjModel* model = envs.PhysicsModel(0);
  const int ctrl = mj_stateSize(model, mjSTATE_INTEGRATION & (mjSTATE_CTRL - 1));
  const int row = envs.Physics().StateSize();
  StepTimes times;
  for (int step = 0; step < steps; ++step) {
    ReadStates(envs.Physics(), before.data());
    const std::vector<float> actions = BenchActions(envs, step);
    times.ours_s.push_back(SecondsOf([&] { envs.Step(actions.data()); }));
    ReadStates(envs.Physics(), after.data());
    std::copy(before.begin(), before.end(), raw.State());
    for (int env = 0; env < envs.Envs(); ++env)
      std::copy_n(&after[static_cast<size_t>(env * row + ctrl)], model->nu, raw.State() + env * row + ctrl);
    times.raw_s.push_back(SecondsOf([&] { raw.Step(decimation); }));
  }
  return times;
}

}  // namespace gripstream
