// Tests learner/open_collection.h: rollouts that close without stragglers.
#include "learner/open_collection.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <thread>

#include "core/error.h"
#include "learner/rollout_source.h"
#include "tests/learner/traced_simulator.h"
#include "tests/wire/child.h"
#include "tests/wire/wire_fixture.h"

namespace gripstream {
namespace {

constexpr int kSimulators = 3, kEnvsEach = 8, kAll = kSimulators * kEnvsEach, kSteps = 6, kStraggler = 1;
constexpr double kQuick_s = 0.001, kLongest_s = 30;

Policy SmallPolicy() {
  PolicyConfig config;
  config.name = "state_mlp";
  config.actor_hidden = config.critic_hidden = {8};
  config.inference_chunk = 4;
  return Policy(config, {.proprio = kFakeState, .state = kFakeState, .action = kFakeAction}, 3);
}

RolloutStore StoreOf(int horizon) {
  return RolloutStore(FakeSpecs(), horizon, kAll, kFakeAction);
}

// Stands for an update: a change that depends on the version alone.
void Learn(Policy& policy, int64_t version) {
  const torch::NoGradGuard no_grad;
  for (const NamedTensor& parameter : policy.Network().Parameters().All()) {
    parameter.value.detach().mul_(1.0 + 0.05 / static_cast<double>(version + 1));
  }
}

// Two quick simulators and a straggler, in processes of their own.
class Open : public testing::Test {
 protected:
  void Start(double straggler_s, int max_staleness, double close_fraction) {
    config_.deadline_s = 2;
    for (int index = 0; index < kSimulators; ++index) StartOne(index, index == kStraggler ? straggler_s : kQuick_s);
    wire_ = ListenForSimulators(config_, {.run_id = "run", .specs = FakeSpecs(), .total_envs = kAll});
    wire_->WaitForSimulators(kSimulators, Deadline::After(kLongest_s));
    fleet_ = std::make_unique<Fleet>(*wire_, kLongest_s, LossRule{.replace = true, .within_s = kLongest_s});
    Begin(max_staleness, close_fraction, 0);
  }
  // Collection from new episodes, the first of which is counted `episode`.
  void Begin(int max_staleness, double close_fraction, uint32_t episode) {
    std::vector<RolloutStore> stores;
    for (int i = 0; i <= max_staleness; ++i) stores.push_back(StoreOf(kSteps));
    source_ = std::make_unique<AsynchronousSource>(
        *fleet_, policy_, std::move(stores),
        AsynchronousOptions{.max_staleness = max_staleness, .close_fraction = close_fraction});
    CollectTimes times;
    EpisodeRequest request;
    request.first_episode = episode;
    fleet_->Reset(request, 0);
    fleet_->ReceiveAll(source_->First(0), 0, times);
    source_->Begin(0);
  }
  Child& StartOne(int index, double step_s) {
    const TracedOptions options{.index = index, .envs = kEnvsEach, .groups = 2, .step_s = step_s};
    children_.push_back(std::make_unique<Child>([=, this] { ServeTraced(config_, options); }, false));
    return *children_.back();
  }
  void TearDown() override {
    source_.reset();
    if (!wire_) return;
    EXPECT_THAT(wire_->Stop("the test is over", Deadline::After(5)), testing::IsEmpty());
  }

  // Checks the next rollout and learns from it.
  const Rollout& Next() {
    const Rollout* rollout = source_->Next();
    EXPECT_NE(rollout, nullptr);
    const RolloutStore& store = *rollout->store;
    ExpectWhole(store);
    ExpectNoGap(store);
    ExpectLikelihoods(store);
    staleness_ = StalenessOf(store, version_);
    counted_ = store.AfterAction("done").lt(static_cast<int>(DoneKind::kLost)).sum(0).to(torch::kInt64).clone();
    Learn(policy_, version_++);
    source_->Learned();
    return *rollout;
  }
  int64_t Counted(int env) const { return counted_[env].item<int64_t>(); }

  // What counts of an environment goes on where what counted before ended: once, and nothing is missing, unless its
  // simulator was another one.
  void ExpectNoGap(const RolloutStore& store) {
    const torch::Tensor state = store.Record("state");
    for (int env = 0; env < kAll; ++env) {
      for (int t = 0; t < kSteps; ++t) {
        if (!Counts(store, t, env)) continue;
        const torch::Tensor before = state[t][env], &last = last_[env];
        if (last.defined() && last[kTracedProcess].equal(before[kTracedProcess])) {
          ASSERT_TRUE(at::equal(last, before)) << "rollout " << version_ << ", step " << t << ", environment " << env;
        }
        last_[env] = state[t + 1][env].clone();
      }
    }
  }

  // Each action's likelihood is that of the version it is stored with.
  void ExpectLikelihoods(const RolloutStore& store) {
    if (versions_.size() <= static_cast<size_t>(version_)) versions_.push_back(policy_.Clone());
    for (int t = 0; t < kSteps; ++t) {
      std::map<int64_t, torch::Tensor> likelihood;
      for (int env = 0; env < kAll; ++env) {
        if (!Counts(store, t, env)) continue;
        const int64_t version = store.Versions()[t][env].item<int64_t>();
        ASSERT_LE(version, version_);
        torch::Tensor& row = likelihood[version];
        if (!row.defined()) {
          row = at::empty({kAll});
          versions_[static_cast<size_t>(version)].Act(ObservationAt(store, t), {.taken = store.Action()[t]},
                                                      {.log_prob = row});
        }
        ASSERT_EQ(row[env].item<float>(), store.LogProb()[t][env].item<float>()) << "step " << t << " of " << env;
      }
    }
  }

  SocketFolder folder_;
  WireConfig config_ = ConfigFor("shm", folder_.Path());
  std::vector<std::unique_ptr<Child>> children_;
  std::unique_ptr<LearnerEnd> wire_;
  std::unique_ptr<Fleet> fleet_;
  Policy policy_ = SmallPolicy();
  std::vector<Policy> versions_;
  std::unique_ptr<RolloutSource> source_;
  int64_t version_ = 0;
  Staleness staleness_;
  torch::Tensor counted_;              // [N] samples of each environment in the last rollout
  std::map<int, torch::Tensor> last_;  // by environment: where its last sample led
};

TEST_F(Open, AStragglersTrajectoryIsCarriedWholeIntoALaterRollout) {
  Start(4 * kQuick_s, 6, 0.6);
  source_->AllowUpTo(1 << 30);
  int carried = 0, came = 0;
  for (int i = 0; i < 40; ++i) {
    const int envs = Next().carried_envs;
    carried += envs > 0;
    for (const int env : {kEnvsEach, 2 * kEnvsEach - 1}) {
      EXPECT_TRUE(Counted(env) == 0 || Counted(env) == kSteps) << "a piece of a trajectory";
      came += Counted(env) == kSteps;
    }
    EXPECT_LE(staleness_.max, 6);
  }
  EXPECT_GT(carried, 10);
  EXPECT_GT(came, 8);
  EXPECT_EQ(fleet_->Losses().simulators, 0);
}

TEST_F(Open, AStragglerIsWaitedForBeforeItsStepsAreTooStale) {
  Start(20 * kQuick_s, 2, 0.5);
  source_->AllowUpTo(1 << 30);
  int came = 0;
  for (int i = 0; i < 12; ++i) {
    Next();
    EXPECT_LE(staleness_.max, 2);
    came += Counted(kEnvsEach) == kSteps;
  }
  EXPECT_GE(came, 4);  // at the latest every third
}

TEST_F(Open, WithoutStragglersNobodyHasToWaitOrIsLeftOut) {
  Start(kQuick_s, 2, 0.99);
  source_->AllowUpTo(1 << 30);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Next().carried_envs, 0);
    EXPECT_EQ(Counted(kEnvsEach), kSteps);
  }
}

TEST_F(Open, AllStandStillAtTheLimit) {
  Start(5 * kQuick_s, 3, 0.5);
  for (int64_t limit = 5; limit <= 15; limit += 5) {
    source_->AllowUpTo(limit);
    for (int i = 0; i < 4; ++i) Next();
    EXPECT_EQ(Next().carried_envs, 0);
    const EnvStates states = fleet_->SaveStates();
    EXPECT_FALSE(states.AnyLost());
    EXPECT_FALSE(states.bytes.empty());
  }
}

TEST_F(Open, AStragglerThatIsKilledIsReplacedAndNothingElseIsLost) {
  Start(5 * kQuick_s, 6, 0.6);
  source_->AllowUpTo(1 << 30);
  for (int i = 0; i < 5; ++i) Next();
  children_[kStraggler]->Kill();
  for (const Deadline patience = Deadline::After(kLongest_s); fleet_->Losses().simulators == 0;) {
    ASSERT_FALSE(patience.Passed());
    Next();
  }
  for (int i = 0; i < 10; ++i) Next();
  EXPECT_EQ(Counted(kEnvsEach), 0);
  EXPECT_EQ(Counted(0), kSteps);
  StartOne(kStraggler, kQuick_s);
  for (const Deadline patience = Deadline::After(kLongest_s); Counted(kEnvsEach) < kSteps;) {
    ASSERT_FALSE(patience.Passed());
    Next();
  }
  EXPECT_EQ(fleet_->Losses().replacements, 1);
}

// Between two rollouts, too, when stragglers carry their steps from one to the next.
TEST_F(Open, StopsWithNothingUnderWay) {
  Start(5 * kQuick_s, 4, 0.5);
  for (uint32_t episode = 77; episode < 97; ++episode) {
    Begin(4, 0.5, episode);
    const torch::Tensor first = source_->First(0).Step("state", 0).select(1, kTracedEpisode).clone();
    ASSERT_TRUE(first.eq(static_cast<double>(episode)).all().item<bool>()) << first;
    source_->AllowUpTo(1 << 30);
    ASSERT_NE(source_->Next(), nullptr);
    source_->Stop();
    EXPECT_FALSE(fleet_->SaveStates().bytes.empty());
  }
}

}  // namespace
}  // namespace gripstream
