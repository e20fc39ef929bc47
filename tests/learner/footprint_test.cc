// Tests learner/footprint.h and learner_budget.h: plans beside what the real objects take.
#include "learner/footprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/tensor_memory.h"
#include "tests/learner/toy_trainer.h"

namespace gripstream {
namespace {

// Off by a tenth at most, or by what allocations are rounded by.
void ExpectNear(double planned, double real) {
  EXPECT_NEAR(planned, real, 0.1 * real + 65536);
}

PolicyConfig Networks() {
  PolicyConfig config = SmallPolicy();
  config.actor_hidden = {256, 128};
  config.critic_hidden = {512, 512};
  config.inference_chunk = 64;
  return config;
}

PpoConfig Updates(int micro_batch) {
  PpoConfig config;
  config.horizon = 8;
  config.minibatch = 256;
  config.micro_batch = micro_batch;
  config.epochs = 1;
  config.threads = 1;
  return config;
}

class Footprint : public testing::TestWithParam<int> {};

TEST_P(Footprint, EveryPartIsWhatTheRealOneTakes) {
  constexpr int kEnvs = 64;
  const PpoConfig ppo = Updates(GetParam());
  const LearnerFootprint measured = MeasureLearner(ppo, Networks(), ToyReach::Specs(), ToyReach::kAction);
  const MemoryBudget budget = LearnerBudget(
      measured,
      {.horizon = ppo.horizon, .micro_batch = ppo.micro_batch, .minibatch_share = ppo.minibatch, .inference_chunk = 64},
      ToyReach::Specs(), ToyReach::kAction, kEnvs);
  const auto planned = [&](const std::string& name) {
    for (const MemoryPart& part : budget.parts) {
      if (part.name == name) return part.Bytes(kEnvs);
    }
    ADD_FAILURE() << name;
    return 0.0;
  };
  ToyTrainer real(1, kEnvs, ppo, Networks());
  ExpectNear(planned("network"), static_cast<double>(real.policy.Bytes()));
  ExpectNear(planned("optimiser"), static_cast<double>(real.ppo.Bytes()));
  EXPECT_EQ(planned(kBufferPart), static_cast<double>(real.store.Bytes()));
  real.Train(1);
  real.Collect();
  const TensorPeak update;
  real.Learn();
  ExpectNear(planned(kActivationsPart), static_cast<double>(update.Bytes()) * (1 + kHoles));
}

INSTANTIATE_TEST_SUITE_P(MicroBatches, Footprint, testing::Values(16, 64, 1 << 20));

constexpr double kWithHoles = 1 + kHoles;

TEST(LearnerBudget, MicroBatchesBoundTheActivations) {
  LearnerFootprint footprint;
  footprint.update_row = 1000;
  const auto activations = [&](const LearnerSizes& sizes, int64_t envs) {
    const MemoryBudget budget = LearnerBudget(footprint, sizes, ToyReach::Specs(), ToyReach::kAction, envs);
    return budget.parts[4].Bytes(envs);
  };
  EXPECT_DOUBLE_EQ(activations({.micro_batch = 8, .minibatch_share = 64}, 10), 8000 * kWithHoles);
  EXPECT_DOUBLE_EQ(activations({.micro_batch = 1 << 20, .minibatch_share = 64}, 10), 64000 * kWithHoles);
  // A minibatch that grows with the environments: 4 samples of each.
  EXPECT_DOUBLE_EQ(activations({.micro_batch = 1 << 20, .share_per_env = 4}, 10), 40000 * kWithHoles);
  EXPECT_DOUBLE_EQ(activations({.micro_batch = 8, .share_per_env = 4}, 10), 8000 * kWithHoles);
}

TEST(LearnerBudget, AsynchronousCollectionHoldsMore) {
  LearnerFootprint footprint;
  footprint.network = 1e6;
  footprint.act = 1e5;
  const auto bytes = [&](const LearnerSizes& sizes) {
    return LearnerBudget(footprint, sizes, ToyReach::Specs(), ToyReach::kAction, 4).Bytes(4);
  };
  const double one = bytes({.horizon = 8}), two = bytes({.horizon = 8, .stores = 2, .policies = 3});
  EXPECT_EQ(two - one, 2e6 + 4.0 * static_cast<double>(RolloutBytes(ToyReach::Specs(), 8, ToyReach::kAction,
                                                                    ImageStorage::kAsRecorded)));
  EXPECT_GT(bytes({.horizon = 8, .acts_in_update = true}) + 1e5, one);
}

TEST(LearnerBudget, WhatIsSpilledIsNotHere) {
  const MemoryBudget spilled = LearnerBudget({}, {.spill = true}, ToyReach::Specs(), ToyReach::kAction, 4);
  for (const MemoryPart& part : spilled.parts) EXPECT_NE(part.name, kBufferPart);
}

}  // namespace
}  // namespace gripstream
