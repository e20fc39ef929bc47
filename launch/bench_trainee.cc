#include "launch/bench_trainee.h"

#include "core/rng.h"
#include "policies/initialise.h"

namespace gripstream {
namespace {

constexpr uint64_t kSeed = 1, kNoiseSeed = 7;
constexpr int64_t kIterations = 1'000'000;
constexpr double kDepth = 1000;  // deviation of the noise, in units of the record

}  // namespace

std::vector<TensorSpec> NoiseSpecs(int proprio, int state, int height_px, int width_px) {
  std::vector<TensorSpec> specs = {{"obs.proprio", DType::kFloat32, {proprio}, "", 1.0},
                                   {"state", DType::kFloat32, {state}, "", 1.0},
                                   {"final_state", DType::kFloat32, {state}, "", 1.0},
                                   {"aux.object_position", DType::kFloat32, {3}, "m", 1.0},
                                   {"reward", DType::kFloat32, {}, "", 1.0},
                                   {"done", DType::kUint8, {}, "", 1.0}};
  if (height_px > 0) specs.push_back({"obs.depth", DType::kUint16, {height_px, width_px}, "m", 1e-4});
  return specs;
}

BenchTrainee::BenchTrainee(const PolicyConfig& policy, const PpoConfig& ppo, const std::vector<TensorSpec>& specs,
                           int envs, int actions, const LearnerGroup& group, GradientDelay delay)
    : policy_(policy, ShapesFromSpecs(specs, actions), kSeed),
      ppo_(ppo, policy_, envs, kSeed, kIterations, group, delay),
      store_(specs, ppo.horizon, envs, actions),
      first_env_(static_cast<uint32_t>(group.Rank() * envs)) {
  const RandomStream noise(kNoiseSeed, "rollout");
  uint32_t index = 0;
  for (const TensorSpec& spec : specs) {
    torch::Tensor rows = store_.Record(spec.name);
    const bool depth = spec.dtype == DType::kUint16, number = spec.dtype == DType::kFloat32;
    if (!depth && !number) continue;
    const torch::Tensor drawn =
        NormalTensor(noise.At(static_cast<uint32_t>(group.Rank()), index++), rows.sizes().vec(), depth ? kDepth : 1.0);
    rows.copy_(depth ? drawn.abs() : drawn);
  }
  ppo_.Prime(store_);
  for (int t = 0; t < ppo.horizon; ++t) Act(t);
}

void BenchTrainee::Act(int t) {
  policy_.Act(ObservationAt(store_, t), {.first_env = first_env_, .step = static_cast<uint64_t>(t)},
              {.action = store_.Action()[t],
               .mean = store_.Mean()[t],
               .log_std = store_.LogStd()[t],
               .log_prob = store_.LogProb()[t],
               .value = store_.Value()[t]});
}

}  // namespace gripstream
