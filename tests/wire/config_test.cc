// Tests wire/config.h and the checks of addresses.
#include "wire/config.h"

#include <gmock/gmock.h>

#include "tests/wire/wire_fixture.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

WireConfig Zmq(const std::string& address) {
  WireConfig config;
  config.transport = "zmq";
  config.address = address;
  return config;
}

TEST(WireConfig, NcclWithoutAGpuIsRefusedWithTheReason) {
  const std::string why = WhyNot("nccl");
  if (why.empty()) GTEST_SKIP() << "this machine has GPUs and NCCL";
  WireConfig config = ConfigFor("nccl", "");
  const std::string message = MessageOf<InputError>([&] { ListenForSimulators(config, OptionsFor(4)); });
  EXPECT_THAT(message, HasSubstr("wire.transport: got 'nccl'"));
}

TEST(WireConfig, HeartbeatsMustFitTheDeadline) {
  WireConfig config = ConfigFor("inproc", "");
  config.deadline_s = 1;
  config.heartbeat_s = 0.6;
  EXPECT_THAT(MessageOf<InputError>([&] { config.Check("run.yaml"); }), HasSubstr("run.yaml: wire.heartbeat_s"));
  config.heartbeat_s = 0.5;
  EXPECT_NO_THROW(config.Check("run.yaml"));
}

TEST(WireConfig, CompressionIsForSlowLinks) {
  WireConfig config = Zmq("tcp://127.0.0.1:5555");
  config.compression = "lz4";
  EXPECT_NO_THROW(config.Check("run.yaml"));
  config.transport = "shm";
  EXPECT_THAT(MessageOf<InputError>([&] { config.Check("run.yaml"); }), HasSubstr("run.yaml: wire.compression"));
}

TEST(WireConfig, AddressesBeyondThisMachineAreRefused) {
  for (const char* address :
       {"tcp://0.0.0.0:5555", "tcp://*:5555", "tcp://192.168.1.2:5555", "tcp://[::]:5555", "tcp://example.org:5555",
        "udp://127.0.0.1:1", "127.0.0.1:5555", "", "ipc://", "tcp://127.0.0.1"}) {
    const std::string message = MessageOf<InputError>([&] { ListenForSimulators(Zmq(address), OptionsFor(4)); });
    EXPECT_THAT(message, HasSubstr("wire.address: got '" + std::string(address) + "'")) << address;
    const bool tcp = std::string(address).starts_with("tcp://") && std::string(address) != "tcp://127.0.0.1";
    EXPECT_EQ(message.find("wire.curve.keys") != std::string::npos, tcp) << address;
    const Layout layout(TestSpecs(), 4);
    EXPECT_THROW(ConnectToLearner(Zmq(address), JoinFor(0, 4, "sim"), layout, Deadline::After(1)), InputError);
  }
}

TEST(WireConfig, APortLeftToTheSystemIsReported) {
  const auto learner = ListenForSimulators(Zmq("tcp://127.0.0.1:*"), OptionsFor(4));
  EXPECT_THAT(learner->Address(), testing::MatchesRegex("tcp://127.0.0.1:[1-9][0-9]+"));
}

}  // namespace
}  // namespace gripstream
