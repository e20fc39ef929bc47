#include "learner/fused_loss.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "core/error.h"

namespace gripstream {
namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274178;

struct Rows {
  torch::Tensor held;
  const float* data;

  explicit Rows(const torch::Tensor& x) : held(x.detach().contiguous()), data(held.const_data_ptr<float>()) {
    GS_CHECK(held.scalar_type() == torch::kFloat32, "a loss of float32 numbers");
  }
};

// What exponentials of deviations are needed for: computed anew only when a row differs from the one before, which
// happens only where the deviation is an output of the network.
class Deviations {
 public:
  explicit Deviations(size_t actions)
      : inverse_(actions), variance_ratio_(actions), now_(actions, NAN), old_(actions, NAN) {}

  void Take(const float* now, const float* old) {
    const size_t bytes = now_.size() * sizeof(float);
    const bool same = std::memcmp(now, now_.data(), bytes) == 0;
    if (same && std::memcmp(old, old_.data(), bytes) == 0) return;
    std::memcpy(now_.data(), now, bytes);
    std::memcpy(old_.data(), old, bytes);
    std_mean_ = log_sum_ = old_log_sum_ = 0;
    for (size_t i = 0; i < now_.size(); ++i) {
      const double log_std = static_cast<double>(now[i]), old_log_std = static_cast<double>(old[i]);
      inverse_[i] = std::exp(-log_std);
      variance_ratio_[i] = std::exp(2 * (old_log_std - log_std));
      std_mean_ += std::exp(log_std);
      log_sum_ += log_std;
      old_log_sum_ += old_log_std;
    }
    std_mean_ /= static_cast<double>(now_.size());
  }
  double Inverse(size_t i) const { return inverse_[i]; }
  double VarianceRatio(size_t i) const { return variance_ratio_[i]; }
  double Mean() const { return std_mean_; }
  double LogSum() const { return log_sum_; }
  double OldLogSum() const { return old_log_sum_; }

 private:
  std::vector<double> inverse_, variance_ratio_;
  std::vector<float> now_, old_;
  double std_mean_ = 0, log_sum_ = 0, old_log_sum_ = 0;
};

struct Term {
  double loss, gradient;
};

// -min(r A, clamp(r) A), and its gradient with respect to log r.
Term ClippedSurrogate(double ratio, double advantage, double clip) {
  const double free = ratio * advantage, clipped = std::clamp(ratio, 1 - clip, 1 + clip) * advantage;
  if (free > clipped) return {-clipped, 0};
  return {-free, -free};
}

// 0.5 (v - t)^2, or the larger of that and the clipped one; and the gradient with respect to v.
Term ClippedValue(double value, double old, double target, double clip) {
  const double error = value - target;
  if (clip <= 0) return {0.5 * error * error, error};
  const double clipped_error = old + std::clamp(value - old, -clip, clip) - target;
  if (clipped_error * clipped_error <= error * error) return {0.5 * error * error, error};
  const bool within = std::fabs(value - old) <= clip;
  return {0.5 * clipped_error * clipped_error, within ? clipped_error : 0};
}

// One pass: rows in order, so that sums have the same bits whatever the number of threads.
class Pass {
 public:
  Pass(const FusedLossInput& input, const FusedLossOptions& options)
      : options_(options),
        actions_(static_cast<size_t>(input.mean.size(1))),
        mean_(input.mean),
        log_std_(input.log_std),
        value_(input.value),
        action_(input.action),
        old_mean_(input.old_mean),
        old_log_std_(input.old_log_std),
        old_log_prob_(input.old_log_prob),
        old_value_(input.old_value),
        target_(input.target),
        advantage_(input.advantage),
        share_(input.share),
        deviations_(actions_),
        z_(actions_),
        out_{.sums = {},
             .d_mean = at::empty_like(mean_.held),
             .d_log_std = at::empty_like(mean_.held),
             .d_value = at::empty_like(value_.held)},
        d_mean_(out_.d_mean.data_ptr<float>()),
        d_log_std_(out_.d_log_std.data_ptr<float>()),
        d_value_(out_.d_value.data_ptr<float>()) {}

  FusedLoss Run(int64_t rows) {
    for (int64_t b = 0; b < rows; ++b) {
      const size_t at = static_cast<size_t>(b) * actions_;
      deviations_.Take(log_std_.data + at, old_log_std_.data + at);
      const double w = static_cast<double>(share_.data[b]);
      const double ratio = std::exp(LogProb(at, w) - static_cast<double>(old_log_prob_.data[b]));
      const Term policy = ClippedSurrogate(ratio, static_cast<double>(advantage_.data[b]), options_.clip);
      TakeActor(at, w, policy.gradient);
      TakeCritic(b, w);
      out_.sums.policy += w * policy.loss;
      out_.sums.clip_fraction += std::fabs(ratio - 1) > options_.clip ? w : 0;
    }
    return std::move(out_);
  }

 private:
  // Of the action that was taken, and the divergence.
  double LogProb(size_t at, double w) {
    const float *mean = mean_.data + at, *action = action_.data + at, *old = old_mean_.data + at;
    double squares = 0, kl = 0;
    for (size_t i = 0; i < actions_; ++i) {
      const double inverse = deviations_.Inverse(i), shift = static_cast<double>(old[i] - mean[i]) * inverse;
      z_[i] = static_cast<double>(action[i] - mean[i]) * inverse;
      squares += z_[i] * z_[i];
      kl += deviations_.VarianceRatio(i) + shift * shift - 1;
    }
    out_.sums.kl += w * (deviations_.LogSum() - deviations_.OldLogSum() + 0.5 * kl);
    return -0.5 * squares - deviations_.LogSum() - Constant();
  }

  // `d_log_prob`: of the surrogate.
  void TakeActor(size_t at, double w, double d_log_prob) {
    double bounds = 0;
    for (size_t i = 0; i < actions_; ++i) {
      const double mean = static_cast<double>(mean_.data[at + i]);
      const double beyond = std::max(std::fabs(mean) - options_.action_limit, 0.0);
      const double pull = 2 * options_.bounds_coef * std::copysign(beyond, mean);
      bounds += beyond * beyond;
      d_mean_[at + i] = static_cast<float>(w * (d_log_prob * z_[i] * deviations_.Inverse(i) + pull));
      d_log_std_[at + i] = static_cast<float>(w * (d_log_prob * (z_[i] * z_[i] - 1) - options_.entropy_coef));
    }
    out_.sums.bounds += w * bounds;
    out_.sums.entropy += w * (deviations_.LogSum() + Constant() + 0.5 * static_cast<double>(actions_));
    out_.sums.action_std += w * deviations_.Mean();
  }

  void TakeCritic(int64_t b, double w) {
    const Term critic = ClippedValue(static_cast<double>(value_.data[b]), static_cast<double>(old_value_.data[b]),
                                     static_cast<double>(target_.data[b]), options_.value_clip);
    d_value_[b] = static_cast<float>(w * options_.value_coef * critic.gradient);
    out_.sums.value += w * critic.loss;
  }

  double Constant() const { return static_cast<double>(actions_) * kHalfLogTwoPi; }

  const FusedLossOptions& options_;
  size_t actions_;
  Rows mean_, log_std_, value_, action_, old_mean_, old_log_std_, old_log_prob_, old_value_, target_, advantage_,
      share_;
  Deviations deviations_;
  std::vector<double> z_;
  FusedLoss out_;
  float *d_mean_, *d_log_std_, *d_value_;
};

}  // namespace

FusedLoss ComputeFusedLoss(const FusedLossInput& input, const FusedLossOptions& options) {
  return Pass(input, options).Run(input.mean.size(0));
}

}  // namespace gripstream
