// Tests learner/delayed_gradient.h, alone and inside learner/ppo.h.
#include "learner/delayed_gradient.h"

#include <gtest/gtest.h>

#include <array>
#include <latch>
#include <string>
#include <vector>

#include "core/rng.h"
#include "policies/initialise.h"
#include "tests/learner/learners.h"
#include "tests/learner/toy_trainer.h"

namespace gripstream {
namespace {

constexpr int64_t kNumbers = 100, kBucketNumbers = 37;  // buckets that do not divide the whole
constexpr double kRate = 0.01, kMaxNorm = 0.5;

// A bowl whose slopes differ per number, so that where a gradient is taken can be told from it.
struct Bowl {
  ParameterSet parameters;
  Adam adam;
  torch::Tensor steepness;

  Bowl()
      : parameters(Start()),
        adam(parameters),
        steepness(NormalTensor(RandomStream(3, "steepness").At(0, 0), {kNumbers}, 1.0).abs() + 0.1) {}

  static ParameterSet Start() {
    ParameterSet start;
    start.Add("x", NormalTensor(RandomStream(4, "start").At(0, 0), {kNumbers}, 1.0));
    return start;
  }
  torch::Tensor Slope() const { return steepness * adam.Values(); }
  void SetGradients(double share = 1) {
    torch::Tensor gradients = adam.Gradients();
    gradients.copy_(Slope() * share);
  }
  void StepExactly() {
    SetGradients();
    adam.Step(kRate, kMaxNorm);
  }
  // `steps` minibatches and the flush behind the last; `between` sees each after its passes.
  void StepDelayed(int steps, GradientDelay kind, const LearnerGroup& group) {
    DelayedGradient delayed(group, adam, kind, kBucketNumbers);
    for (int i = 0; i < steps; ++i) {
      delayed.BeforePasses();
      SetGradients(1.0 / group.Size());
      EXPECT_EQ(delayed.AfterPasses(kRate, kMaxNorm) > 0, i > 0);
    }
    EXPECT_GT(delayed.Flush(kMaxNorm), 0);
    EXPECT_EQ(delayed.Flush(kMaxNorm), 0);
  }
};

TEST(DelayedGradient, AppliesEachGradientOneMinibatchLate) {
  const torch::NoGradGuard no_grad;
  Bowl delayed, by_hand;
  delayed.StepDelayed(5, GradientDelay::kPlain, LearnerGroup());
  torch::Tensor waiting;
  for (int i = 0; i < 5; ++i) {
    const torch::Tensor slope = by_hand.Slope().clone();
    if (waiting.defined()) by_hand.adam.Step(waiting, kRate, kMaxNorm);
    waiting = slope;
  }
  by_hand.adam.Step(waiting, kRate, kMaxNorm);
  EXPECT_TRUE(at::equal(delayed.adam.Values(), by_hand.adam.Values()));
  EXPECT_EQ(delayed.adam.Steps(), 5);
}

TEST(DelayedGradient, PredictionComesCloserToTheExactPath) {
  const torch::NoGradGuard no_grad;
  const auto distance = [](GradientDelay kind) {
    Bowl exact, delayed;
    for (int i = 0; i < 60; ++i) exact.StepExactly();
    delayed.StepDelayed(60, kind, LearnerGroup());
    return (delayed.adam.Values() - exact.adam.Values()).norm().item<double>();
  };
  EXPECT_GT(distance(GradientDelay::kPlain), 0);
  EXPECT_LT(distance(GradientDelay::kPredicted), 0.5 * distance(GradientDelay::kPlain));
}

TEST(DelayedGradient, DoesNotWaitForTheOthersBeforeTheNextMinibatch) {
  std::latch first_is_ahead(1);
  RunLearners(2, [&](const LearnerGroup& group) {
    const torch::NoGradGuard no_grad;
    Bowl bowl;
    DelayedGradient delayed(group, bowl.adam, GradientDelay::kPlain, kBucketNumbers);
    if (group.Rank() == 1) first_is_ahead.wait();
    delayed.BeforePasses();
    bowl.SetGradients(0.5);
    delayed.AfterPasses(kRate, kMaxNorm);
    if (group.Rank() == 0) first_is_ahead.count_down();
    EXPECT_GT(delayed.Flush(kMaxNorm), 0);
  });
}

TEST(DelayedGradient, IsTheSumOverAllLearners) {
  const torch::NoGradGuard no_grad;
  for (const GradientDelay kind : {GradientDelay::kPlain, GradientDelay::kPredicted}) {
    Bowl alone;
    alone.StepDelayed(7, kind, LearnerGroup());
    std::array<torch::Tensor, 2> values;
    RunLearners(2, [&](const LearnerGroup& group) {
      const torch::NoGradGuard here_too;
      Bowl bowl;
      bowl.StepDelayed(7, kind, group);
      values[static_cast<size_t>(group.Rank())] = bowl.adam.Values();
    });
    EXPECT_TRUE(at::equal(values[0], alone.adam.Values()));  // two halves make the same whole, to the bit
    EXPECT_TRUE(at::equal(values[1], alone.adam.Values()));
  }
}

PpoConfig SmallPpo(int minibatch, int epochs) {
  PpoConfig config;
  config.horizon = 6;
  config.minibatch = minibatch;
  config.micro_batch = 20;
  config.epochs = epochs;
  config.threads = 1;
  return config;
}

constexpr int kEnvs = 16;

TEST(PpoWithDelay, OfOneMinibatchPerIterationIsExactlyPpoWithout) {
  const PpoConfig config = SmallPpo(kEnvs * 6, 1);
  const auto digest = [&](GradientDelay delay) {
    ToyTrainer trainer(1, kEnvs, config, SmallPolicy(), ToyTrainer::Alone(), delay);
    trainer.Train(3);
    return trainer.Digest();
  };
  EXPECT_EQ(digest(GradientDelay::kPlain), digest(GradientDelay::kNone));
  EXPECT_EQ(digest(GradientDelay::kPredicted), digest(GradientDelay::kNone));
}

TEST(PpoWithDelay, OfSeveralLearnersIsThatOfOneAndAllHaveTheSameBits) {
  const PpoConfig config = SmallPpo(24, 2);
  const auto parameters = [](const ToyTrainer& trainer) {
    std::vector<torch::Tensor> flat;
    for (const NamedTensor& tensor : trainer.policy.Network().Parameters().All())
      flat.push_back(tensor.value.detach().flatten());
    return at::cat(flat).clone();
  };
  for (const GradientDelay delay : {GradientDelay::kPlain, GradientDelay::kPredicted}) {
    ToyTrainer alone(1, kEnvs, config, SmallPolicy(), ToyTrainer::Alone(), delay);
    ToyTrainer exact(1, kEnvs, config, SmallPolicy());
    alone.Train(1);
    exact.Train(1);
    EXPECT_NE(alone.Digest(), exact.Digest());
    std::array<std::string, 2> digests;
    RunLearners(2, [&](const LearnerGroup& group) {
      ToyTrainer trainer(1, kEnvs / 2, config, SmallPolicy(), group, delay);
      trainer.Train(1);
      const torch::Tensor one = parameters(alone);
      EXPECT_LT(((parameters(trainer) - one).norm() / one.norm()).item<double>(), 1e-5);
      trainer.Train(2);
      digests[static_cast<size_t>(group.Rank())] = trainer.Digest();
    });
    EXPECT_EQ(digests[0], digests[1]);
  }
}

TEST(PpoWithDelay, NothingIsPendingBetweenIterations) {
  const PpoConfig config = SmallPpo(24, 2);
  ToyTrainer straight(1, kEnvs, config, SmallPolicy(), ToyTrainer::Alone(), GradientDelay::kPredicted);
  straight.Train(2);
  // Another object with the saved state goes on the same way.
  Policy policy(SmallPolicy(), ShapesFromSpecs(ToyReach::Specs(), ToyReach::kAction), 99);
  Ppo ppo(config, policy, kEnvs, 1, 100, ToyTrainer::Alone(), GradientDelay::kPredicted);
  policy.SetState(straight.policy.State());
  ppo.SetState(straight.ppo.State());
  straight.Collect();
  RolloutStore copy = straight.store;
  ppo.Update(copy, straight.iteration);
  straight.Learn();
  EXPECT_EQ(ParametersSha256(policy.Network().Parameters()), straight.Digest());
}

}  // namespace
}  // namespace gripstream
