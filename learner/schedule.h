// The learning rate over time: fixed, linear to 0, or steered by how far the policy moves. Plain arithmetic in double;
// its whole state is one number, which checkpoints keep. Not thread-safe.
#pragma once

#include <cstdint>

#include "learner/config.h"

namespace gripstream {

class LearningRate {
 public:
  // `iterations` is the length of the run, for the linear schedule. Rates are those of `config`, scaled as it says.
  LearningRate(const PpoConfig& config, int64_t iterations);
  void BeginIteration(int64_t iteration);
  // `kl` is the mean divergence from the rollout's policy over the epoch that ended.
  void EndEpoch(double kl);
  double Value() const { return value_; }
  void SetValue(double value) { value_ = value; }

 private:
  double initial_, value_;
  ScheduleConfig config_;  // rates scaled
  int64_t iterations_;
};

}  // namespace gripstream
