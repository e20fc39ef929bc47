#include "policies/distribution.h"

namespace gripstream {
namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274178;

}  // namespace

torch::Tensor GaussianLogProb(const torch::Tensor& mean, const torch::Tensor& log_std, const torch::Tensor& action) {
  const torch::Tensor z = (action - mean) * (-log_std).exp();
  return (-0.5 * z * z - log_std - kHalfLogTwoPi).sum(-1);
}

torch::Tensor GaussianEntropy(const torch::Tensor& log_std) {
  return (log_std + (0.5 + kHalfLogTwoPi)).sum(-1);
}

torch::Tensor GaussianKl(const torch::Tensor& old_mean, const torch::Tensor& old_log_std, const torch::Tensor& mean,
                         const torch::Tensor& log_std) {
  const torch::Tensor shift = (old_mean - mean) * (-log_std).exp();
  const torch::Tensor ratio = (2.0 * (old_log_std - log_std)).exp();
  return (log_std - old_log_std + 0.5 * (ratio + shift * shift - 1.0)).sum(-1);
}

}  // namespace gripstream
