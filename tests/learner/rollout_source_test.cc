// Tests learner/rollout_source.h and learner/policy_board.h.
#include "learner/rollout_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/error.h"
#include "tests/learner/test_fleet.h"

namespace gripstream {
namespace {

using testing::Each;
using testing::HasSubstr;

RolloutStore MakeStore() {
  return RolloutStore(FakeSpecs(), kHorizon, kEnvs, kFakeAction);
}

// Stands for an update: a change that depends on the version alone.
void Learn(Policy& policy, int64_t version) {
  const torch::NoGradGuard no_grad;
  for (const NamedTensor& parameter : policy.Network().Parameters().All()) {
    parameter.value.detach().mul_(1.0 + 0.05 / static_cast<double>(version + 1));
  }
}

// A fleet with a source over it; rollouts come one after another from Learned to Learned.
struct Collection {
  TestFleet test;
  Fleet fleet;
  Policy policy = MakePolicy();
  std::unique_ptr<RolloutSource> source;
  int64_t version = 0;

  explicit Collection(int groups, const FakeSimulatorOptions& simulators = {})
      : test(1, groups, simulators), fleet(test.Wire(), kPatience_s) {}

  void UseSynchronous() {
    source = std::make_unique<SynchronousSource>(fleet, policy, MakeStore());
    Begin();
  }
  void UseAsynchronous(const AsynchronousOptions& options) {
    std::vector<RolloutStore> stores;
    for (int i = 0; i <= options.max_staleness; ++i) stores.push_back(MakeStore());
    source = std::make_unique<AsynchronousSource>(fleet, policy, std::move(stores), options);
    Begin();
  }
  void Begin() {
    CollectTimes times;
    fleet.Reset({}, 0);
    fleet.ReceiveAll(source->First(0), 0, times);
    source->Begin(0);
  }
  void LearnFromLast() {
    Learn(policy, version++);
    source->Learned();
  }
};

// By which version each step was acted for, all environments alike.
std::vector<int64_t> VersionsOf(const RolloutStore& store) {
  std::vector<int64_t> versions;
  for (int t = 0; t < store.Horizon(); ++t) {
    versions.push_back(store.Versions()[t][0].item<int64_t>());
    EXPECT_TRUE(store.Versions()[t].eq(versions.back()).all().item<bool>());
  }
  return versions;
}

// What a rollout held, in a memory of its own.
struct Seen {
  torch::Tensor first, last, action, log_prob;
  std::vector<int64_t> versions;
  explicit Seen(const RolloutStore& store)
      : first(store.Step("state", 0).clone()),
        last(store.Step("state", kHorizon).clone()),
        action(store.Action().clone()),
        log_prob(store.LogProb().clone()),
        versions(VersionsOf(store)) {}
};

std::vector<Seen> CollectSeveral(Collection& collection, int count) {
  std::vector<Seen> seen;
  collection.source->AllowUpTo(count);
  for (int i = 0; i < count; ++i) {
    const Rollout* rollout = collection.source->Next();
    seen.emplace_back(*rollout->store);
    collection.LearnFromLast();
  }
  return seen;
}

TEST(AsynchronousSource, WithoutStalenessCollectsTheBitsOfLockstep) {
  Collection lockstep(1), async(2);
  lockstep.UseSynchronous();
  async.UseAsynchronous({.max_staleness = 0});
  const std::vector<Seen> a = CollectSeveral(lockstep, 5), b = CollectSeveral(async, 5);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(at::equal(a[i].action, b[i].action)) << i;
    EXPECT_TRUE(at::equal(a[i].log_prob, b[i].log_prob)) << i;
    EXPECT_TRUE(at::equal(a[i].last, b[i].last)) << i;
    EXPECT_EQ(a[i].versions, b[i].versions) << i;
  }
}

TEST(AsynchronousSource, CollectsAheadWhileTheLearnerIsBusyButNoFurtherThanAllowed) {
  Collection collection(2);
  collection.UseAsynchronous({.max_staleness = 2, .patience_s = 0.4});
  collection.source->AllowUpTo(10);
  // Nothing is learned in between: three rollouts by version 0 are there, the fourth would be staler than 2.
  for (int i = 0; i < 3; ++i) EXPECT_THAT(VersionsOf(*collection.source->Next()->store), Each(0)) << i;
  try {
    collection.source->Next();
    FAIL() << "collection was not paced";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("timed out"));
  }
}

TEST(AsynchronousSource, NothingIsStalerThanAllowedAndNothingIsLost) {
  for (const int bound : {0, 1, 3}) {
    Collection collection(2);
    collection.UseAsynchronous({.max_staleness = bound});
    collection.source->AllowUpTo(12);
    torch::Tensor last;
    for (int64_t k = 0; k < 12; ++k) {
      const Rollout* rollout = collection.source->Next();
      const RolloutStore& store = *rollout->store;
      EXPECT_LE(StalenessOf(store, k).max, bound);
      const std::vector<int64_t> versions = VersionsOf(store);
      EXPECT_LE(versions.back(), k);
      EXPECT_TRUE(std::is_sorted(versions.begin(), versions.end()));
      if (k > 0) {
        EXPECT_TRUE(at::equal(store.Step("state", 0), last)) << "a gap before rollout " << k;
      }
      last = store.Step("state", kHorizon).clone();
      if (k % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      collection.LearnFromLast();
    }
  }
}

TEST(AsynchronousSource, TheStoredLikelihoodIsThatOfTheVersionThatActed) {
  Collection collection(2);
  collection.UseAsynchronous({.max_staleness = 2});
  std::vector<Policy> versions;
  collection.source->AllowUpTo(6);
  for (int64_t k = 0; k < 6; ++k) {
    versions.push_back(collection.policy.Clone());
    const RolloutStore& store = *collection.source->Next()->store;
    for (int t = 0; t < kHorizon; ++t) {
      const torch::Tensor likelihood = at::empty({kEnvs});
      versions[static_cast<size_t>(VersionsOf(store)[static_cast<size_t>(t)])].Act(
          ObservationAt(store, t), {.taken = store.Action()[t]}, {.log_prob = likelihood});
      EXPECT_TRUE(at::equal(likelihood, store.LogProb()[t])) << "rollout " << k << " step " << t;
    }
    collection.LearnFromLast();
  }
}

TEST(AsynchronousSource, DeterministicCollectionIsTheSameHoweverFastTheLearnerIs) {
  Collection quick(2), slow(2);
  quick.UseAsynchronous({.max_staleness = 2, .deterministic = true});
  slow.UseAsynchronous({.max_staleness = 2, .deterministic = true});
  slow.source->AllowUpTo(7);
  quick.source->AllowUpTo(7);
  for (int64_t k = 0; k < 7; ++k) {
    const Seen a(*quick.source->Next()->store), b(*slow.source->Next()->store);
    EXPECT_THAT(a.versions, Each(std::max<int64_t>(k - 2, 0)));
    EXPECT_TRUE(at::equal(a.action, b.action)) << k;
    quick.LearnFromLast();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    slow.LearnFromLast();
  }
}

TEST(AsynchronousSource, StandsStillAtTheLimitWithTheEnvironmentsOfItsVersion) {
  Collection collection(2);
  collection.UseAsynchronous({.max_staleness = 1, .deterministic = true});
  const std::vector<Seen> before = CollectSeveral(collection, 3);
  RolloutStore loaded(FakeSpecs(), 1, kEnvs, kFakeAction);
  CollectTimes times;
  const std::vector<std::byte> states = collection.fleet.SaveStates().bytes;
  collection.fleet.LoadStates(states, 3);
  collection.fleet.ReceiveAll(loaded, 0, times);
  EXPECT_TRUE(at::equal(loaded.Step("state", 0), before.back().last));
  collection.source->AllowUpTo(5);
  const Seen next(*collection.source->Next()->store);
  EXPECT_TRUE(at::equal(next.first, before.back().last));
  EXPECT_THAT(next.versions, Each(3));  // a run that is resumed here has no older version either
}

TEST(AsynchronousSource, StopEndsItBetweenStepsAndCountsWhatIsLeft) {
  Collection collection(2);
  collection.UseAsynchronous({.max_staleness = 1});
  collection.source->AllowUpTo(100);
  collection.source->Next();
  collection.source->Next();  // version 0 may not collect a third
  EXPECT_EQ(collection.source->Stop(), 0);
  CollectTimes times;
  RolloutStore after(FakeSpecs(), 1, kEnvs, kFakeAction);
  collection.fleet.Reset({}, 0);  // the fleet is free: no record is under way
  collection.fleet.ReceiveAll(after, 0, times);
}

TEST(AsynchronousSource, WhatCollectionThrowsReachesTheLearner) {
  Collection collection(1, {.fails_at_step = 3 * kHorizon + 2});
  collection.UseAsynchronous({.max_staleness = 1});
  collection.source->AllowUpTo(100);
  try {
    for (int i = 0; i < 5; ++i) {
      collection.source->Next();
      collection.LearnFromLast();
    }
    FAIL() << "collection went on without simulators";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("fake 0"));
    EXPECT_THAT(error.what(), HasSubstr("out of order"));
    EXPECT_EQ(collection.version, 3);  // what was collected before has been learned from
  }
}

TEST(PolicyBoard, AReaderSeesWholeVersionsOnly) {
  constexpr int64_t kVersions = 300;
  Policy policy = MakePolicy();
  const auto set = [&](int64_t version) {
    const torch::NoGradGuard no_grad;
    for (const NamedTensor& parameter : policy.Network().Parameters().All()) {
      parameter.value.detach().fill_(static_cast<float>(version));
    }
  };
  PolicyBoard board(1);
  set(0);
  board.Publish(policy, 0);
  std::atomic<int> mixed{0}, seen{0};
  std::thread reader([&] {
    PolicyBoard::Handle held;
    for (int64_t next = 0; board.Take(held, next, false, Deadline::After(10)); next = held->version) {
      for (const NamedTensor& parameter : held->policy.Network().Parameters().All()) {
        mixed += !parameter.value.eq(static_cast<float>(held->version)).all().item<bool>();
      }
      ++seen;
    }
  });
  for (int64_t version = 1; version <= kVersions; ++version) {
    set(version);
    board.Publish(policy, version);
  }
  board.Close();
  reader.join();
  EXPECT_EQ(mixed, 0);
  EXPECT_GT(seen, 0);
}

TEST(PolicyBoard, KeepsAsManyVersionsAsAsked) {
  Policy policy = MakePolicy();
  PolicyBoard board(2);
  for (int64_t version = 0; version < 4; ++version) board.Publish(policy, version);
  PolicyBoard::Handle held;
  ASSERT_TRUE(board.Take(held, 2, true, Deadline::After(1)));
  EXPECT_EQ(held->version, 2);
  ASSERT_TRUE(board.Take(held, 0, false, Deadline::After(1)));
  EXPECT_EQ(held->version, 3);
  EXPECT_THROW(board.Take(held, 0, true, Deadline::After(1)), InternalError);
  EXPECT_THROW(board.Take(held, 4, false, Deadline::After(0.05)), RunError);
}

TEST(StalenessOf, CountsEachStepByItsOwnVersion) {
  RolloutStore store(FakeSpecs(), 4, kEnvs, kFakeAction);
  for (const auto& [t, version] : {std::pair(0, 5), std::pair(1, 5), std::pair(2, 6), std::pair(3, 7)}) {
    store.SetVersion(t, version);
  }
  const Staleness staleness = StalenessOf(store, 7);
  EXPECT_DOUBLE_EQ(staleness.mean, (2 + 2 + 1 + 0) / 4.0);
  EXPECT_EQ(staleness.max, 2);
}

}  // namespace
}  // namespace gripstream
