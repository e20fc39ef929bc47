// Tests learner/fleet_losses.cc: collection goes on when simulators are lost, in every mode, with real processes.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "core/error.h"
#include "learner/evaluator.h"
#include "learner/rollout_source.h"
#include "policies/inference.h"
#include "tests/learner/traced_simulator.h"
#include "tests/wire/child.h"
#include "tests/wire/relay.h"
#include "tests/wire/wire_fixture.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

constexpr int kSimulators = 3, kEnvsEach = 8, kAll = kSimulators * kEnvsEach, kSteps = 6, kChunkEnvs = 4;
constexpr double kLongest_s = 30;

Policy SmallPolicy() {
  PolicyConfig config;
  config.name = "state_mlp";
  config.actor_hidden = config.critic_hidden = {8};
  config.inference_chunk = kChunkEnvs;
  return Policy(config, {.proprio = kFakeState, .state = kFakeState, .action = kFakeAction}, 3);
}

RolloutStore StoreOf(int horizon) {
  return RolloutStore(FakeSpecs(), horizon, kAll, kFakeAction);
}

struct Case {
  const char* mode;
  int groups;
  bool asynchronous;
  const char* transport;
};

// Simulators in processes of their own, a learner's collection here.
class Lost : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    config_ = ConfigFor(GetParam().transport, folder_.Path());
    config_.deadline_s = 2;
  }
  void TearDown() override {
    source_.reset();
    if (!wire_) return;
    EXPECT_THAT(wire_->Stop("the test is over", Deadline::After(5)), testing::IsEmpty());
  }

  // Joins after `delay_s`. Call from the main thread: a child ends with the thread that made it.
  Child& Start(int index, double step_s = 0, const WireConfig* config = nullptr, double delay_s = 0) {
    const TracedOptions options{.index = index, .envs = kEnvsEach, .groups = GetParam().groups, .step_s = step_s};
    const WireConfig used = config ? *config : config_;
    children_.push_back(std::make_unique<Child>(
        [=] {
          std::this_thread::sleep_for(std::chrono::duration<double>(delay_s));
          ServeTraced(used, options);
        },
        false));
    return *children_.back();
  }
  void StartAll() {
    for (int index = 0; index < kSimulators; ++index) Start(index);
    Join();
    Begin();
  }
  void Listen() { wire_ = ListenForSimulators(config_, {.run_id = "run", .specs = FakeSpecs(), .total_envs = kAll}); }
  void Join(const LossRule& rule = {.replace = true, .within_s = kLongest_s}) {
    if (!wire_) Listen();
    wire_->WaitForSimulators(kSimulators, Deadline::After(kLongest_s));
    fleet_ = std::make_unique<Fleet>(*wire_, kLongest_s, rule);
  }
  void Begin() {
    if (GetParam().asynchronous) {
      std::vector<RolloutStore> stores;
      for (int i = 0; i < 3; ++i) stores.push_back(StoreOf(kSteps));
      source_ = std::make_unique<AsynchronousSource>(*fleet_, policy_, std::move(stores),
                                                     AsynchronousOptions{.max_staleness = 2});
    } else {
      source_ = std::make_unique<SynchronousSource>(*fleet_, policy_, StoreOf(kSteps));
    }
    CollectTimes times;
    fleet_->Reset({}, 0);
    fleet_->ReceiveAll(source_->First(0), 0, times);
    source_->Begin(0);
    source_->AllowUpTo(1 << 30);
  }

  // One rollout, whole, that goes on where the last one ended. How many samples are lost in it.
  int64_t Next() {
    const Rollout* rollout = source_->Next();
    EXPECT_NE(rollout, nullptr);
    const RolloutStore& store = *rollout->store;
    ExpectWhole(store);
    const bool goes_on = !last_.defined() || at::equal(last_, store.Step("state", 0));
    EXPECT_TRUE(goes_on) << "a gap before " << rollouts_;
    last_ = store.Step("state", kSteps).clone();
    const int64_t lost = LostSamples(store);
    ++rollouts_;
    source_->Learned();
    return lost;
  }
  // Until a rollout without losses has come; how many samples were lost until then.
  int64_t UntilWhole() {
    int64_t lost = 0;
    for (const Deadline deadline = Deadline::After(kLongest_s); !deadline.Passed();) {
      const int64_t here = Next();
      lost += here;
      if (here == 0) return lost;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADD_FAILURE() << "nobody came back";
    return lost;
  }
  int64_t UntilLoss() {
    for (const Deadline deadline = Deadline::After(kLongest_s); !deadline.Passed();) {
      if (const int64_t lost = Next()) return lost;
    }
    ADD_FAILURE() << "nobody was lost";
    return 0;
  }

  SocketFolder folder_;
  WireConfig config_;
  std::vector<std::unique_ptr<Child>> children_;
  std::unique_ptr<LearnerEnd> wire_;
  std::unique_ptr<Fleet> fleet_;
  Policy policy_ = SmallPolicy();
  std::unique_ptr<RolloutSource> source_;
  torch::Tensor last_;
  int64_t rollouts_ = 0;
};

TEST_P(Lost, TheOthersGoOnWhenOneIsKilledAndItsReplacementBeginsNewEpisodes) {
  StartAll();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Next(), 0);
  children_[1]->Kill();
  EXPECT_LE(UntilLoss(), kEnvsEach * kSteps);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Next(), kEnvsEach * kSteps);  // only its own
  EXPECT_EQ(fleet_->Losses().simulators, 1);
  EXPECT_EQ(fleet_->Losses().replacements, 0);
  Start(1);
  EXPECT_GT(UntilWhole(), 0);
  EXPECT_EQ(Next(), 0);
  EXPECT_EQ(fleet_->Losses().replacements, 1);
  EXPECT_GT(fleet_->Losses().absent_s, 0);
  // Nobody has played these before.
  EXPECT_GT(last_[kEnvsEach][kTracedEpisode].item<float>(), static_cast<float>(3 * kSteps));
  EXPECT_LT(last_[0][kTracedEpisode].item<float>(), static_cast<float>(rollouts_ * kSteps));
}

TEST_P(Lost, OneThatIsStoppedIsReplacedAndDisturbsNobodyWhenItWakes) {
  StartAll();
  EXPECT_EQ(Next(), 0);
  children_[2]->Stop();
  EXPECT_GT(UntilLoss(), 0);
  Start(2);
  EXPECT_GE(UntilWhole(), 0);
  children_[2]->Continue();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Next(), 0);
  EXPECT_EQ(children_[2]->ExitCode(10), 1);
}

TEST_P(Lost, OneThatIsTenTimesSlowerIsWaitedFor) {
  for (int index = 0; index < kSimulators; ++index) Start(index, index == 1 ? 0.02 : 0.002);
  Join();
  Begin();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Next(), 0);
  EXPECT_EQ(fleet_->Losses().simulators, 0);
}

TEST_P(Lost, OneThatFlapsIsReplacedEveryTime) {
  StartAll();
  for (int i = 0; i < 4; ++i) {
    children_.back()->Kill();
    EXPECT_GT(UntilLoss(), 0);
    Start(2);
    UntilWhole();
  }
  EXPECT_EQ(fleet_->Losses().simulators, 4);
  EXPECT_EQ(fleet_->Losses().replacements, 4);
}

TEST_P(Lost, ASpareTakesOverAtOnce) {
  StartAll();
  Child& spare = Start(-1);
  for (const Deadline patience = Deadline::After(kLongest_s); wire_->Spares() == 0 && !patience.Passed();) Next();
  children_[0]->Kill();
  // The step under way, and the spare's first record in place of the next one.
  EXPECT_LE(UntilLoss() + UntilWhole(), 2 * kEnvsEach);
  EXPECT_EQ(wire_->Spares(), 0);
  EXPECT_EQ(wire_->Peers()[0].pid, static_cast<uint64_t>(spare.Pid()));
}

TEST_P(Lost, WhenAllAreLostCollectionWaits) {
  StartAll();
  EXPECT_EQ(Next(), 0);
  for (int index = 0; index < kSimulators; ++index) children_[static_cast<size_t>(index)]->Kill();
  for (int index = 0; index < kSimulators; ++index) Start(index, 0, nullptr, 0.5);
  UntilLoss();
  UntilWhole();
  EXPECT_EQ(fleet_->Losses().replacements, kSimulators);
}

TEST_P(Lost, WithoutAReplacementInTimeTheRunEndsAndSaysWhoIsMissing) {
  for (int index = 0; index < kSimulators; ++index) Start(index);
  Join({.replace = true, .within_s = 0.3});
  Begin();
  children_[1]->Kill();
  try {
    for (const Deadline patience = Deadline::After(kLongest_s); !patience.Passed();) Next();
    FAIL() << "collection went on for ever";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("runtime.replace_within_s"));
    EXPECT_THAT(error.what(), HasSubstr("simulator 'sim 1'"));
    EXPECT_THAT(error.what(), HasSubstr("environments [8, 16)"));
  }
}

TEST_P(Lost, WithoutTheRuleALossEndsTheRunAndIsNamed) {
  for (int index = 0; index < kSimulators; ++index) Start(index);
  Join({});
  Begin();
  children_[2]->Kill();
  try {
    for (int i = 0; i < 1000; ++i) Next();
    FAIL() << "the loss went unnoticed";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("simulator 'sim 2'"));
  }
}

TEST_P(Lost, AnEvaluationIsPlayedAgainToTheSameResult) {
  for (int index = 0; index < kSimulators; ++index) Start(index, 0.01);
  Join();
  EvaluationRequest request;
  request.episodes = 2 * kAll + 5;
  const EvaluationResult undisturbed = Evaluate(*fleet_, LearnerGroup(), FakeSpecs(), policy_, request);
  Start(-1);
  std::thread killer([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    children_[1]->Kill();
  });
  const EvaluationResult disturbed = Evaluate(*fleet_, LearnerGroup(), FakeSpecs(), policy_, request);
  killer.join();
  EXPECT_EQ(fleet_->Losses().simulators, 1);
  EXPECT_EQ(disturbed.episodes, undisturbed.episodes);
  EXPECT_EQ(disturbed.successes, undisturbed.successes);
  EXPECT_EQ(disturbed.return_mean, undisturbed.return_mean);
}

TEST_P(Lost, StatesSayWhichEnvironmentsAreLostAndTakeThemFromElsewhere) {
  StartAll();
  Next();
  source_->Stop();
  children_[1]->Kill();
  EnvStates states = fleet_->SaveStates();
  ASSERT_EQ(states.lost.size(), static_cast<size_t>(kAll));
  for (int env = 0; env < kAll; ++env) EXPECT_EQ(states.lost[static_cast<size_t>(env)], env / kEnvsEach == 1) << env;
  Start(1);
  ASSERT_TRUE(fleet_->AwaitAll());
  CollectTimes times;
  RolloutStore store = StoreOf(1);
  EpisodeRequest request;
  request.first_episode = 500;
  fleet_->Reset(request, 0);
  fleet_->ReceiveAll(store, 0, times);
  states.TakeLostFrom(fleet_->SaveStates());
  EXPECT_FALSE(states.AnyLost());
  fleet_->LoadStates(states.bytes, 0);
  fleet_->ReceiveAll(store, 0, times);
  for (int env = 0; env < kAll; ++env) {
    EXPECT_EQ(store.Step("state", 0)[env][kTracedEpisode].item<float>() == 500, env / kEnvsEach == 1) << env;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Lost,
                         testing::Values(Case{"lockstep", 1, false, "shm"}, Case{"double_buffered", 2, false, "shm"},
                                         Case{"async", 2, true, "shm"}, Case{"lockstep", 1, false, "zmq_ipc"},
                                         Case{"double_buffered", 2, false, "zmq_tcp"},
                                         Case{"async", 2, true, "zmq_curve"}),
                         [](const auto& named) { return std::string(named.param.mode) + "_" + named.param.transport; });

class CutOff : public Lost {};

// The cable is pulled, and plugged in again when the place has been taken.
TEST_P(CutOff, ASimulatorBehindACutLinkIsReplacedAndDisturbsNobodyWhenTheLinkIsBack) {
  Listen();  // the relay reaches nobody otherwise
  Relay relay(std::stoi(config_.address.substr(config_.address.rfind(':') + 1)));
  WireConfig through = config_;
  through.address = relay.Address();
  Start(0);
  Start(1, 0, &through);
  Start(2);
  Join();
  Begin();
  EXPECT_EQ(Next(), 0);
  relay.Cut();
  EXPECT_GT(UntilLoss(), 0);
  Start(1);
  UntilWhole();
  relay.Mend();
  for (int i = 0; i < 30; ++i) EXPECT_EQ(Next(), 0);
  EXPECT_EQ(children_[1]->ExitCode(10), 1);
}

INSTANTIATE_TEST_SUITE_P(Each, CutOff,
                         testing::Values(Case{"lockstep", 1, false, "zmq_tcp"}, Case{"async", 2, true, "zmq_tcp"}),
                         [](const auto& named) { return named.param.mode; });

}  // namespace
}  // namespace gripstream
