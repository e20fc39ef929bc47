// Tests that wire/transport.h refuses what breaks the protocol, over every transport: one end is ours, the other is
// played by hand through wire/line.h, or is a stranger on the socket.
#include <gmock/gmock.h>

#include <functional>
#include <latch>
#include <thread>
#include <zmq.hpp>

#include "core/rng.h"
#include "tests/wire/wire_fixture.h"
#include "wire/unix_socket.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

Deadline Soon() {
  return Deadline::After(20);
}

class Protocol : public testing::TestWithParam<std::string> {
 protected:
  SocketFolder folder_;
  WireConfig config_ = ConfigFor(GetParam(), folder_.Path());
  const Layout layout_{TestSpecs(), 4};
  const LineShape shape_{3, layout_.Bytes(), 65536};
};

// A simulator played by hand.
class HandSimulator {
 public:
  HandSimulator(const WireConfig& config, const Layout& layout, const LineShape& shape)
      : layout_(layout), line_(MakeSimulatorLine(config, shape)) {
    Join join = JoinFor(0, layout.N(), "hand");
    join.spec_hash = layout.Hash();
    join.slots = shape.slots;
    join.record_bytes = shape.record_bytes;
    join.command_bytes = shape.command_bytes;
    line_->Open(Encode(join), Soon());
  }
  SimulatorLine& Line() { return *line_; }

  // Puts a valid record into `slot` and lets `damage` change it before it is announced.
  void Publish(uint32_t slot, uint64_t sequence, const std::function<void(RecordHeader&, FrameExtras&)>& damage = {}) {
    const std::span<std::byte> record = line_->Slot(slot);
    RecordHeader header{};
    header.magic = kRecordMagic;
    header.version = kRecordVersion;
    header.sequence = sequence;
    header.env_count = static_cast<uint32_t>(layout_.N());
    header.payload_bytes = record.size();
    FrameExtras extras{slot, sequence, record.size()};
    if (damage) damage(header, extras);
    Layout::Header(record) = header;
    line_->SendRecord(Encode(RecordMessage{}, extras), slot, Soon());
  }

 private:
  const Layout& layout_;
  std::unique_ptr<SimulatorLine> line_;
};

using Misdeed = std::function<void(HandSimulator&)>;

// What the learner says of a simulator that joins, publishes record 1 in slot 0, and then does `misdeed`.
std::string LearnersWord(const WireConfig& config, const Layout& layout, const LineShape& shape,
                         const Misdeed& misdeed) {
  const auto learner = ListenForSimulators(config, OptionsFor(layout.N()));
  std::latch first_taken(1), told(1);
  std::thread simulator([&] {
    HandSimulator hand(config, layout, shape);
    hand.Publish(0, 1);
    first_taken.wait();
    misdeed(hand);
    told.wait();
  });
  learner->WaitForSimulators(1, Soon());
  const Received first = learner->ReceiveRecord(0, Soon());
  EXPECT_EQ(first.header.sequence, 1u);
  first_taken.count_down();
  const std::string message = MessageOf<RunError>([&] { learner->ReceiveRecord(0, Soon()); });
  EXPECT_THAT(message, HasSubstr("simulator 'hand'"));
  told.count_down();
  simulator.join();
  return message;
}

TEST_P(Protocol, RecordsOutOfOrderOrDamagedAreErrorsThatNameTheSimulator) {
  const auto word = [&](const Misdeed& misdeed) { return LearnersWord(config_, layout_, shape_, misdeed); };
  const auto damaged = [&](const std::function<void(RecordHeader&)>& damage) {
    return word(
        [&](HandSimulator& hand) { hand.Publish(1, 2, [&](RecordHeader& header, FrameExtras&) { damage(header); }); });
  };
  EXPECT_THAT(word([](HandSimulator& hand) { hand.Publish(1, 1); }), HasSubstr("record 1 arrived where 2 was due"));
  EXPECT_THAT(word([](HandSimulator& hand) { hand.Publish(1, 3); }), HasSubstr("record 3 arrived where 2 was due"));
  EXPECT_THAT(word([](HandSimulator& hand) { hand.Publish(0, 2); }), HasSubstr("slot 0, which was not its to use"));
  EXPECT_THAT(damaged([](RecordHeader& h) { h.magic = 0; }), HasSubstr("not a record's"));
  EXPECT_THAT(damaged([](RecordHeader& h) { ++h.version; }), HasSubstr("not a record's"));
  EXPECT_THAT(damaged([](RecordHeader& h) { h.sequence = 1; }), HasSubstr("says record 1"));
  EXPECT_THAT(damaged([](RecordHeader& h) { h.payload_bytes = 1; }), HasSubstr("says 1 bytes"));
  EXPECT_THAT(damaged([](RecordHeader& h) { h.env_begin = 1; }), HasSubstr("environments [1, 5)"));
  EXPECT_THAT(damaged([](RecordHeader& h) { h.env_count = 5; }), HasSubstr("environments [0, 5)"));
  EXPECT_THAT(damaged([](RecordHeader& h) { h.group = 1; }), HasSubstr("group 1"));
  if (GetParam() == "inproc") return;  // both ends are the same program there: frames cannot lie about sizes
  EXPECT_THAT(word([](HandSimulator& hand) {
                hand.Publish(1, 2, [](RecordHeader&, FrameExtras& extras) { --extras.payload_bytes; });
              }),
              HasSubstr("malformed"));
  EXPECT_THAT(word([](HandSimulator& hand) {
                hand.Publish(1, 2, [](RecordHeader&, FrameExtras& extras) { extras.slot = 3; });
              }),
              HasSubstr("malformed"));
}

TEST_P(Protocol, MessagesOutOfPlaceAreErrorsThatNameTheSimulator) {
  const auto word = [&](const std::vector<std::byte>& frame) {
    return LearnersWord(config_, layout_, shape_, [&](HandSimulator& hand) { hand.Line().Send(frame, {}, Soon()); });
  };
  EXPECT_THAT(word(Encode(CommandMessage{2, 0, 0})), HasSubstr("unexpected message: command"));
  EXPECT_THAT(word(Encode(CreditMessage{})), HasSubstr("unexpected message: credit"));
  EXPECT_THAT(word(std::vector<std::byte>(40)), HasSubstr("not a gripstream message"));
  EXPECT_THAT(word({}), testing::AnyOf(HasSubstr("malformed"), HasSubstr("closed")));
  std::vector<std::byte> truncated = Encode(Heartbeat{"stage", 1});
  truncated.pop_back();
  EXPECT_THAT(word(truncated), HasSubstr("malformed"));
}

TEST_P(Protocol, ReplayedAndOversizedMessagesAreRefused) {
  const auto word = [&](const std::vector<std::byte>& frame) {
    return LearnersWord(config_, layout_, shape_, [&](HandSimulator& hand) { hand.Line().Send(frame, {}, Soon()); });
  };
  EXPECT_THAT(word(Encode(JoinFor(0, 4, "again"))), HasSubstr("malformed"));
  std::vector<std::byte> oversized(sizeof(FrameHeader) + kMaxBody_bytes + 1);
  FrameHeader header;
  header.kind = static_cast<uint16_t>(MessageKind::kLeave);
  header.body_bytes = kMaxBody_bytes + 1;
  std::memcpy(oversized.data(), &header, sizeof(header));
  EXPECT_THAT(word(oversized), HasSubstr("malformed"));
  std::vector<std::byte> boasting = Encode(StateMessage{});
  header.kind = static_cast<uint16_t>(MessageKind::kState);
  header.body_bytes = 0;
  header.payload_bytes = kMaxPayload_bytes + 1;
  std::memcpy(boasting.data(), &header, sizeof(header));
  EXPECT_THAT(word(boasting), HasSubstr("malformed"));
}

TEST_P(Protocol, HeartbeatsNobodyReadsLeaveRoomForRecords) {
  const std::unique_ptr<LearnerHub> hub = MakeLearnerHub(config_);
  HandSimulator hand(config_, layout_, shape_);
  const int connection = hub->Receive(Soon())->connection;
  const std::vector<std::byte> heartbeat = Encode(Heartbeat{"an update that takes very long", 1});
  for (int i = 0; i < 5000; ++i) {
    hand.Line().TrySend(heartbeat);
    hub->TrySendAll(heartbeat);
  }
  const std::vector<std::byte> record = Encode(RecordMessage{}, {0, 1, layout_.Bytes()});
  EXPECT_EQ(hand.Line().SendRecord(record, 0, Deadline::After(0)), SendResult::kSent);
  EXPECT_EQ(hub->Send(connection, Encode(CreditMessage{}), {}, Deadline::After(0)), SendResult::kSent);
}

TEST_P(Protocol, ALearnerThatBreaksTheProtocolEndsTheSimulatorsWait) {
  const auto word = [&](const std::vector<std::byte>& frame) {
    const std::unique_ptr<LearnerHub> hub = MakeLearnerHub(config_);
    std::string message;
    std::thread simulator([&] {
      const auto end = ConnectToLearner(config_, JoinFor(0, 4, "sim"), layout_, Soon());
      FillRecord(layout_, end->AcquireRecord(Soon()), 1);
      end->PublishRecord();
      message = MessageOf<RunError>([&] { end->WaitCommand(Soon()); });
    });
    const std::optional<Event> join = hub->Receive(Soon());
    hub->Send(join->connection, Encode(Welcome{"by hand", 0}), {}, Soon());
    hub->Send(join->connection, frame, {}, Soon());
    simulator.join();
    EXPECT_THAT(message, HasSubstr("learner (by hand)"));
    return message;
  };
  EXPECT_THAT(word(Encode(CommandMessage{2, 0, 0}, {.sequence = 2})), HasSubstr("sent command 2, expected 1"));
  EXPECT_THAT(word(Encode(CommandMessage{9, 0, 0}, {.sequence = 1})), HasSubstr("command kind 9"));
  EXPECT_THAT(word(Encode(CommandMessage{2, 1, 0}, {.sequence = 1})), HasSubstr("for group 1"));
  EXPECT_THAT(word(Encode(CreditMessage{}, {.slot = 1, .sequence = 1})), HasSubstr("not in flight"));
  EXPECT_THAT(word(Encode(CreditMessage{}, {.slot = 0, .sequence = 2})), HasSubstr("not in flight"));
  EXPECT_THAT(word(Encode(CreditMessage{}, {.slot = 99, .sequence = 1})), HasSubstr("not in flight"));
  EXPECT_THAT(word(Encode(StateMessage{})), HasSubstr("unexpected message: state"));
  EXPECT_THAT(word(std::vector<std::byte>(40)), HasSubstr("malformed"));
}

INSTANTIATE_TEST_SUITE_P(Each, Protocol, testing::Values("inproc", "shm", "zmq_ipc", "zmq_tcp"),
                         [](const auto& transport) { return transport.param; });

// Frames that a stranger might send: random bytes, damaged joins, one too long.
std::vector<std::vector<std::byte>> StrangeFrames() {
  std::vector<std::vector<std::byte>> frames;
  const RandomStream stream(3, "stranger");
  for (uint32_t i = 0; i < 200; ++i) {
    Rng rng = stream.At(i, 0);
    std::vector<std::byte> frame =
        i % 2 ? Encode(JoinFor(0, 4, "stranger")) : std::vector<std::byte>(1 + rng.Below(300));
    for (uint32_t j = 0; j < 8; ++j) frame[rng.Below(static_cast<uint32_t>(frame.size()))] ^= std::byte{0x55};
    frames.push_back(frame);
  }
  frames.emplace_back(100000);
  return frames;
}

// After all that, an honest simulator still gets in.
void ExpectAnHonestJoin(LearnerEnd& learner, const WireConfig& config) {
  std::thread simulator([&] {
    const auto end = ConnectToLearner(config, JoinFor(0, 4, "honest"), Layout(TestSpecs(), 4), Soon());
    EXPECT_EQ(end->WaitCommand(Soon()).kind, CommandKind::kStop);
  });
  learner.WaitForSimulators(1, Soon());
  EXPECT_EQ(learner.Peers()[0].name, "honest");
  EXPECT_THAT(learner.Stop("done", Deadline::After(5)), testing::IsEmpty());
  simulator.join();
}

TEST(Strangers, OnAUnixSocketAreRefusedAndDoNotHurt) {
  const SocketFolder folder;
  const WireConfig config = ConfigFor("shm", folder.Path());
  const auto learner = ListenForSimulators(config, OptionsFor(4));
  for (const std::vector<std::byte>& frame : StrangeFrames()) {
    const UniqueFd stranger = ConnectUnix(config.address, Soon());
    SendPacket(stranger.Get(), frame, -1);
    EXPECT_THROW(learner->WaitForSimulators(1, Deadline::After(0)), RunError);
  }
  ExpectAnHonestJoin(*learner, config);
}

TEST(Strangers, OnAZmqSocketAreRefusedAndDoNotHurt) {
  const SocketFolder folder;
  const WireConfig config = ConfigFor("zmq_tcp", folder.Path());
  const auto learner = ListenForSimulators(config, OptionsFor(4));
  zmq::context_t context;
  for (const std::vector<std::byte>& frame : StrangeFrames()) {
    zmq::socket_t stranger(context, zmq::socket_type::dealer);
    stranger.set(zmq::sockopt::linger, 100);
    stranger.connect(config.address);
    stranger.send(zmq::buffer(frame), zmq::send_flags::none);
    EXPECT_THROW(learner->WaitForSimulators(1, Deadline::After(0.001)), RunError);
  }
  // One that is not even ZeroMQ.
  const int port = std::stoi(config.address.substr(config.address.rfind(':') + 1));
  const UniqueFd plain(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(plain.Get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const std::string request = "GET / HTTP/1.1\r\n\r\n";
  EXPECT_EQ(write(plain.Get(), request.data(), request.size()), static_cast<ssize_t>(request.size()));
  ExpectAnHonestJoin(*learner, config);
}

}  // namespace
}  // namespace gripstream
