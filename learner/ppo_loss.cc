#include "learner/ppo_loss.h"

#include <cmath>

namespace gripstream {
namespace {

// Mean and variance over samples of weight 1, in float64.
struct Moments {
  double mean = 0, variance = 0;
};

Moments WeightedMoments(const torch::Tensor& x, const torch::Tensor& weight) {
  const torch::Tensor w = weight.to(torch::kFloat64), x64 = x.to(torch::kFloat64);
  const double total = w.sum().item<double>();
  if (total == 0) return {};
  const double mean = (x64 * w).sum().item<double>() / total;
  return {mean, ((x64 - mean).square() * w).sum().item<double>() / total};
}

}  // namespace

torch::Tensor AuxLoss(const torch::Tensor& prediction, const torch::Tensor& target) {
  return (prediction - target).square().mean(-1);
}

torch::Tensor WeightedMean(const torch::Tensor& x, const torch::Tensor& weight) {
  return (x * weight).sum() / weight.sum().clamp_min(1.0);
}

double ExplainedVariance(const torch::Tensor& value, const torch::Tensor& target, const torch::Tensor& weight) {
  const double total = WeightedMoments(target, weight).variance;
  if (total == 0) return 0;
  return 1.0 - WeightedMoments(target - value, weight).variance / total;
}

torch::Tensor Standardise(const torch::Tensor& x, const torch::Tensor& weight) {
  const Moments moments = WeightedMoments(x, weight);
  const double scale = 1.0 / (std::sqrt(moments.variance) + 1e-8);
  return ((x.to(torch::kFloat64) - moments.mean) * scale * weight).to(x.scalar_type());
}

}  // namespace gripstream
