#include "learner/schedule.h"

#include <algorithm>

namespace gripstream {

LearningRate::LearningRate(const PpoConfig& config, int64_t iterations)
    : initial_(config.lr * config.LearningRateScale()),
      value_(initial_),
      config_(config.schedule),
      iterations_(std::max<int64_t>(iterations, 1)) {
  config_.min_lr *= config.LearningRateScale();
  config_.max_lr *= config.LearningRateScale();
}

void LearningRate::BeginIteration(int64_t iteration) {
  if (config_.kind != "linear") return;
  const double done = static_cast<double>(iteration) / static_cast<double>(iterations_);
  value_ = initial_ * std::max(0.0, 1.0 - done);
}

void LearningRate::EndEpoch(double kl) {
  if (config_.kind != "kl_adaptive") return;
  if (kl > 2.0 * config_.target_kl) value_ = std::max(value_ / 1.5, config_.min_lr);
  if (kl < 0.5 * config_.target_kl) value_ = std::min(value_ * 1.5, config_.max_lr);
}

}  // namespace gripstream
