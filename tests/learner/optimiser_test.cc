// Tests learner/adam.h and learner/schedule.h.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/rng.h"
#include "learner/adam.h"
#include "learner/schedule.h"
#include "policies/initialise.h"

namespace gripstream {
namespace {

// Two parameters with quadratic losses of different curvature.
struct Problem {
  ParameterSet parameters;
  torch::Tensor a, b;

  Problem() {
    a = parameters.Add("a", NormalTensor(RandomStream(1, "adam").At(0, 0), {3, 2}, 1.0));
    b = parameters.Add("b", NormalTensor(RandomStream(1, "adam").At(1, 0), {20000}, 1.0));
  }
  void Backward() const { (3.0 * a.square().sum() + 0.5 * (b - 1.0).square().sum()).backward(); }
};

TEST(Adam, FollowsTheAlgorithmOfThePaper) {
  Problem problem;
  const double start = problem.a[1][1].item<double>();
  Adam adam(problem.parameters);
  double x = start, first = 0, second = 0;
  for (int step = 1; step <= 20; ++step) {
    adam.ZeroGradients();
    problem.Backward();
    adam.Step(0.01, 0.0);
    const double g = 6.0 * x;
    first = 0.9 * first + 0.1 * g;
    second = 0.999 * second + 0.001 * g * g;
    x -= 0.01 * (first / (1 - std::pow(0.9, step))) / (std::sqrt(second / (1 - std::pow(0.999, step))) + 1e-8);
    EXPECT_NEAR(problem.a[1][1].item<double>(), x, 1e-5) << "step " << step;
  }
}

TEST(Adam, ReturnsTheNormAndScalesGradientsDownToTheLimit) {
  Problem free_run, limited;
  Adam free_adam(free_run.parameters), limited_adam(limited.parameters);
  free_run.Backward();
  limited.Backward();
  const torch::Tensor gradient = limited.b.grad().clone();
  const double expected = std::sqrt(limited.a.grad().to(torch::kFloat64).square().sum().item<double>() +
                                    gradient.to(torch::kFloat64).square().sum().item<double>());
  EXPECT_NEAR(limited_adam.Step(0.01, 0.5), expected, 1e-9 * expected);
  free_adam.Step(0.01, 0.0);
  // The first moment is 0.1 times the gradient that was applied.
  const torch::Tensor applied = limited_adam.FirstMoment() * 10.0;
  EXPECT_NEAR(applied.to(torch::kFloat64).norm().item<double>(), 0.5, 1e-5);
  EXPECT_NEAR((free_adam.FirstMoment() * 10.0).to(torch::kFloat64).norm().item<double>(), expected, 1e-4 * expected);
}

TEST(Adam, LeavesEverythingAloneWhenGradientsAreNotFinite) {
  Problem problem;
  Adam adam(problem.parameters);
  const std::string before = ParametersSha256(problem.parameters);
  problem.Backward();
  problem.a.mutable_grad()[0][0] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(std::isfinite(adam.Step(0.01, 1.0)));
  EXPECT_EQ(ParametersSha256(problem.parameters), before);
  EXPECT_EQ(adam.Steps(), 0);
}

TEST(Adam, GoesOnExactlyFromASavedState) {
  Problem whole, half;
  Adam adam(whole.parameters), first(half.parameters);
  const auto step = [](Problem& problem, Adam& optimiser) {
    optimiser.ZeroGradients();
    problem.Backward();
    optimiser.Step(0.01, 1.0);
  };
  for (int i = 0; i < 10; ++i) step(whole, adam);
  for (int i = 0; i < 5; ++i) step(half, first);
  Problem other;
  Adam second(other.parameters);
  {
    const torch::NoGradGuard no_grad;
    other.a.copy_(half.a);
    other.b.copy_(half.b);
  }
  second.SetState(first.FirstMoment(), first.SecondMoment(), first.Steps());
  for (int i = 0; i < 5; ++i) step(other, second);
  EXPECT_EQ(ParametersSha256(other.parameters), ParametersSha256(whole.parameters));
}

PpoConfig WithSchedule(const ScheduleConfig& schedule) {
  PpoConfig config;
  config.lr = 1e-3;
  config.schedule = schedule;
  return config;
}

TEST(LearningRate, LinearGoesToZeroOverTheRun) {
  LearningRate rate(WithSchedule({.kind = "linear"}), 10);
  rate.BeginIteration(0);
  EXPECT_DOUBLE_EQ(rate.Value(), 1e-3);
  rate.BeginIteration(5);
  EXPECT_DOUBLE_EQ(rate.Value(), 5e-4);
  rate.EndEpoch(100.0);
  EXPECT_DOUBLE_EQ(rate.Value(), 5e-4);
  rate.BeginIteration(12);
  EXPECT_DOUBLE_EQ(rate.Value(), 0.0);
}

TEST(LearningRate, FixedStays) {
  LearningRate rate(WithSchedule({.kind = "fixed"}), 10);
  rate.BeginIteration(7);
  rate.EndEpoch(100.0);
  EXPECT_DOUBLE_EQ(rate.Value(), 1e-3);
}

TEST(LearningRate, AdaptsToTheDivergenceWithinItsLimits) {
  LearningRate rate(WithSchedule({.kind = "kl_adaptive", .target_kl = 0.01, .min_lr = 5e-4, .max_lr = 2e-3}), 10);
  rate.EndEpoch(0.01);
  EXPECT_DOUBLE_EQ(rate.Value(), 1e-3);
  rate.EndEpoch(0.021);
  EXPECT_DOUBLE_EQ(rate.Value(), 1e-3 / 1.5);
  rate.EndEpoch(1.0);
  EXPECT_DOUBLE_EQ(rate.Value(), 5e-4);
  for (int i = 0; i < 10; ++i) rate.EndEpoch(0.004);
  EXPECT_DOUBLE_EQ(rate.Value(), 2e-3);
}

TEST(LearningRate, GrowsWithTheMinibatchAsAsked) {
  PpoConfig config = WithSchedule({.kind = "kl_adaptive", .target_kl = 0.01, .min_lr = 5e-4, .max_lr = 2e-3});
  config.lr_base_minibatch = 256;
  config.minibatch = 4 * 256;
  for (const auto& [rule, factor] : {std::pair("none", 1.0), std::pair("sqrt", 2.0), std::pair("linear", 4.0)}) {
    config.lr_scaling = rule;
    LearningRate rate(config, 10);
    EXPECT_DOUBLE_EQ(rate.Value(), factor * 1e-3) << rule;
    for (int i = 0; i < 10; ++i) rate.EndEpoch(0.0);
    EXPECT_DOUBLE_EQ(rate.Value(), factor * 2e-3) << rule;
    for (int i = 0; i < 10; ++i) rate.EndEpoch(1.0);
    EXPECT_DOUBLE_EQ(rate.Value(), factor * 5e-4) << rule;
  }
}

}  // namespace
}  // namespace gripstream
