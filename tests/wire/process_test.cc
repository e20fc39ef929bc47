// Tests wire/transport.h with real processes that are killed and stopped.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>

#include "tests/wire/child.h"
#include "tests/wire/wire_fixture.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

Deadline Soon() {
  return Deadline::After(20);
}

std::set<std::string> EntriesOf(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

size_t OpenFiles() {
  return EntriesOf("/proc/self/fd").size();
}

class Processes : public testing::TestWithParam<std::string> {
 protected:
  SocketFolder folder_;
  WireConfig config_ = ConfigFor(GetParam(), folder_.Path());

  // Joins and publishes one record; the simulator lives on in the returned end.
  std::unique_ptr<SimulatorEnd> JoinAndPublish() {
    const Layout layout(TestSpecs(), 4);
    auto end = ConnectTo(config_, JoinFor(0, 4, "sim 0"), layout, Soon());
    FillRecord(layout, end->AcquireRecord(Soon()), 1);
    end->PublishRecord();
    return end;
  }
  std::unique_ptr<LearnerEnd> Learner() {
    auto learner = Listen(config_, OptionsFor(4));
    learner->WaitForSimulators(1, Soon());
    return learner;
  }
  // Takes record 1: from then on the simulator has nothing more to do.
  static void TakeFirst(LearnerEnd& learner) { learner.ReleaseRecord(0, learner.ReceiveRecord(0, Soon())); }
  // What the learner says when record 2 does not come.
  static std::string WaitInVain(LearnerEnd& learner) {
    return MessageOf<RunError>([&] { learner.ReceiveRecord(0, Deadline::After(60)); });
  }
};

TEST_P(Processes, AKilledSimulatorIsNamedAtOnce) {
  config_.deadline_s = 1000;  // so it is not silence that gives it away
  Child simulator([&] { JoinAndPublish().release(); });
  const auto learner = Learner();
  const Received received = learner->ReceiveRecord(0, Soon());
  simulator.Kill();
  const std::string message = WaitInVain(*learner);
  EXPECT_THAT(message, HasSubstr("simulator 'sim 0' (pid "));
  EXPECT_THAT(message, HasSubstr("environments [0, 4)"));
  EXPECT_THAT(message, HasSubstr("closed the connection"));
  EXPECT_THAT(message, HasSubstr("record 2"));
  // What it sent stays readable, and nothing can be sent to it.
  EXPECT_TRUE(HoldsRecord(learner->RecordLayout(0), received, 1));
  learner->ReleaseRecord(0, received);
  EXPECT_THAT(MessageOf<RunError>([&] { learner->Send(0, CommandKind::kStep, 0, {}); }), HasSubstr("sim 0"));
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), testing::IsEmpty());
}

TEST_P(Processes, AStoppedSimulatorIsNamedWithinTheDeadline) {
  config_.deadline_s = 1.5;
  Child simulator([&] { JoinAndPublish().release(); });
  const auto learner = Learner();
  TakeFirst(*learner);
  simulator.Stop();
  const std::string message = WaitInVain(*learner);
  EXPECT_THAT(message, HasSubstr("simulator 'sim 0' (pid " + std::to_string(simulator.Pid())));
  EXPECT_THAT(message, HasSubstr("is silent (wire.deadline_s = 1.5 s)"));
  // A stop that nobody answers ends at its deadline and says who did not.
  EXPECT_THAT(learner->Stop("giving up", Deadline::After(0.1)), testing::ElementsAre(HasSubstr("sim 0")));
}

TEST_P(Processes, AKilledLearnerEndsTheSimulatorsWaits) {
  config_.deadline_s = 1000;
  config_.slots = 1;
  Child learner([&] { Learner().release(); });
  const auto end = JoinAndPublish();
  learner.Kill();
  const std::string message = MessageOf<RunError>([&] { end->WaitCommand(Deadline::After(60)); });
  EXPECT_THAT(message, HasSubstr("closed the connection"));
  EXPECT_THROW(end->AcquireRecord(Deadline::After(60)), RunError);
  EXPECT_NO_THROW(end->SendFailure("too late"));
}

TEST_P(Processes, AStoppedLearnerEndsTheSimulatorsWaitWithinTheDeadline) {
  config_.deadline_s = 1.5;
  Child learner([&] { Learner().release(); });
  const auto end = JoinAndPublish();
  learner.Stop();
  const std::string message = MessageOf<RunError>([&] { end->WaitCommand(Deadline::After(60)); });
  EXPECT_THAT(message, HasSubstr("is silent (wire.deadline_s = 1.5 s) while this simulator waits for command 1"));
}

TEST_P(Processes, AQuietButLivingLearnerIsWaitedFor) {
  config_.deadline_s = 1.5;
  Child learner([&] { Learner().release(); });
  const auto end = JoinAndPublish();
  const std::string message = MessageOf<RunError>([&] { end->WaitCommand(Deadline::After(2.5)); });
  EXPECT_THAT(message, HasSubstr("timed out waiting for command 1"));
}

TEST_P(Processes, FiftyKillsLeaveNothingBehind) {
  const std::set<std::string> shared_before = EntriesOf("/dev/shm"), folder_before = EntriesOf(folder_.Path());
  const auto kill_a_simulator = [&] {
    Child simulator([&] { JoinAndPublish().release(); });
    const auto learner = Learner();
    TakeFirst(*learner);
    simulator.Kill();
    EXPECT_THAT(WaitInVain(*learner), HasSubstr("sim 0"));
  };
  const auto kill_a_learner = [&] {
    Child learner([&] { Learner().release(); });
    const auto end = JoinAndPublish();
    learner.Kill();
    EXPECT_THROW(end->WaitCommand(Deadline::After(60)), RunError);
  };
  kill_a_simulator();
  const size_t files_before = OpenFiles();
  for (int i = 0; i < 25; ++i) {
    kill_a_learner();
    kill_a_simulator();  // last, so that a learner ends in order and takes its socket's file along
  }
  EXPECT_EQ(OpenFiles(), files_before);
  EXPECT_EQ(EntriesOf("/dev/shm"), shared_before);
  EXPECT_EQ(EntriesOf(folder_.Path()), folder_before);
}

INSTANTIATE_TEST_SUITE_P(Each, Processes,
                         testing::Values("shm", "shm_abstract", "zmq_ipc", "zmq_tcp", "zmq_curve", "nccl_double"),
                         [](const auto& transport) { return transport.param; });

}  // namespace
}  // namespace gripstream
