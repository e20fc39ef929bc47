// Tests learner/delayed_gradient.h, alone and inside learner/ppo.h.
#include "learner/delayed_gradient.h"

#include <gtest/gtest.h>

#include <array>
#include <latch>
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
      delayed.BeforePasses(kMaxNorm);
      SetGradients(1.0 / group.Size());
      EXPECT_EQ(delayed.AfterPasses(1.0 / group.Size(), kRate, kMaxNorm) > 0, i > 0);
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

TEST(DelayedGradient, PredictedAloneIsTheExactPathToTheBit) {
  const torch::NoGradGuard no_grad;
  Bowl exact, predicted, plain;
  for (int i = 0; i < 20; ++i) exact.StepExactly();
  predicted.StepDelayed(20, GradientDelay::kPredicted, LearnerGroup());
  plain.StepDelayed(20, GradientDelay::kPlain, LearnerGroup());
  EXPECT_TRUE(at::equal(predicted.adam.Values(), exact.adam.Values()));
  EXPECT_TRUE(at::equal(predicted.adam.FirstMoment(), exact.adam.FirstMoment()));
  EXPECT_FALSE(at::equal(plain.adam.Values(), exact.adam.Values()));
}

TEST(DelayedGradient, DoesNotWaitForTheOthersBeforeTheNextMinibatch) {
  std::latch first_is_ahead(1);
  RunLearners(2, [&](const LearnerGroup& group) {
    const torch::NoGradGuard no_grad;
    Bowl bowl;
    DelayedGradient delayed(group, bowl.adam, GradientDelay::kPlain, kBucketNumbers);
    if (group.Rank() == 1) first_is_ahead.wait();
    delayed.BeforePasses(kMaxNorm);
    bowl.SetGradients(0.5);
    delayed.AfterPasses(0.5, kRate, kMaxNorm);
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

torch::Tensor FlatParameters(const ToyTrainer& trainer) {
  std::vector<torch::Tensor> flat;
  for (const NamedTensor& tensor : trainer.policy.Network().Parameters().All())
    flat.push_back(tensor.value.detach().flatten());
  return at::cat(flat).clone();
}

// Two learners' parameters after `iterations`, which must have the same bits.
torch::Tensor TrainedByTwo(const PpoConfig& config, GradientDelay delay, int iterations) {
  std::array<torch::Tensor, 2> parameters;
  RunLearners(2, [&](const LearnerGroup& group) {
    ToyTrainer trainer(1, kEnvs / 2, config, SmallPolicy(), group, delay);
    trainer.Train(iterations);
    parameters[static_cast<size_t>(group.Rank())] = FlatParameters(trainer);
  });
  EXPECT_TRUE(at::equal(parameters[0], parameters[1]));
  return parameters[0];
}

torch::Tensor TrainedAlone(const PpoConfig& config, GradientDelay delay) {
  ToyTrainer trainer(1, kEnvs, config, SmallPolicy(), ToyTrainer::Alone(), delay);
  trainer.Train(1);
  return FlatParameters(trainer);
}

TEST(PpoWithDelay, OfOneLearnerIsExactWhenPredicted) {
  const PpoConfig config = SmallPpo(24, 2);
  const torch::Tensor exact = TrainedAlone(config, GradientDelay::kNone);
  EXPECT_TRUE(at::equal(TrainedAlone(config, GradientDelay::kPredicted), exact));
  EXPECT_FALSE(at::equal(TrainedAlone(config, GradientDelay::kPlain), exact));
}

TEST(PpoWithDelay, OfSeveralLearnersIsThatOfOneWhenPlainAndCloserToTheExactOneWhenPredicted) {
  const PpoConfig config = SmallPpo(24, 2);
  const torch::Tensor exact = TrainedAlone(config, GradientDelay::kNone);
  const torch::Tensor plain = TrainedByTwo(config, GradientDelay::kPlain, 1);
  const torch::Tensor predicted = TrainedByTwo(config, GradientDelay::kPredicted, 1);
  const auto distance = [](const torch::Tensor& a, const torch::Tensor& b) { return (a - b).norm().item<double>(); };
  EXPECT_LT(distance(plain, TrainedAlone(config, GradientDelay::kPlain)) / exact.norm().item<double>(), 1e-5);
  EXPECT_LT(distance(predicted, exact), distance(plain, exact));
}

TEST(PpoWithDelay, KeepsTheLearnersBitsTogether) {
  const PpoConfig config = SmallPpo(24, 2);
  TrainedByTwo(config, GradientDelay::kPlain, 3);
  TrainedByTwo(config, GradientDelay::kPredicted, 3);
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
