// Tests wire/transport.h over every transport.
#include <gmock/gmock.h>

#include <thread>

#include "tests/wire/wire_fixture.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

class Transport : public testing::TestWithParam<std::string> {
 protected:
  SocketFolder folder_;
  WireConfig config_ = ConfigFor(GetParam(), folder_.Path());

  // A simulator that answers each step command with a record until it is told to stop; returns the records published.
  uint64_t RunSimulator(int env_begin, int env_count, const std::string& name) {
    const Layout layout(TestSpecs(), env_count);
    const auto end = ConnectToLearner(config_, JoinFor(env_begin, env_count, name), layout, Deadline::After(10));
    for (uint64_t sequence = 1;; ++sequence) {
      const Command command = end->WaitCommand(Deadline::After(10));
      if (command.kind == CommandKind::kStop) return sequence - 1;
      const std::span<std::byte> record = end->AcquireRecord(Deadline::After(10));
      Layout::Header(record).step = command.payload.size();
      Layout::Header(record).policy_version = command.policy_version;
      FillRecord(layout, record, sequence);
      end->PublishRecord();
    }
  }
};

TEST_P(Transport, CarriesAThousandStepsUnchanged) {
  const auto learner = ListenForSimulators(config_, OptionsFor(5));
  uint64_t published = 0;
  std::thread simulator([&] { published = RunSimulator(0, 5, "sim 0"); });
  learner->WaitForSimulators(1, Deadline::After(10));
  std::vector<std::byte> actions(400);
  for (uint64_t step = 1; step <= 1000; ++step) {
    learner->Send(0, CommandKind::kStep, step / 7, std::span(actions).first(step % 400));
    const Received received = learner->ReceiveRecord(0, Deadline::After(10));
    ASSERT_TRUE(HoldsRecord(learner->RecordLayout(0), received, step)) << step;
    ASSERT_EQ(received.header.policy_version, step / 7);
    ASSERT_EQ(received.header.step, step % 400);
    learner->ReleaseRecord(0, received);
  }
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), testing::IsEmpty());
  simulator.join();
  EXPECT_EQ(published, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Each, Transport, testing::Values("inproc", "shm", "shm_abstract", "zmq_ipc", "zmq_tcp"),
                         [](const auto& transport) { return transport.param; });

}  // namespace
}  // namespace gripstream
