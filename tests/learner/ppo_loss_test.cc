// Tests learner/ppo_loss.h, and the formulas that fused_loss_test.cc compares with.
#include "learner/ppo_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/rng.h"
#include "policies/initialise.h"
#include "tests/learner/composed_loss.h"

namespace gripstream {
namespace {

constexpr int64_t kBatch = 64;

torch::Tensor Draw(at::IntArrayRef shape, uint64_t seed, double scale = 1.0) {
  return NormalTensor(RandomStream(seed, "loss test").At(0, 0), shape, scale).to(torch::kFloat64);
}

double At(const torch::Tensor& x, int64_t i) {
  return x[i].item<double>();
}

// Compares the gradient of sum(f(x)) with central differences in float64.
void ExpectGradient(const std::function<torch::Tensor(const torch::Tensor&)>& f, const torch::Tensor& start) {
  const torch::Tensor x = start.clone().requires_grad_(true);
  f(x).sum().backward();
  const torch::Tensor gradient = x.grad().flatten();
  const double step = 1e-6;
  for (int64_t i = 0; i < start.numel(); ++i) {
    torch::Tensor up = start.clone(), down = start.clone();
    up.view({-1})[i] += step;
    down.view({-1})[i] -= step;
    const double numeric = (f(up).sum().item<double>() - f(down).sum().item<double>()) / (2 * step);
    EXPECT_NEAR(gradient[i].item<double>(), numeric, 1e-6 * std::max(1.0, std::abs(numeric))) << "component " << i;
  }
}

TEST(ClippedSurrogateLoss, EqualsTheFormulaSampleBySample) {
  const torch::Tensor now = Draw({kBatch}, 1, 0.4), old = Draw({kBatch}, 2, 0.4), advantage = Draw({kBatch}, 3);
  const torch::Tensor loss = ClippedSurrogateLoss(now, old, advantage, 0.2);
  for (int64_t i = 0; i < kBatch; ++i) {
    const double ratio = std::exp(At(now, i) - At(old, i)), a = At(advantage, i);
    EXPECT_NEAR(At(loss, i), -std::min(ratio * a, std::clamp(ratio, 0.8, 1.2) * a), 1e-12);
  }
}

TEST(ClippedSurrogateLoss, HasTheGradientOfFiniteDifferences) {
  const torch::Tensor old = Draw({kBatch}, 2, 0.4), advantage = Draw({kBatch}, 3);
  ExpectGradient([&](const torch::Tensor& now) { return ClippedSurrogateLoss(now, old, advantage, 0.2); },
                 Draw({kBatch}, 1, 0.4));
}

TEST(ClippedSurrogateLoss, PullsNoFurtherOnceTheRatioHasGoneFarEnough) {
  const torch::Tensor old = at::zeros({4}, torch::kFloat64);
  const torch::Tensor now =
      torch::Tensor(at::tensor(at::ArrayRef<double>({0.5, 0.5, -0.5, -0.5}))).requires_grad_(true);
  const torch::Tensor advantage = at::tensor(at::ArrayRef<double>({1, -1, 1, -1}));
  ClippedSurrogateLoss(now, old, advantage, 0.2).sum().backward();
  EXPECT_EQ(At(now.grad(), 0), 0.0);  // better action, already likelier by more than the clip
  EXPECT_NE(At(now.grad(), 1), 0.0);
  EXPECT_NE(At(now.grad(), 2), 0.0);
  EXPECT_EQ(At(now.grad(), 3), 0.0);
}

TEST(ValueLoss, EqualsTheFormulaSampleBySample) {
  const torch::Tensor value = Draw({kBatch}, 1), old = Draw({kBatch}, 2), target = Draw({kBatch}, 3);
  const torch::Tensor clipped = ValueLoss(value, old, target, 0.2), plain = ValueLoss(value, old, target, 0);
  for (int64_t i = 0; i < kBatch; ++i) {
    const double v = At(value, i), o = At(old, i), t = At(target, i), near = o + std::clamp(v - o, -0.2, 0.2);
    EXPECT_NEAR(At(plain, i), 0.5 * (v - t) * (v - t), 1e-12);
    EXPECT_NEAR(At(clipped, i), 0.5 * std::max((v - t) * (v - t), (near - t) * (near - t)), 1e-12);
  }
}

TEST(ValueLoss, HasTheGradientOfFiniteDifferences) {
  const torch::Tensor old = Draw({kBatch}, 2), target = Draw({kBatch}, 3);
  for (const double clip : {0.0, 0.2}) {
    ExpectGradient([&](const torch::Tensor& value) { return ValueLoss(value, old, target, clip); }, Draw({kBatch}, 1));
  }
}

TEST(BoundsLoss, CountsOnlyWhatIsBeyondTheLimit) {
  const torch::Tensor mean = at::tensor(at::ArrayRef<double>({0.5, -1.1, 1.5, -2.0})).view({2, 2});
  const torch::Tensor loss = BoundsLoss(mean, 1.1);
  EXPECT_NEAR(At(loss, 0), 0.0, 1e-12);
  EXPECT_NEAR(At(loss, 1), 0.4 * 0.4 + 0.9 * 0.9, 1e-12);
  ExpectGradient([](const torch::Tensor& x) { return BoundsLoss(x, 1.1); }, Draw({kBatch, 3}, 4, 1.5));
}

TEST(AuxLoss, IsTheMeanSquareOverComponents) {
  const torch::Tensor prediction = Draw({kBatch, 3}, 5), target = Draw({kBatch, 3}, 6);
  const torch::Tensor loss = AuxLoss(prediction, target);
  for (int64_t i = 0; i < kBatch; ++i) {
    double sum = 0;
    for (int64_t c = 0; c < 3; ++c) sum += std::pow(At(prediction[i], c) - At(target[i], c), 2);
    EXPECT_NEAR(At(loss, i), sum / 3, 1e-12);
  }
  ExpectGradient([&](const torch::Tensor& x) { return AuxLoss(x, target); }, prediction);
}

TEST(WeightedMean, IgnoresSamplesOfWeightZero) {
  const torch::Tensor x = at::tensor(at::ArrayRef<double>({1, 100, 3}));
  const torch::Tensor weight = at::tensor(at::ArrayRef<double>({1, 0, 1}));
  EXPECT_EQ(WeightedMean(x, weight).item<double>(), 2.0);
  EXPECT_EQ(WeightedMean(x, at::zeros_like(weight)).item<double>(), 0.0);
}

TEST(OutsideClip, MarksRatiosBeyondTheRange) {
  const torch::Tensor now =
      at::tensor(at::ArrayRef<double>({0, std::log(1.19), std::log(1.21), std::log(0.81), std::log(0.79)}));
  const torch::Tensor marked = OutsideClip(now, at::zeros_like(now), 0.2);
  EXPECT_TRUE(marked.equal(at::tensor(at::ArrayRef<double>({0, 0, 1, 0, 1}))));
}

TEST(ExplainedVariance, IsOneForPerfectZeroForConstantValues) {
  const torch::Tensor target = Draw({kBatch}, 7), ones = at::ones({kBatch}, torch::kFloat64);
  EXPECT_NEAR(ExplainedVariance(target, target, ones), 1.0, 1e-12);
  EXPECT_NEAR(ExplainedVariance(at::full_like(target, 3.0), target, ones), 0.0, 1e-12);
  EXPECT_NEAR(ExplainedVariance(-target, target, ones), -3.0, 1e-9);
  EXPECT_EQ(ExplainedVariance(target, at::full_like(target, 3.0), ones), 0.0);
}

TEST(ExplainedVariance, LeavesOutSamplesOfWeightZero) {
  torch::Tensor value = Draw({kBatch}, 7), target = value.clone(), weight = at::ones({kBatch}, torch::kFloat64);
  target[5] = 1e6;
  weight[5] = 0;
  EXPECT_NEAR(ExplainedVariance(value, target, weight), 1.0, 1e-12);
}

TEST(Standardise, GivesMeanZeroAndDeviationOneOverWhatCounts) {
  const torch::Tensor x = Draw({kBatch}, 8, 4.0) + 9.0;
  torch::Tensor weight = at::ones({kBatch}, torch::kFloat64);
  weight.narrow(0, 0, 10).zero_();
  const torch::Tensor result = Standardise(x, weight);
  EXPECT_EQ(result.narrow(0, 0, 10).abs().max().item<double>(), 0.0);
  const torch::Tensor counted = result.narrow(0, 10, kBatch - 10);
  EXPECT_NEAR(counted.mean().item<double>(), 0.0, 1e-12);
  EXPECT_NEAR(counted.std(0, false).item<double>(), 1.0, 1e-6);
}

TEST(Standardise, OfEqualNumbersIsZero) {
  const torch::Tensor result = Standardise(at::full({8}, 2.0, torch::kFloat64), at::ones({8}, torch::kFloat64));
  EXPECT_EQ(result.abs().max().item<double>(), 0.0);
}

}  // namespace
}  // namespace gripstream
