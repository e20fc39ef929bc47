// Tests learner/collector.h and learner/evaluator.h.
#include "learner/collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "learner/evaluator.h"
#include "tests/learner/test_fleet.h"

namespace gripstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::function<Acting(int)> ByPolicy(const Policy& policy, int64_t version) {
  return [&policy, version](int) { return Acting{&policy, version}; };
}

// One rollout from a reset.
RolloutStore Collected(TestFleet& test) {
  const Policy policy = MakePolicy();
  Fleet fleet(test.Wire(), kPatience_s);
  RolloutStore store(FakeSpecs(), kHorizon, kEnvs, kFakeAction);
  CollectTimes times;
  fleet.Reset({}, 0);
  fleet.ReceiveAll(store, 0, times);
  EXPECT_TRUE(CollectRollout(fleet, store, ByPolicy(policy, 0), 100, times));
  return store;
}

void ExpectSame(const RolloutStore& a, const RolloutStore& b) {
  for (const TensorSpec& spec : a.Specs()) {
    EXPECT_TRUE(at::equal(a.Record(spec.name), b.Record(spec.name))) << spec.name;
  }
  EXPECT_TRUE(at::equal(a.Action(), b.Action()));
  EXPECT_TRUE(at::equal(a.LogProb(), b.LogProb()));
  EXPECT_TRUE(at::equal(a.Value(), b.Value()));
}

TEST(Fleet, AGroupIsTheSamePartOfEverySimulator) {
  TestFleet halves(2, 2), whole(2, 1);
  const Fleet fleet(halves.Wire(), kPatience_s);
  ASSERT_EQ(fleet.Groups(), 2);
  EXPECT_THAT(fleet.Ranges(0), ElementsAre(EnvRange{0, 4}, EnvRange{8, 4}));
  EXPECT_THAT(fleet.Ranges(1), ElementsAre(EnvRange{4, 4}, EnvRange{12, 4}));
  const Fleet lockstep(whole.Wire(), kPatience_s);
  ASSERT_EQ(lockstep.Groups(), 1);
  EXPECT_THAT(lockstep.Ranges(0), ElementsAre(EnvRange{0, kEnvs}));
}

TEST(CollectRollout, TwoGroupsMakeTheSameBitsAsOne) {
  TestFleet lockstep(1, 1), halves(1, 2), halves_of_two(2, 2);
  const RolloutStore reference = Collected(lockstep);
  EXPECT_GT(reference.Record("done").sum().item<int>(), kEnvs);  // episodes have ended and begun within it
  ExpectSame(Collected(halves), reference);
  ExpectSame(Collected(halves_of_two), reference);
}

TEST(CollectRollout, WhileOneGroupStepsTheOtherIsActedFor) {
  TestFleet plain(1, 1), held(1, 2, {.waits_for_next_group = true});
  ExpectSame(Collected(held), Collected(plain));
}

TEST(CollectRollout, GoesOnFromTheLastObservations) {
  TestFleet lockstep(1, 1), halves(2, 2);
  const Policy policy = MakePolicy();
  std::vector<torch::Tensor> ends;
  for (TestFleet* test : {&lockstep, &halves}) {
    Fleet fleet(test->Wire(), kPatience_s);
    RolloutStore store(FakeSpecs(), kHorizon, kEnvs, kFakeAction);
    CollectTimes times;
    fleet.Reset({}, 0);
    fleet.ReceiveAll(store, 0, times);
    for (int64_t i = 0; i < 3; ++i) {
      CollectRollout(fleet, store, ByPolicy(policy, i), static_cast<uint64_t>(i) * kHorizon, times);
      store.BeginAfter(store);
    }
    ends.push_back(store.Step("state", 0).clone());
  }
  EXPECT_TRUE(at::equal(ends[0], ends[1]));
}

TEST(Fleet, SavedStatesFitAnyGrouping) {
  TestFleet halves(2, 2), lockstep(1, 1);
  const RolloutStore collected = Collected(halves);
  Fleet from(halves.Wire(), kPatience_s), to(lockstep.Wire(), kPatience_s);
  RolloutStore loaded(FakeSpecs(), 1, kEnvs, kFakeAction);
  CollectTimes times;
  const std::vector<std::byte> states = from.SaveStates().bytes;
  to.LoadStates(states, 0);
  to.ReceiveAll(loaded, 0, times);
  EXPECT_TRUE(at::equal(loaded.Step("state", 0), collected.Step("state", kHorizon)));
  EXPECT_EQ(to.SaveStates().bytes, states);
  from.LoadStates(states, 0);
  from.ReceiveAll(loaded, 0, times);
  EXPECT_TRUE(at::equal(loaded.Step("state", 0), collected.Step("state", kHorizon)));
}

TEST(Fleet, ARecordOfTheWrongGroupIsNamed) {
  TestFleet test(2, 2, {.swaps_groups = true});
  Fleet fleet(test.Wire(), kPatience_s);
  RolloutStore store(FakeSpecs(), 1, kEnvs, kFakeAction);
  CollectTimes times;
  fleet.Reset({}, 0);
  try {
    fleet.ReceiveAll(store, 0, times);
    FAIL() << "a record of the other group was taken";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("fake 0"));
    EXPECT_THAT(error.what(), HasSubstr("group 1"));
  }
}

TEST(Fleet, SimulatorsOfDifferentModesAreRefused) {
  TestFleet test({{.env_begin = 0, .env_count = 8, .groups = 1}, {.env_begin = 8, .env_count = 8, .groups = 2}});
  EXPECT_THROW(Fleet(test.Wire(), kPatience_s), RunError);
}

TEST(Evaluate, PlaysEveryEpisodeOnceWhateverTheGrouping) {
  constexpr int kEpisodes = 2 * kEnvs + 6;  // the last round leaves the second half without work
  EvaluationRequest request;
  request.episodes = kEpisodes;
  std::vector<EvaluationResult> results;
  for (const int groups : {1, 2}) {
    TestFleet test(1, groups);
    Fleet fleet(test.Wire(), kPatience_s);
    results.push_back(Evaluate(fleet, LearnerGroup(), FakeSpecs(), MakePolicy(), request));
    EXPECT_EQ(results.back().episodes, kEpisodes);
    EXPECT_EQ(results.back().successes, kEpisodes / 2);  // environments of even number succeed
    EXPECT_EQ(results.back().objects.at(0).episodes, 4 + 4 + 2);
    EXPECT_EQ(results.back().objects.at(0).successes, 4 + 4 + 2);
    EXPECT_EQ(results.back().objects.at(3).successes, 0);
  }
  EXPECT_EQ(results[0].return_mean, results[1].return_mean);
  EXPECT_GT(results[0].return_mean, 0.3 * 7);  // rewards grow with the environment's number
}

TEST(Evaluate, TellsHowEpisodesEndAndWhyTheyFail) {
  EvaluationRequest request;
  request.episodes = kEnvs;
  request.judge = {{"steps", "near"}, {{"never near", "near", true}, {"left again", "near"}, {"no other", ""}}};
  TestFleet test(1, 2);
  Fleet fleet(test.Wire(), kPatience_s);
  const EvaluationResult result = Evaluate(fleet, LearnerGroup(), FakeSpecs(), MakePolicy(), request);
  EXPECT_THAT(result.failures,
              ElementsAre(Pair("never near", kEnvs / 4), Pair("left again", kEnvs / 4), Pair("no other", 0)));
  int steps = 0;
  for (int id = 0; id < kEnvs; ++id) steps += 2 + id % 3;
  EXPECT_THAT(result.metrics_at_end,
              ElementsAre(Pair("steps", testing::DoubleEq(static_cast<double>(steps) / kEnvs)), Pair("near", 0)));
}

}  // namespace
}  // namespace gripstream
