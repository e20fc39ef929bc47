// Tests that a learner goes on when a simulator is lost (wire/transport.h: PeerLost, PutOut, AwaitReplacements), with
// real processes that are killed, stopped, slow, flapping and cut off.
#include <gmock/gmock.h>

#include <chrono>
#include <set>
#include <thread>

#include "tests/wire/child.h"
#include "tests/wire/relay.h"
#include "tests/wire/wire_fixture.h"

namespace gripstream {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kEnvs = 4;  // of each of three simulators

Deadline Soon() {
  return Deadline::After(20);
}

// Answers every step with a whole record whose content says whose and which it is, until it is told to stop.
void Serve(const WireConfig& config, Join join, double step_s = 0) {
  const Layout layout(TestSpecs(), kEnvs);
  const auto end = ConnectTo(config, join, layout, Soon());
  for (uint64_t sequence = 1;; ++sequence) {
    const Command command = end->WaitCommand(Deadline::After(60));
    if (command.kind == CommandKind::kStop) return;
    std::this_thread::sleep_for(std::chrono::duration<double>(step_s));
    const std::span<std::byte> record = end->AcquireRecord(Soon());
    if (record.empty()) continue;
    FillRecord(layout, record, sequence);
    end->PublishRecord();
  }
}

Join JoinOf(int index) {
  return JoinFor(index * kEnvs, kEnvs, "sim " + std::to_string(index));
}
void Serve(const WireConfig& config, int index, double step_s = 0) {
  Serve(config, JoinOf(index), step_s);
}

class Replace : public testing::TestWithParam<std::string> {
 protected:
  SocketFolder folder_;
  WireConfig config_ = ConfigFor(GetParam(), folder_.Path());
  std::vector<std::unique_ptr<Child>> children_;
  std::unique_ptr<LearnerEnd> learner_;
  std::vector<uint64_t> records_;  // of each peer's present simulator

  Child& Start(int index, double step_s = 0, bool stays = false) {
    children_.push_back(std::make_unique<Child>([=, this] { Serve(config_, index, step_s); }, stays));
    return *children_.back();
  }
  // One that waits where its environments are taken; without any of its own when `index` is negative.
  Child& StartSpare(int index) {
    gripstream::Join join = JoinOf(std::max(index, 0));
    if (index < 0) join.env_begin = kAnyEnvs;
    join.spare = 1;
    children_.push_back(std::make_unique<Child>([=, this] { Serve(config_, join); }, false));
    return *children_.back();
  }
  void AwaitSpares(int count) {
    for (const Deadline patience = Soon(); learner_->Spares() != count && !patience.Passed();) Step();
    EXPECT_EQ(learner_->Spares(), count);
  }
  void StartThree() {
    config_.deadline_s = 1;
    for (int index = 0; index < 3; ++index) Start(index);
    Join();
  }
  void Join() {
    learner_ = Listen(config_, OptionsFor(3 * kEnvs));
    learner_->WaitForSimulators(3, Soon());
    records_.assign(3, 0);
  }

  // One step of all who are here: every record whole and of whom it should be. Who is lost is put out; their number.
  int Step() {
    int lost = 0;
    std::set<int> stepped;
    for (int peer = 0; peer < 3; ++peer) {
      if (learner_->Absent(peer)) continue;
      if (Survives(peer, lost, [&] { learner_->Send(peer, CommandKind::kStep, 0, {}); })) stepped.insert(peer);
    }
    for (const int peer : stepped) {
      Survives(peer, lost, [&] {
        const Received received = learner_->ReceiveRecord(peer, Soon());
        EXPECT_TRUE(HoldsRecord(learner_->RecordLayout(peer), received, ++records_[static_cast<size_t>(peer)]));
        EXPECT_EQ(received.header.env_begin, static_cast<uint32_t>(peer * kEnvs));
        learner_->ReleaseRecord(peer, received);
      });
    }
    return lost;
  }
  template <class Body>
  bool Survives(int peer, int& lost, Body body) {
    try {
      body();
      return true;
    } catch (const PeerLost& loss) {
      EXPECT_EQ(loss.Peer(), peer);
      last_loss_ = loss.what();
      learner_->PutOut(peer, loss.what());
      records_[static_cast<size_t>(peer)] = 0;
      ++lost;
      return false;
    }
  }
  void ExpectAllGoOnAndStop() {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(Step(), 0);
    for (const uint64_t count : records_) EXPECT_GE(count, 10u);
    EXPECT_THAT(learner_->Stop("done", Deadline::After(5)), IsEmpty());
  }

  std::string last_loss_;
};

TEST_P(Replace, TheOthersGoOnWhenOneIsKilledAndItsReplacementJoins) {
  StartThree();
  for (int i = 0; i < 5; ++i) ASSERT_EQ(Step(), 0);
  children_[1]->Kill();
  int lost = 0;
  for (int i = 0; i < 20; ++i) lost += Step();
  EXPECT_EQ(lost, 1);
  EXPECT_THAT(last_loss_, HasSubstr("simulator 'sim 1'"));
  EXPECT_TRUE(learner_->Absent(1));
  EXPECT_EQ(learner_->AbsentEnvironments(), "[4, 8)");
  EXPECT_GE(records_[0], 25u);
  EXPECT_THROW(learner_->Send(1, CommandKind::kStep, 0, {}), PeerLost);
  Start(1);
  ASSERT_TRUE(learner_->AwaitReplacements(Soon()));
  EXPECT_EQ(learner_->Peers()[1].pid, static_cast<uint64_t>(children_.back()->Pid()));
  ExpectAllGoOnAndStop();
  EXPECT_EQ(children_.back()->ExitCode(5), 0);
}

TEST_P(Replace, OneThatIsStoppedIsReplacedAndDoesNotDisturbWhenItWakes) {
  StartThree();
  ASSERT_EQ(Step(), 0);
  children_[2]->Stop();
  EXPECT_EQ(Step(), 1);
  EXPECT_THAT(last_loss_, AllOf(HasSubstr("simulator 'sim 2'"), AnyOf(HasSubstr("silent"), HasSubstr("NCCL"))));
  Start(2);
  ASSERT_TRUE(learner_->AwaitReplacements(Soon()));
  children_[2]->Continue();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Step(), 0);
  EXPECT_EQ(children_[2]->ExitCode(10), 1);  // it has been told
  ExpectAllGoOnAndStop();
}

TEST_P(Replace, OneThatFlapsIsReplacedEveryTime) {
  StartThree();
  int lost = 0;
  for (int i = 0; i < 5; ++i) {
    children_.back()->Kill();
    lost += Step();
    if (!learner_->Absent(2)) lost += Step();
    Start(2);
    ASSERT_TRUE(learner_->AwaitReplacements(Soon())) << i;
    EXPECT_EQ(Step(), 0);
  }
  EXPECT_EQ(lost, 5);
  ExpectAllGoOnAndStop();
}

TEST_P(Replace, OneThatIsTenTimesSlowerIsWaitedFor) {
  config_.deadline_s = 1;
  for (int index = 0; index < 3; ++index) Start(index, index == 1 ? 0.05 : 0.005);
  Join();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Step(), 0);
  EXPECT_EQ(records_, std::vector<uint64_t>(3, 10));
  ExpectAllGoOnAndStop();
}

TEST_P(Replace, OnlyTheMissingEnvironmentsAreGivenAway) {
  StartThree();
  children_[1]->Kill();
  EXPECT_EQ(Step(), 1);
  Child& other = Start(0);  // they are taken
  Child& third = Start(1);
  ASSERT_TRUE(learner_->AwaitReplacements(Soon()));
  Child& late = Start(1);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(Step(), 0);
  EXPECT_EQ(learner_->Peers()[1].pid, static_cast<uint64_t>(third.Pid()));
  const Deadline patience = Soon();
  while (late.ExitCode(0.01) != 1 && !patience.Passed()) Step();
  EXPECT_EQ(other.ExitCode(5), 1);
  ExpectAllGoOnAndStop();
}

TEST_P(Replace, ASpareTakesALostOnesPlaceAtOnce) {
  StartThree();
  Child& spare = StartSpare(-1);
  AwaitSpares(1);
  children_[1]->Kill();
  EXPECT_EQ(Step(), 1);
  EXPECT_FALSE(learner_->Absent(1));
  EXPECT_EQ(learner_->Spares(), 0);
  EXPECT_EQ(learner_->Peers()[1].pid, static_cast<uint64_t>(spare.Pid()));
  ExpectAllGoOnAndStop();
  EXPECT_EQ(spare.ExitCode(5), 0);
}

TEST_P(Replace, ASpareTakesItsOwnPlaceWhenThatIsFreeAndWaitsWhenItIsNot) {
  config_.deadline_s = 1;
  Start(0);
  Start(1);
  Child& third = StartSpare(2);  // nobody else comes for these
  Join();
  EXPECT_EQ(learner_->Peers()[2].pid, static_cast<uint64_t>(third.Pid()));
  Child& waiting = StartSpare(2);
  AwaitSpares(1);
  children_[0]->Kill();
  EXPECT_EQ(Step(), 1);
  EXPECT_EQ(learner_->Peers()[0].pid, static_cast<uint64_t>(waiting.Pid()));
  ExpectAllGoOnAndStop();
}

TEST_P(Replace, SparesThatAreNotNeededEndWithTheRunAndThoseThatDieAreForgotten) {
  StartThree();
  Child& spare = StartSpare(-1);
  AwaitSpares(1);
  Child& dies = StartSpare(-1);
  AwaitSpares(2);
  dies.Kill();
  AwaitSpares(1);
  // Longer than wire.deadline_s: the learner's heartbeats keep it.
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  ExpectAllGoOnAndStop();
  EXPECT_EQ(spare.ExitCode(5), 0);
}

TEST_P(Replace, WithoutAReplacementTheMissingAreNamed) {
  StartThree();
  children_[0]->Kill();
  EXPECT_EQ(Step(), 1);
  EXPECT_FALSE(learner_->AwaitReplacements(Deadline::After(0.2)));
  EXPECT_EQ(learner_->AbsentEnvironments(), "[0, 4)");
  EXPECT_THAT(learner_->Stop("done", Deadline::After(5)), IsEmpty());
}

TEST_P(Replace, SimulatorsJoinTheNextLearnerWhenTheirsIsKilled) {
  config_.deadline_s = 1;
  for (int index = 0; index < 3; ++index) {
    children_.push_back(std::make_unique<Child>(
        [=, this] {
          // Whoever rejoins has to try again: a dying learner may still take a connection.
          for (const Deadline patience = Soon(); !patience.Passed();) {
            try {
              Serve(config_, index);
              return;
            } catch (const RunError&) {
            }
          }
          throw RunError("no learner came");
        },
        false));
  }
  Child first([this] {
    for (Join();;) Step();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  first.Kill();
  Join();
  ExpectAllGoOnAndStop();
  for (const auto& child : children_) EXPECT_EQ(child->ExitCode(5), 0);
}

INSTANTIATE_TEST_SUITE_P(Each, Replace, testing::Values("shm", "zmq_ipc", "zmq_tcp", "zmq_curve", "nccl_double"),
                         [](const auto& transport) { return transport.param; });

// The cable is pulled, neither end is told; later it is plugged in again, when the place has been taken.
TEST(CutOff, ASimulatorBehindACutLinkIsReplacedAndDoesNotDisturbWhenTheLinkIsBack) {
  const SocketFolder folder;
  WireConfig config = ConfigFor("zmq_tcp", folder.Path());
  config.deadline_s = 1;
  const Layout layout(TestSpecs(), kEnvs);
  const auto learner = ListenForSimulators(config, OptionsFor(kEnvs));
  Relay relay(std::stoi(config.address.substr(config.address.rfind(':') + 1)));
  std::string told;
  std::thread behind([&] {
    WireConfig through = config;
    through.address = relay.Address();
    told = MessageOf<RunError>([&] { Serve(through, 0); });
  });
  learner->WaitForSimulators(1, Soon());
  const auto step = [&](uint64_t sequence) {
    learner->Send(0, CommandKind::kStep, 0, {});
    const Received received = learner->ReceiveRecord(0, Soon());
    EXPECT_TRUE(HoldsRecord(layout, received, sequence));
    learner->ReleaseRecord(0, received);
  };
  step(1);
  relay.Cut();
  const std::string loss = MessageOf<PeerLost>([&] { step(2); });
  EXPECT_THAT(loss, HasSubstr("silent (wire.deadline_s = 1.0 s)"));
  learner->PutOut(0, "cut off");
  std::thread replacement([&] { Serve(config, 0); });
  ASSERT_TRUE(learner->AwaitReplacements(Soon()));
  step(1);
  relay.Mend();
  for (uint64_t sequence = 2; sequence < 50; ++sequence) step(sequence);
  behind.join();
  EXPECT_THAT(told, AnyOf(HasSubstr("silent"), HasSubstr("put us out: cut off"), HasSubstr("closed")));
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), IsEmpty());
  replacement.join();
}

}  // namespace
}  // namespace gripstream
