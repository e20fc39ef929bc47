// A learner with a rollout of noise, for benchmarks of updates and inference without simulators. One thread; `group`
// must outlive it.
#pragma once

#include <vector>

#include "learner/group.h"
#include "learner/ppo.h"
#include "policies/inference.h"
#include "replay/rollout.h"

namespace gripstream {

// Proprioception [P], depth [H, W] where it has a size, state [S], and what else a record needs.
std::vector<TensorSpec> NoiseSpecs(int proprio, int state, int height_px, int width_px);

class BenchTrainee {
 public:
  BenchTrainee(const PolicyConfig& policy, const PpoConfig& ppo, const std::vector<TensorSpec>& specs, int envs,
               int actions, const LearnerGroup& group, GradientDelay delay = GradientDelay::kNone);

  // Seconds of one update.
  double Update_s() { return ppo_.Update(store_, iteration_++).seconds; }
  // Acts on row t.
  void Act(int t);
  const Policy& Trained() const { return policy_; }
  Policy& Trained() { return policy_; }
  const RolloutStore& Store() const { return store_; }

 private:
  Policy policy_;
  Ppo ppo_;
  RolloutStore store_;
  uint32_t first_env_;
  int64_t iteration_ = 0;
};

}  // namespace gripstream
