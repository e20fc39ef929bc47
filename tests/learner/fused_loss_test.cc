// Tests learner/fused_loss.h: beside the same formulas as operations on tensors, differentiated by autograd.
#include "learner/fused_loss.h"

#include <gtest/gtest.h>

#include "core/rng.h"
#include "policies/distribution.h"
#include "policies/initialise.h"
#include "tests/learner/composed_loss.h"

namespace gripstream {
namespace {

constexpr int64_t kRows = 300, kActions = 5;

torch::Tensor Draw(at::IntArrayRef shape, uint32_t which, double scale) {
  return NormalTensor(RandomStream(3, "fused loss test").At(which, 0), shape, scale);
}

// Means beyond the limit, ratios beyond the clip, values beyond theirs, and samples that do not count.
FusedLossInput Input(bool shared_deviation) {
  FusedLossInput in;
  in.old_mean = Draw({kRows, kActions}, 0, 0.9);
  in.old_log_std = Draw({kActions}, 1, 0.2).expand({kRows, kActions});
  in.mean = in.old_mean + Draw({kRows, kActions}, 2, 0.15);
  in.log_std = shared_deviation ? in.old_log_std + 0.05 : in.old_log_std + Draw({kRows, kActions}, 3, 0.1);
  in.action = in.old_mean + in.old_log_std.exp() * Draw({kRows, kActions}, 4, 1.0);
  in.old_log_prob = GaussianLogProb(in.old_mean, in.old_log_std, in.action);
  in.old_value = Draw({kRows}, 5, 1.0);
  in.value = in.old_value + Draw({kRows}, 6, 0.3);
  in.target = Draw({kRows}, 7, 1.0);
  in.advantage = Draw({kRows}, 8, 1.0);
  in.share = at::full({kRows}, 1.0 / kRows, torch::kFloat32);
  in.share.narrow(0, 10, 30).zero_();
  return in;
}

const FusedLossOptions kOptions = {
    .clip = 0.2, .value_clip = 0.2, .value_coef = 1.3, .entropy_coef = 0.02, .bounds_coef = 0.4, .action_limit = 1.1};

struct Composed {
  FusedLossSums sums;
  torch::Tensor d_mean, d_log_std, d_value;
};

Composed Compose(const FusedLossInput& in, const FusedLossOptions& o) {
  const auto leaf = [](const torch::Tensor& x) { return x.clone().requires_grad_(true); };
  const torch::Tensor mean = leaf(in.mean), log_std = leaf(in.log_std), value = leaf(in.value);
  const torch::Tensor log_prob = GaussianLogProb(mean, log_std, in.action);
  const auto sum = [&](const torch::Tensor& x) { return (x * in.share).sum(); };
  const torch::Tensor policy = sum(ClippedSurrogateLoss(log_prob, in.old_log_prob, in.advantage, o.clip));
  const torch::Tensor entropy = sum(GaussianEntropy(log_std));
  const torch::Tensor critic = sum(ValueLoss(value, in.old_value, in.target, o.value_clip));
  const torch::Tensor bounds = sum(BoundsLoss(mean, o.action_limit));
  (policy - o.entropy_coef * entropy + o.value_coef * critic + o.bounds_coef * bounds).backward();
  return {.sums = {.policy = policy.item<double>(),
                   .entropy = entropy.item<double>(),
                   .value = critic.item<double>(),
                   .bounds = bounds.item<double>(),
                   .kl = sum(GaussianKl(in.old_mean, in.old_log_std, mean, log_std)).item<double>(),
                   .clip_fraction = sum(OutsideClip(log_prob, in.old_log_prob, o.clip)).item<double>(),
                   .action_std = sum(log_std.exp().mean(-1)).item<double>()},
          .d_mean = mean.grad(),
          .d_log_std = log_std.grad(),
          .d_value = value.grad()};
}

void ExpectClose(const torch::Tensor& ours, const torch::Tensor& theirs) {
  EXPECT_LT((ours - theirs).norm().item<double>(), 1e-5 * theirs.norm().item<double>());
}

void ExpectEqual(const FusedLossInput& in, const FusedLossOptions& options) {
  const FusedLoss fused = ComputeFusedLoss(in, options);
  const Composed composed = Compose(in, options);
  const double FusedLossSums::*terms[] = {
      &FusedLossSums::policy, &FusedLossSums::entropy,       &FusedLossSums::value,     &FusedLossSums::bounds,
      &FusedLossSums::kl,     &FusedLossSums::clip_fraction, &FusedLossSums::action_std};
  for (const auto term : terms) EXPECT_NEAR(fused.sums.*term, composed.sums.*term, 1e-5);
  ExpectClose(fused.d_mean, composed.d_mean);
  ExpectClose(fused.d_log_std, composed.d_log_std);
  ExpectClose(fused.d_value, composed.d_value);
}

TEST(FusedLoss, EqualsTheFormulasAndTheirGradients) {
  ExpectEqual(Input(true), kOptions);
  ExpectEqual(Input(false), kOptions);
}

TEST(FusedLoss, EqualsThemWithoutValueClipAndWithoutClippingAnything) {
  FusedLossOptions options = kOptions;
  options.value_clip = 0;
  ExpectEqual(Input(true), options);
  options.clip = 0.99;
  ExpectEqual(Input(true), options);
}

TEST(FusedLoss, TheInputMeetsEveryCase) {
  const FusedLossInput in = Input(true);
  const Composed composed = Compose(in, kOptions);
  EXPECT_GT(composed.sums.clip_fraction, 0.1);
  EXPECT_LT(composed.sums.clip_fraction, 0.9);
  EXPECT_GT(composed.sums.bounds, 0.01);
  EXPECT_TRUE(((in.value - in.old_value).abs() > kOptions.value_clip).any().item<bool>());
}

TEST(FusedLoss, SamplesOfNoWeightPullAtNothing) {
  const FusedLoss fused = ComputeFusedLoss(Input(true), kOptions);
  EXPECT_EQ(fused.d_mean.narrow(0, 10, 30).abs().max().item<float>(), 0.0f);
  EXPECT_EQ(fused.d_value.narrow(0, 10, 30).abs().max().item<float>(), 0.0f);
}

TEST(FusedLoss, WhatIsNotFiniteStaysSo) {
  FusedLossInput in = Input(true);
  in.mean[100][2] = NAN;
  EXPECT_FALSE(ComputeFusedLoss(in, kOptions).d_mean.isfinite().all().item<bool>());
}

}  // namespace
}  // namespace gripstream
