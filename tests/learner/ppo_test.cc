// Tests learner/ppo.h on the toy reach task.
#include "learner/ppo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "policies/checkpoint.h"
#include "policies/distribution.h"
#include "replay/returns.h"
#include "tests/learner/toy_trainer.h"

namespace gripstream {
namespace {

constexpr int kEnvs = 16;

PpoConfig SmallPpo() {
  PpoConfig config;
  config.horizon = 6;
  config.minibatch = 32;
  config.micro_batch = 32;
  config.epochs = 2;
  config.threads = 1;
  return config;
}

struct Trainer : ToyTrainer {
  explicit Trainer(uint64_t seed, const PpoConfig& config = SmallPpo(), const PolicyConfig& networks = SmallPolicy())
      : ToyTrainer(seed, kEnvs, config, networks) {}
};

PolicyConfig WithMemory() {
  PolicyConfig config = SmallPolicy();
  config.actor_rnn = {.kind = "lstm", .units = 8};
  config.critic_rnn = {.kind = "gru", .units = 8, .place = "after_mlp"};
  return config;
}

// Longer than an episode, so that episodes end within sequences of 6.
PpoConfig SequencePpo() {
  PpoConfig config = SmallPpo();
  config.horizon = 18;
  config.sequence = 6;
  config.minibatch = 96;
  return config;
}

TEST(Ppo, SameSeedSameBitsAnotherSeedOthers) {
  Trainer a(1), b(1), c(2);
  a.Train(3);
  b.Train(3);
  c.Train(3);
  EXPECT_EQ(a.Digest(), b.Digest());
  EXPECT_NE(a.Digest(), c.Digest());
}

TEST(Ppo, TwiceNIterationsEqualNSaveLoadNMore) {
  const std::string path = testing::TempDir() + "/gripstream_ppo_test.safetensors";
  Trainer whole(1), first(1);
  whole.Train(6);
  first.Train(3);
  Checkpoint saved;
  saved.tensors = first.policy.State();
  for (const NamedTensor& tensor : first.ppo.State()) saved.tensors.push_back(tensor);
  SaveCheckpoint(path, saved);

  Trainer second(1);
  const Checkpoint loaded = LoadCheckpoint(path);
  RequireSameTensors(loaded, path, second.policy.State());
  RequireSameTensors(loaded, path, saved.tensors);
  second.policy.SetState(loaded.tensors);
  second.ppo.SetState(loaded.tensors);
  second.task = first.task;  // what the simulators' state blobs do in a real run
  second.task.Write(second.store, 0);
  second.iteration = 3;
  second.Train(3);
  EXPECT_EQ(second.Digest(), whole.Digest());
  EXPECT_EQ(second.last.learning_rate, whole.last.learning_rate);
}

TEST(Ppo, TheFirstPassSeesTheRolloutsOwnPolicy) {
  PpoConfig config = SmallPpo();
  config.epochs = 1;
  config.minibatch = kEnvs * config.horizon;
  Trainer trainer(1, config);
  trainer.Train(1);
  EXPECT_NEAR(trainer.last.kl, 0.0, 1e-6);
  EXPECT_EQ(trainer.last.clip_fraction, 0.0);
  EXPECT_NEAR(trainer.last.policy_loss, 0.0, 1e-4);  // the ratio is 1 and advantages have mean 0
}

TEST(Ppo, MicroBatchesAddUpToTheMinibatch) {
  PpoConfig whole = SmallPpo(), split = SmallPpo();
  whole.epochs = split.epochs = 1;
  whole.minibatch = split.minibatch = kEnvs * whole.horizon;
  whole.micro_batch = 1 << 20;
  split.micro_batch = 20;  // does not divide it
  Trainer a(1, whole), b(1, split);
  a.Train(1);
  b.Train(1);
  EXPECT_NEAR(a.last.grad_norm, b.last.grad_norm, 1e-5 * a.last.grad_norm);
  EXPECT_NEAR(a.last.value_loss, b.last.value_loss, 1e-5 * a.last.value_loss);
}

TEST(Ppo, FaultedSamplesAreNotUsed) {
  Trainer clean(1), spoilt(1);
  for (Trainer* trainer : {&clean, &spoilt}) {
    trainer->Collect();
    trainer->store.Step("done", 3)[5] = static_cast<int>(DoneKind::kFaulted);
  }
  // Whatever the faulted transition brought must not matter.
  spoilt.store.Step("reward", 3)[5] = std::numeric_limits<float>::quiet_NaN();
  spoilt.store.Step("final_state", 3)[5].fill_(std::numeric_limits<float>::infinity());
  const PpoMetrics a = clean.ppo.Update(clean.store, 0), b = spoilt.ppo.Update(spoilt.store, 0);
  EXPECT_EQ(clean.Digest(), spoilt.Digest());
  EXPECT_EQ(a.used_samples, clean.store.Horizon() * kEnvs - 1);
  EXPECT_EQ(b.used_samples, a.used_samples);
}

TEST(Ppo, TimeOutsAreWorthTheirFinalStateOnlyWhenAsked) {
  PpoConfig with = SmallPpo(), without = SmallPpo();
  with.horizon = without.horizon = ToyReach::kEpisodeSteps;
  with.bootstrap_timeouts = true;
  without.bootstrap_timeouts = false;
  Trainer a(1, with), b(1, without);
  a.Train(1);
  b.Train(1);
  EXPECT_NE(a.last.return_mean, b.last.return_mean);
}

TEST(Ppo, OnPolicyVTraceLearnsWhatGaeDoesForLambdaOne) {
  PpoConfig gae = SmallPpo(), vtrace = SmallPpo();
  gae.lambda = vtrace.lambda = 1.0;
  vtrace.off_policy = "vtrace";
  Trainer a(1, gae), b(1, vtrace);
  a.Collect();
  b.Collect();
  const torch::Tensor log_prob = b.store.LogProb().clone(), mean = b.store.Mean().clone();
  const torch::Tensor value = b.store.Value().clone();
  a.Learn();
  b.Learn();
  // The policy in training judges its own actions as it did when it took them, to the bit: every ratio is 1.
  EXPECT_TRUE(at::equal(b.store.LogProb(), log_prob));
  EXPECT_TRUE(at::equal(b.store.Mean(), mean));
  EXPECT_TRUE(at::equal(b.store.Value().narrow(0, 0, gae.horizon), value.narrow(0, 0, gae.horizon)));
  EXPECT_NEAR(b.last.return_mean, a.last.return_mean, 1e-5);
  const auto& left = a.policy.Network().Parameters().All();
  const auto& right = b.policy.Network().Parameters().All();
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_TRUE(at::allclose(left[i].value, right[i].value, 1e-4, 1e-5)) << left[i].name;
  }
}

TEST(Ppo, VTraceCorrectsTheSamplesOfAnOlderPolicy) {
  PpoConfig config = SmallPpo();
  config.off_policy = "vtrace";
  config.bootstrap_timeouts = false;
  config.rho_clip = 0.9;
  config.c_clip = 0.8;
  Trainer older(1, config), newer(1, config);
  newer.Train(4);
  older.Collect();
  const RolloutStore& store = older.store;
  const int64_t horizon = store.Horizon();
  // What is to come out, from the definitions: the older policy acted, the newer one is to be trained.
  torch::Tensor log_ratio = at::empty({horizon, kEnvs}), value = at::empty({horizon + 1, kEnvs});
  for (int t = 0; t <= store.Horizon(); ++t) value[t].copy_(newer.policy.Values({.state = store.Step("state", t)}));
  std::vector<int64_t> rows(static_cast<size_t>(kEnvs));
  std::iota(rows.begin(), rows.end(), 0);
  for (int t = 0; t < store.Horizon(); ++t) {
    const NetworkInput input = newer.policy.Gather(ToyTrainer::ObservationAt(store, t), rows);
    const ActorOutput actor = newer.policy.Network().Actor(input);
    log_ratio[t].copy_(GaussianLogProb(actor.mean, actor.log_std, store.Action()[t]).detach() - store.LogProb()[t]);
  }
  EXPECT_GT(log_ratio.abs().max().item<float>(), 0.05f);  // the two do differ
  const auto floats = [](const torch::Tensor& x) {
    return std::span<const float>(x.const_data_ptr<float>(), static_cast<size_t>(x.numel()));
  };
  const torch::Tensor reward = store.AfterAction("reward"), done = store.AfterAction("done");
  const torch::Tensor no_final = at::zeros_like(reward);
  std::vector<float> advantage(static_cast<size_t>(reward.numel())), target(advantage.size());
  VTrace({store.Horizon(),
          kEnvs,
          floats(reward),
          floats(value),
          {done.const_data_ptr<uint8_t>(), advantage.size()},
          floats(no_final)},
         floats(log_ratio), {static_cast<float>(config.gamma), static_cast<float>(config.lambda), false}, {0.9f, 0.8f},
         advantage, target);
  const double expected = std::accumulate(target.begin(), target.end(), 0.0) / static_cast<double>(target.size());
  const PpoMetrics metrics = newer.ppo.Update(older.store, 4);
  EXPECT_NEAR(metrics.return_mean, expected, 1e-5);
  EXPECT_TRUE(at::allclose(store.Value().narrow(0, 0, horizon), value.narrow(0, 0, horizon), 1e-5, 1e-6));
}

TEST(Ppo, DivergenceEndsInARunErrorThatSaysWhere) {
  Trainer trainer(1);
  trainer.Collect();
  trainer.store.Step("reward", 2)[0] = std::numeric_limits<float>::infinity();
  try {
    trainer.ppo.Update(trainer.store, 17);
    FAIL() << "nothing was thrown";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("iteration 17"));
  }
}

TEST(Ppo, RefusesAMinibatchThatDoesNotDivide) {
  PpoConfig config = SmallPpo();
  config.minibatch = 50;
  EXPECT_THROW(Trainer(1, config), InputError);
}

TEST(Ppo, UpdatesTheNormaliserWithTheRolloutOnce) {
  Trainer trainer(1);
  EXPECT_EQ(trainer.policy.NormalizerCount(), kEnvs);  // Prime
  trainer.Train(2);
  EXPECT_EQ(trainer.policy.NormalizerCount(), kEnvs + 2 * kEnvs * trainer.store.Horizon());
}

TEST(Ppo, SequencesSeeWhatActingSawAcrossTheEndsOfEpisodes) {
  PpoConfig config = SequencePpo();
  config.epochs = 1;
  config.minibatch = kEnvs * config.horizon;
  Trainer trainer(1, config, WithMemory());
  for (int iteration = 0; iteration < 2; ++iteration) {
    trainer.Train(1);
    EXPECT_NEAR(trainer.last.kl, 0.0, 1e-6);
    EXPECT_EQ(trainer.last.clip_fraction, 0.0);
    EXPECT_NEAR(trainer.last.policy_loss, 0.0, 1e-4);
  }
}

TEST(Ppo, MicroBatchesOfSequencesAddUpToTheMinibatch) {
  PpoConfig whole = SequencePpo(), split = SequencePpo();
  whole.epochs = split.epochs = 1;
  whole.minibatch = split.minibatch = kEnvs * whole.horizon;
  whole.micro_batch = 1 << 20;
  split.micro_batch = 40;
  Trainer a(1, whole, WithMemory()), b(1, split, WithMemory());
  a.Train(1);
  b.Train(1);
  EXPECT_NEAR(a.last.grad_norm, b.last.grad_norm, 1e-5 * a.last.grad_norm);
  EXPECT_NEAR(a.last.value_loss, b.last.value_loss, 1e-5 * a.last.value_loss);
}

// The memory kept every 6 steps and that kept at each lead to the same values of final states: what lies between is
// followed rightly.
TEST(Ppo, TimeOutsAreWorthTheirFinalStateAsTheMemoryThereHasIt) {
  PpoConfig coarse = SequencePpo(), fine = SequencePpo();
  fine.sequence = 1;
  Trainer a(1, coarse, WithMemory()), b(1, fine, WithMemory());
  a.Train(1);
  b.Train(1);
  EXPECT_NEAR(a.last.return_mean, b.last.return_mean, 1e-6);
  PolicyConfig forgetful = WithMemory();
  PpoConfig without = SequencePpo();
  without.bootstrap_timeouts = false;
  Trainer c(1, without, forgetful);
  c.Train(1);
  EXPECT_GT(std::abs(c.last.return_mean - a.last.return_mean), 1e-4);
}

TEST(Ppo, VTraceJudgesSequencesAsTheyWereActed) {
  PpoConfig config = SequencePpo();
  config.off_policy = "vtrace";
  Trainer trainer(1, config, WithMemory());
  trainer.Train(1);
  trainer.Collect();
  const torch::Tensor log_prob = trainer.store.LogProb().clone(), memory = trainer.store.Memory().clone();
  trainer.Learn();
  EXPECT_TRUE(trainer.store.LogProb().equal(log_prob));
  EXPECT_TRUE(trainer.store.Memory()[2].equal(memory[2]));
}

TEST(Ppo, RefusesSequencesThatDoNotDivide) {
  PpoConfig config = SequencePpo();
  config.sequence = 4;
  EXPECT_THROW(Trainer(1, config, WithMemory()), InputError);
  config.sequence = 9;
  EXPECT_THROW(Trainer(1, config, WithMemory()), InputError);  // 96 is not 9 times anything
  EXPECT_NO_THROW(Trainer(1, config));                         // without memory it does not matter
}

}  // namespace
}  // namespace gripstream
