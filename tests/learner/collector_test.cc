// Tests learner/collector.h and learner/evaluator.h.
#include "learner/collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "learner/evaluator.h"
#include "tests/learner/fake_simulator.h"

namespace gripstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kEnvs = 16, kChunk = 4, kHorizon = 6;

Policy MakePolicy() {
  PolicyConfig config;
  config.name = "state_mlp";
  config.actor_hidden = config.critic_hidden = {8};
  config.inference_chunk = kChunk;
  return Policy(config, {.proprio = kFakeState, .state = kFakeState, .action = kFakeAction}, 3);
}

// A learner's end with its simulators, which share kEnvs environments equally.
class TestFleet {
 public:
  TestFleet(int simulators, int groups, const FakeSimulatorOptions& options = {}) {
    std::vector<FakeSimulatorOptions> all;
    for (int i = 0; i < simulators; ++i) {
      all.push_back(options);
      all.back().env_begin = i * kEnvs / simulators;
      all.back().env_count = kEnvs / simulators;
      all.back().groups = groups;
    }
    Start(all);
  }
  explicit TestFleet(const std::vector<FakeSimulatorOptions>& simulators) { Start(simulators); }
  ~TestFleet() { wire_->Stop("the test is over", Deadline::After(5)); }

  LearnerEnd& Wire() { return *wire_; }

 private:
  void Start(const std::vector<FakeSimulatorOptions>& simulators) {
    static int count = 0;
    WireConfig config;
    config.transport = "inproc";
    config.address = "collector test " + std::to_string(++count);
    wire_ = ListenForSimulators(config, {.run_id = "run", .specs = FakeSpecs(), .total_envs = kEnvs});
    for (const FakeSimulatorOptions& options : simulators) {
      simulators_.push_back(std::make_unique<FakeSimulator>(config, options));
    }
    wire_->WaitForSimulators(static_cast<int>(simulators.size()), Deadline::After(10));
  }

  std::vector<std::unique_ptr<FakeSimulator>> simulators_;  // their threads end once the wire has gone
  std::unique_ptr<LearnerEnd> wire_;
};

constexpr double kPatience_s = 5;

// One rollout from a reset.
RolloutStore Collected(TestFleet& test) {
  Fleet fleet(test.Wire(), kPatience_s);
  RolloutStore store(FakeSpecs(), kHorizon, kEnvs, kFakeAction);
  CollectTimes times;
  fleet.Reset({}, 0);
  fleet.ReceiveAll(store, 0, times);
  EXPECT_TRUE(CollectRollout(fleet, store, MakePolicy(), 100, 0, times));
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
  std::vector<torch::Tensor> ends;
  for (TestFleet* test : {&lockstep, &halves}) {
    Fleet fleet(test->Wire(), kPatience_s);
    RolloutStore store(FakeSpecs(), kHorizon, kEnvs, kFakeAction);
    CollectTimes times;
    fleet.Reset({}, 0);
    fleet.ReceiveAll(store, 0, times);
    for (uint64_t i = 0; i < 3; ++i) {
      CollectRollout(fleet, store, MakePolicy(), i * kHorizon, i, times);
      store.BeginNext();
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
  const std::vector<std::byte> states = from.SaveStates();
  to.LoadStates(states, 0);
  to.ReceiveAll(loaded, 0, times);
  EXPECT_TRUE(at::equal(loaded.Step("state", 0), collected.Step("state", kHorizon)));
  EXPECT_EQ(to.SaveStates(), states);
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
    results.push_back(Evaluate(fleet, FakeSpecs(), MakePolicy(), request));
    EXPECT_EQ(results.back().episodes, kEpisodes);
    EXPECT_EQ(results.back().successes, kEpisodes / 2);  // environments of even number succeed
    EXPECT_EQ(results.back().objects.at(0).episodes, 4 + 4 + 2);
    EXPECT_EQ(results.back().objects.at(0).successes, 4 + 4 + 2);
    EXPECT_EQ(results.back().objects.at(3).successes, 0);
  }
  EXPECT_EQ(results[0].return_mean, results[1].return_mean);
  EXPECT_GT(results[0].return_mean, 0.3 * 7);  // rewards grow with the environment's number
}

}  // namespace
}  // namespace gripstream
