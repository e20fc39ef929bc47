// Tests that learner/ppo.h learns to use an image, on the toy reach task.
#include <gtest/gtest.h>

#include "tests/learner/toy_trainer.h"

namespace gripstream {
namespace {

PpoConfig QuickPpo() {
  PpoConfig ppo;
  ppo.horizon = 16;
  ppo.minibatch = 512;
  ppo.gamma = 0.9;
  ppo.entropy_coef = 0;
  ppo.schedule.target_kl = 0.03;
  ppo.threads = 1;
  return ppo;
}

TEST(Learning, DepthPolicyComesToReachWhatItSees) {
  ToyTrainer trainer(1, 256, QuickPpo(), {});
  const double before = trainer.Evaluate(false);
  trainer.Train(15);  // 61,440 samples
  const double after = trainer.Evaluate(false), blind = trainer.Evaluate(true);
  RecordProperty("success", std::to_string(after));
  EXPECT_LT(before, 0.1);
  EXPECT_GT(after, 0.7);
  EXPECT_LT(blind, 0.5 * after);
}

TEST(Learning, StatePolicyComesToReachToo) {
  PolicyConfig policy;
  policy.name = "state_mlp";
  ToyTrainer trainer(1, 256, QuickPpo(), policy);
  trainer.Train(25);
  EXPECT_GT(trainer.Evaluate(false), 0.8);
}

}  // namespace
}  // namespace gripstream
