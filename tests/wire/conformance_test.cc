// Tests wire/transport.h over every transport: what both ends promise when nobody dies.
#include <gmock/gmock.h>

#include <latch>
#include <thread>

#include "tests/wire/wire_fixture.h"

namespace gripstream {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Deadline Soon() {
  return Deadline::After(20);
}

class Transport : public testing::TestWithParam<std::string> {
 protected:
  SocketFolder folder_;
  WireConfig config_ = ConfigFor(GetParam(), folder_.Path());

  void SetUp() override {
    if (!WhyNot(GetParam()).empty()) GTEST_SKIP() << WhyNot(GetParam());
  }

  std::unique_ptr<SimulatorEnd> Connect(const Join& join) {
    const Layout layout(TestSpecs(), static_cast<int>(join.env_count / join.groups));
    return ConnectTo(config_, join, layout, Soon());
  }

  // Publishes record `sequence`, whose content says so.
  static void Publish(SimulatorEnd& end, const Layout& layout, uint64_t sequence) {
    const std::span<std::byte> record = end.AcquireRecord(Soon());
    ASSERT_FALSE(record.empty());
    FillRecord(layout, record, sequence);
    end.PublishRecord();
  }

  // A simulator that answers each step command with a record until it is told to stop; returns the records published.
  uint64_t RunSimulator(int env_begin, int env_count, const std::string& name) {
    const Layout layout(TestSpecs(), env_count);
    const auto end = Connect(JoinFor(env_begin, env_count, name));
    for (uint64_t sequence = 1;; ++sequence) {
      const Command command = end->WaitCommand(Soon());
      if (command.kind == CommandKind::kStop) return sequence - 1;
      const std::span<std::byte> record = end->AcquireRecord(Soon());
      Layout::Header(record).step = static_cast<uint32_t>(command.payload.size());
      Layout::Header(record).policy_version = command.policy_version;
      FillRecord(layout, record, sequence);
      end->PublishRecord();
    }
  }
};

TEST_P(Transport, CarriesAThousandStepsUnchanged) {
  const auto learner = Listen(config_, OptionsFor(5));
  uint64_t published = 0;
  std::thread simulator([&] { published = RunSimulator(0, 5, "sim 0"); });
  learner->WaitForSimulators(1, Soon());
  std::vector<std::byte> actions(400);
  for (uint64_t step = 1; step <= 1000; ++step) {
    learner->Send(0, CommandKind::kStep, step / 7, std::span(actions).first(step % 400));
    const Received received = learner->ReceiveRecord(0, Soon());
    ASSERT_TRUE(HoldsRecord(learner->RecordLayout(0), received, step)) << step;
    ASSERT_EQ(received.header.policy_version, step / 7);
    ASSERT_EQ(received.header.step, step % 400);
    learner->ReleaseRecord(0, received);
  }
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), IsEmpty());
  simulator.join();
  EXPECT_EQ(published, 1000u);
}

TEST_P(Transport, ThreeSimulatorsAreOrderedByTheirEnvironments) {
  const auto learner = Listen(config_, OptionsFor(12));
  std::thread last([&] { RunSimulator(9, 3, "last"); });
  std::thread first([&] { RunSimulator(0, 4, "first"); });
  std::thread middle([&] { RunSimulator(4, 5, "middle"); });
  learner->WaitForSimulators(3, Soon());
  ASSERT_EQ(learner->Peers().size(), 3u);
  EXPECT_EQ(learner->Peers()[0].name, "first");
  EXPECT_EQ(learner->Peers()[1].name, "middle");
  EXPECT_EQ(learner->Peers()[2].name, "last");
  EXPECT_EQ(learner->Peers()[2].env_begin, 9u);
  for (uint64_t step = 1; step <= 50; ++step) {
    for (int peer = 0; peer < 3; ++peer) learner->Send(peer, CommandKind::kStep, 0, {});
    for (int peer = 2; peer >= 0; --peer) {
      const Received received = learner->ReceiveRecord(peer, Soon());
      ASSERT_TRUE(HoldsRecord(learner->RecordLayout(peer), received, step));
      learner->ReleaseRecord(peer, received);
    }
  }
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), IsEmpty());
  last.join(), first.join(), middle.join();
}

TEST_P(Transport, ASlowLearnerHoldsTheProducerAndLosesNothing) {
  config_.slots = 3;
  const auto learner = Listen(config_, OptionsFor(4));
  std::latch full(1);
  std::string held;
  std::thread simulator([&] {
    const Layout layout(TestSpecs(), 4);
    const auto end = Connect(JoinFor(0, 4, "sim 0"));
    for (uint64_t sequence = 1; sequence <= 3; ++sequence) Publish(*end, layout, sequence);
    held = MessageOf<RunError>([&] { end->AcquireRecord(Deadline::After(0.05)); });
    full.count_down();
    for (uint64_t sequence = 4; sequence <= 40; ++sequence) Publish(*end, layout, sequence);
    EXPECT_EQ(end->WaitCommand(Soon()).kind, CommandKind::kStop);
  });
  learner->WaitForSimulators(1, Soon());
  full.wait();
  EXPECT_THAT(held, HasSubstr("a free record slot"));
  // Releases late and out of order: two records are held at a time.
  std::optional<Received> before;
  for (uint64_t sequence = 1; sequence <= 40; ++sequence) {
    const Received received = learner->ReceiveRecord(0, Soon());
    ASSERT_TRUE(HoldsRecord(learner->RecordLayout(0), received, sequence)) << sequence;
    if (sequence % 2 == 0) {
      learner->ReleaseRecord(0, received);
      ASSERT_TRUE(HoldsRecord(learner->RecordLayout(0), *before, sequence - 1)) << sequence;
      learner->ReleaseRecord(0, *before);
    }
    before = received;
  }
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), IsEmpty());
  simulator.join();
}

TEST_P(Transport, CommandsQueueUpWhateverTheirSize) {
  const auto learner = Listen(config_, OptionsFor(4));
  const auto payload_bytes = [](size_t i) { return i % 3 == 2 ? i * 100000 : i * 100; };
  std::thread simulator([&] {
    const auto end = Connect(JoinFor(0, 4, "sim 0"));
    for (size_t i = 1; i <= 20; ++i) {
      const Command command = end->WaitCommand(Soon());
      ASSERT_EQ(command.kind, i % 2 ? CommandKind::kStep : CommandKind::kReset);
      ASSERT_EQ(command.sequence, i);
      ASSERT_EQ(command.payload.size(), payload_bytes(i));
      for (const std::byte b : command.payload) ASSERT_EQ(b, static_cast<std::byte>(i));
    }
    EXPECT_EQ(end->WaitCommand(Soon()).kind, CommandKind::kStop);
  });
  learner->WaitForSimulators(1, Soon());
  for (size_t i = 1; i <= 20; ++i) {
    const std::vector<std::byte> payload(payload_bytes(i), static_cast<std::byte>(i));
    learner->Send(0, i % 2 ? CommandKind::kStep : CommandKind::kReset, 0, payload);
  }
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), IsEmpty());
  simulator.join();
}

TEST_P(Transport, StatesOf64MegabytesGoBothWays) {
  const auto learner = Listen(config_, OptionsFor(4));
  std::vector<std::byte> state(64 << 20);
  for (size_t i = 0; i < state.size(); i += 997) state[i] = static_cast<std::byte>(i >> 8);
  bool came_back = false;
  std::thread simulator([&] {
    const auto end = Connect(JoinFor(0, 4, "sim 0"));
    EXPECT_EQ(end->WaitCommand(Soon()).kind, CommandKind::kSaveState);
    end->SendState(state);
    const Command load = end->WaitCommand(Soon());
    came_back = load.kind == CommandKind::kLoadState && load.payload.size() == state.size() &&
                std::memcmp(load.payload.data(), state.data(), state.size()) == 0;
    end->WaitCommand(Soon());
  });
  learner->WaitForSimulators(1, Soon());
  learner->Send(0, CommandKind::kSaveState, 0, {});
  const std::vector<std::byte> received = learner->ReceiveState(0, Soon());
  ASSERT_EQ(received.size(), state.size());
  EXPECT_EQ(std::memcmp(received.data(), state.data(), state.size()), 0);
  learner->Send(0, CommandKind::kLoadState, 0, received);
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), IsEmpty());
  simulator.join();
  EXPECT_TRUE(came_back);
}

TEST_P(Transport, EnvironmentsMayBeSteppedInGroups) {
  const auto learner = Listen(config_, OptionsFor(6));
  std::thread simulator([&] {
    Join join = JoinFor(0, 6, "sim 0");
    join.groups = 2;
    const Layout half(TestSpecs(), 3);
    const auto end = Connect(join);
    for (uint64_t sequence = 1; sequence <= 4; ++sequence) {
      const Command command = end->WaitCommand(Soon());
      const std::span<std::byte> record = end->AcquireRecord(Soon());
      Layout::Header(record).group = command.group;
      Layout::Header(record).env_begin = command.group * 3;
      FillRecord(half, record, sequence);
      end->PublishRecord();
    }
    end->WaitCommand(Soon());
  });
  learner->WaitForSimulators(1, Soon());
  EXPECT_EQ(learner->RecordLayout(0).N(), 3);
  for (uint32_t i = 0; i < 4; ++i) learner->Send(0, CommandKind::kStep, 0, {}, i % 2);
  for (uint32_t i = 0; i < 4; ++i) {
    const Received received = learner->ReceiveRecord(0, Soon());
    EXPECT_EQ(received.header.group, i % 2);
    EXPECT_EQ(received.header.env_begin, i % 2 * 3);
    EXPECT_TRUE(HoldsRecord(learner->RecordLayout(0), received, i + 1));
    learner->ReleaseRecord(0, received);
  }
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), IsEmpty());
  simulator.join();
}

TEST_P(Transport, JoinsThatDoNotFitAreRefusedWithTheReasonOnBothSides) {
  const auto learner = Listen(config_, OptionsFor(8));
  std::vector<std::pair<Join, std::string>> bad;
  const auto add = [&](const std::string& reason, auto change) {
    bad.emplace_back(JoinFor(4, 4, "bad"), reason);
    change(bad.back().first);
  };
  add("protocol 9", [](Join& j) { j.protocol = 9; });
  add("run 'other'", [](Join& j) { j.run_id = "other"; });
  add("spec hash", [](Join& j) { j.spec_hash = 1; });
  add("configuration differs", [](Join& j) { j.config_hash = 1; });
  add("[6, 10) are not inside [0, 8)", [](Join& j) { j.env_begin = 6; });
  add("overlap those of simulator 'good 0'", [](Join& j) { j.env_begin = 2; });
  std::vector<std::string> told;
  std::thread simulators([&] {
    const auto good = Connect(JoinFor(0, 4, "good 0"));
    for (const auto& [join, reason] : bad) told.push_back(MessageOf<RunError>([&] { Connect(join); }));
    const auto other = Connect(JoinFor(4, 4, "good 1"));
    told.push_back(MessageOf<RunError>([&] { Connect(JoinFor(4, 4, "late")); }));
    other->WaitCommand(Soon());
    good->WaitCommand(Soon());
  });
  learner->WaitForSimulators(2, Soon());
  // The late one is refused while the learner waits for something else.
  const std::string waited = MessageOf<RunError>([&] { learner->ReceiveRecord(0, Deadline::After(0.5)); });
  EXPECT_THAT(waited, HasSubstr("timed out"));
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), IsEmpty());
  simulators.join();
  ASSERT_EQ(told.size(), bad.size() + 1);
  for (size_t i = 0; i < bad.size(); ++i) EXPECT_THAT(told[i], HasSubstr(bad[i].second));
  EXPECT_THAT(told.back(), HasSubstr("have joined already"));
}

TEST_P(Transport, MissingEnvironmentsAndTheLastRefusalAreNamed) {
  auto learner = Listen(config_, OptionsFor(12));
  std::thread simulators([&] {
    const auto good = Connect(JoinFor(4, 4, "good"));
    EXPECT_THROW(Connect(JoinFor(4, 4, "twin")), RunError);
    EXPECT_THROW(good->WaitCommand(Soon()), RunError);  // the learner gives up
  });
  std::string message;
  const Deadline patience = Soon();
  while (message.find("'twin'") == std::string::npos && !patience.Passed()) {
    message = MessageOf<RunError>([&] { learner->WaitForSimulators(3, Deadline::After(0.1)); });
  }
  learner.reset();
  simulators.join();
  EXPECT_THAT(message, HasSubstr("only 1 of 3"));
  EXPECT_THAT(message, HasSubstr("[0, 4), [8, 12)"));
  EXPECT_THAT(message, HasSubstr("refused: simulator 'twin'"));
}

TEST_P(Transport, TwoLearnersCannotShareAnAddress) {
  const auto learner = Listen(config_, OptionsFor(4));
  const std::string message = MessageOf<InputError>([&] { Listen(config_, OptionsFor(4)); });
  EXPECT_THAT(message, HasSubstr("wire.address"));
  EXPECT_THAT(message, HasSubstr("not in use"));
  // The first one still works.
  std::thread simulator([&] { RunSimulator(0, 4, "sim 0"); });
  learner->WaitForSimulators(1, Soon());
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), IsEmpty());
  simulator.join();
}

TEST_P(Transport, AStopEndsTheWaitForACredit) {
  config_.slots = 2;
  const auto learner = Listen(config_, OptionsFor(4));
  std::latch full(1);
  std::thread simulator([&] {
    const Layout layout(TestSpecs(), 4);
    const auto end = Connect(JoinFor(0, 4, "sim 0"));
    Publish(*end, layout, 1);
    Publish(*end, layout, 2);
    full.count_down();
    EXPECT_TRUE(end->AcquireRecord(Soon()).empty());
    EXPECT_EQ(end->WaitCommand(Soon()).kind, CommandKind::kStop);
  });
  learner->WaitForSimulators(1, Soon());
  full.wait();
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), IsEmpty());
  simulator.join();
}

TEST_P(Transport, PartingWordsReachTheLearnerAfterTheRecordsBeforeThem) {
  const auto learner = Listen(config_, OptionsFor(12));
  std::latch joined(1);
  std::thread simulators([&] {
    const Layout layout(TestSpecs(), 4);
    auto failing = Connect(JoinFor(0, 4, "failing"));
    auto leaving = Connect(JoinFor(4, 4, "leaving"));
    auto vanishing = Connect(JoinFor(8, 4, "vanishing"));
    for (SimulatorEnd* end : {failing.get(), leaving.get(), vanishing.get()}) Publish(*end, layout, 1);
    joined.wait();
    failing->SendFailure("physics went NaN in environment 3");
    leaving->SendLeave("maintenance");
  });
  learner->WaitForSimulators(3, Soon());
  joined.count_down();
  simulators.join();
  const char* expected[] = {"failed: physics went NaN in environment 3", "left: maintenance", "closed the connection"};
  for (int peer = 0; peer < 3; ++peer) {
    const Received received = learner->ReceiveRecord(peer, Soon());
    EXPECT_TRUE(HoldsRecord(learner->RecordLayout(peer), received, 1));
    const std::string message = MessageOf<RunError>([&] { learner->ReceiveRecord(peer, Soon()); });
    EXPECT_THAT(message, HasSubstr(expected[peer]));
    EXPECT_THAT(message, HasSubstr(learner->Peers()[static_cast<size_t>(peer)].Describe()));
    // The record outlives its simulator.
    EXPECT_TRUE(HoldsRecord(learner->RecordLayout(peer), received, 1));
    learner->ReleaseRecord(peer, received);
  }
}

TEST_P(Transport, AHungSimulatorIsNamedWithItsStage) {
  const auto learner = Listen(config_, OptionsFor(4));
  std::latch seen(1);
  std::thread simulator([&] {
    const auto end = Connect(JoinFor(0, 4, "sim 0"));
    end->SetStage("physics step 12");
    seen.wait();  // its heartbeats go on
  });
  learner->WaitForSimulators(1, Soon());
  std::string message;
  const Deadline patience = Soon();
  while (message.find("physics step 12") == std::string::npos && !patience.Passed()) {
    message = MessageOf<RunError>([&] { learner->ReceiveRecord(0, Deadline::After(0.1)); });
  }
  EXPECT_THAT(message, HasSubstr("timed out waiting for record 1 of simulator 'sim 0'"));
  EXPECT_THAT(message, HasSubstr("last stage 'physics step 12'"));
  seen.count_down();
  simulator.join();
}

TEST_P(Transport, TheLearnersEndIsSeenByAWaitingSimulator) {
  auto learner = Listen(config_, OptionsFor(4));
  std::string message;
  std::thread simulator([&] {
    const auto end = Connect(JoinFor(0, 4, "sim 0"));
    message = MessageOf<RunError>([&] { end->WaitCommand(Soon()); });
  });
  learner->WaitForSimulators(1, Soon());
  learner.reset();
  simulator.join();
  EXPECT_THAT(message, HasSubstr("closed the connection"));
  EXPECT_THAT(message, HasSubstr("learner (pid " + std::to_string(getpid())));
}

TEST_P(Transport, NobodyListeningIsToldAtTheDeadline) {
  const Layout layout(TestSpecs(), 4);
  const std::string message =
      MessageOf<RunError>([&] { ConnectTo(config_, JoinFor(0, 4, "sim"), layout, Deadline::After(0.05)); });
  EXPECT_THAT(message, testing::AnyOf(HasSubstr("no learner listens"), HasSubstr("did not answer the join")));
  EXPECT_THAT(message, HasSubstr(config_.address));
}

TEST_P(Transport, MisuseIsOurOwnBug) {
  const auto learner = Listen(config_, OptionsFor(4));
  EXPECT_THROW(learner->ReceiveRecord(0, Soon()), InternalError);
  std::thread simulator([&] {
    const Layout layout(TestSpecs(), 4);
    const auto end = Connect(JoinFor(0, 4, "sim 0"));
    EXPECT_THROW(end->PublishRecord(), InternalError);
    Publish(*end, layout, 1);
    end->AcquireRecord(Soon());
    EXPECT_THROW(end->AcquireRecord(Soon()), InternalError);
    EXPECT_EQ(end->WaitCommand(Soon()).kind, CommandKind::kStop);
  });
  learner->WaitForSimulators(1, Soon());
  const Received received = learner->ReceiveRecord(0, Soon());
  learner->ReleaseRecord(0, received);
  EXPECT_THROW(learner->ReleaseRecord(0, received), InternalError);
  EXPECT_THROW(learner->Send(1, CommandKind::kStep, 0, {}), InternalError);
  EXPECT_THROW(learner->Send(0, CommandKind::kStep, 0, {}, 1), InternalError);
  EXPECT_THAT(learner->Stop("done", Deadline::After(5)), IsEmpty());
  simulator.join();
}

INSTANTIATE_TEST_SUITE_P(Each, Transport,
                         testing::Values("inproc", "shm", "shm_abstract", "zmq_ipc", "zmq_tcp", "zmq_curve", "zmq_lz4",
                                         "zmq_zstd", "nccl_double", "nccl"),
                         [](const auto& transport) { return transport.param; });

}  // namespace
}  // namespace gripstream
