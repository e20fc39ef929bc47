// Tests wire/message.h.
#include "wire/message.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/rng.h"
#include "tests/wire/decode_any.h"

namespace gripstream {
namespace {

Join SampleJoin() {
  Join join;
  join.run_id = "run 17";
  join.spec_hash = 0x0123456789ABCDEFu;
  join.config_hash = ~uint64_t{0};
  join.env_begin = 64;
  join.env_count = 32;
  join.groups = 2;
  join.pid = 4711;
  join.host = "host.example";
  join.name = "sim 1";
  join.slots = 3;
  join.record_bytes = 1234567;
  join.command_bytes = 65536;
  return join;
}

std::vector<std::vector<std::byte>> SampleFrames() {
  return {Encode(SampleJoin()),
          Encode(Welcome{"pid 1", 0}),
          Encode(Refuse{"no"}),
          Encode(Heartbeat{"physics", 12}),
          Encode(Leave{"done"}),
          Encode(Failure{"NaN"}),
          Encode(RecordMessage{}, {.slot = 2, .sequence = 9, .payload_bytes = 1 << 20}),
          Encode(CreditMessage{}, {.slot = 2, .sequence = 9}),
          Encode(CommandMessage{2, 1, 77}, {.sequence = 5, .payload_bytes = 400}),
          Encode(StateMessage{}, {.payload_bytes = 1 << 30})};
}

TEST(Message, JoinComesBackAsItWas) {
  const Join join = Decode<Join>(ParseFrame(Encode(SampleJoin())));
  EXPECT_EQ(join.protocol, kProtocolVersion);
  EXPECT_EQ(join.run_id, "run 17");
  EXPECT_EQ(join.spec_hash, 0x0123456789ABCDEFu);
  EXPECT_EQ(join.config_hash, ~uint64_t{0});
  EXPECT_EQ(join.env_begin, 64u);
  EXPECT_EQ(join.env_count, 32u);
  EXPECT_EQ(join.groups, 2u);
  EXPECT_EQ(join.pid, 4711u);
  EXPECT_EQ(join.host, "host.example");
  EXPECT_EQ(join.name, "sim 1");
  EXPECT_EQ(join.slots, 3u);
  EXPECT_EQ(join.record_bytes, 1234567u);
  EXPECT_EQ(join.command_bytes, 65536u);
}

TEST(Message, HeaderCarriesSlotSequenceAndPayload) {
  const Frame frame = ParseFrame(Encode(CommandMessage{2, 1, 77}, {.slot = 3, .sequence = 5, .payload_bytes = 400}));
  EXPECT_EQ(frame.Kind(), MessageKind::kCommand);
  EXPECT_EQ(frame.header.slot, 3u);
  EXPECT_EQ(frame.header.sequence, 5u);
  EXPECT_EQ(frame.header.payload_bytes, 400u);
  const CommandMessage command = Decode<CommandMessage>(frame);
  EXPECT_EQ(command.command, 2u);
  EXPECT_EQ(command.group, 1u);
  EXPECT_EQ(command.policy_version, 77u);
}

TEST(Message, TextIsCutToItsLimit) {
  const Frame frame = ParseFrame(Encode(Failure{std::string(3 * kMaxText_bytes, 'x')}));
  EXPECT_EQ(Decode<Failure>(frame).text, std::string(kMaxText_bytes, 'x'));
}

TEST(Message, EveryTruncationIsRefused) {
  for (const std::vector<std::byte>& frame : SampleFrames()) {
    for (size_t bytes = 0; bytes < frame.size(); ++bytes) {
      EXPECT_THROW(DecodeAny(std::span(frame).first(bytes)), FrameError) << bytes << " of " << frame.size();
    }
    EXPECT_NO_THROW(DecodeAny(frame));
  }
}

TEST(Message, TrailingBytesAreRefused) {
  for (std::vector<std::byte> frame : SampleFrames()) {
    frame.push_back(std::byte{0});
    EXPECT_THROW(DecodeAny(frame), FrameError);
    // Also when the header counts the byte in.
    FrameHeader header;
    std::memcpy(&header, frame.data(), sizeof(header));
    ++header.body_bytes;
    std::memcpy(frame.data(), &header, sizeof(header));
    EXPECT_THROW(DecodeAny(frame), FrameError);
  }
}

TEST(Message, ForeignMagicVersionKindAndSizesAreRefused) {
  const auto broken = [](auto change) {
    std::vector<std::byte> frame = Encode(Heartbeat{"stage", 1});
    FrameHeader header;
    std::memcpy(&header, frame.data(), sizeof(header));
    change(header);
    std::memcpy(frame.data(), &header, sizeof(header));
    return frame;
  };
  EXPECT_THROW(ParseFrame(broken([](FrameHeader& h) { h.magic ^= 1; })), FrameError);
  EXPECT_THROW(ParseFrame(broken([](FrameHeader& h) { ++h.version; })), FrameError);
  EXPECT_THROW(ParseFrame(broken([](FrameHeader& h) { h.kind = 0; })), FrameError);
  EXPECT_THROW(ParseFrame(broken([](FrameHeader& h) { h.kind = 12; })), FrameError);
  EXPECT_THROW(ParseFrame(broken([](FrameHeader& h) { h.body_bytes = 0xFFFFFFFFu; })), FrameError);
  EXPECT_THROW(ParseFrame(broken([](FrameHeader& h) { h.payload_bytes = kMaxPayload_bytes + 1; })), FrameError);
  EXPECT_THROW(Decode<Join>(ParseFrame(Encode(Heartbeat{"stage", 1}))), FrameError);
}

TEST(Message, TextLengthsBeyondTheBodyAreRefusedBeforeAllocating) {
  std::vector<std::byte> frame = Encode(Leave{"bye"});
  for (const uint32_t claimed : {4u, 4096u, 4097u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    std::memcpy(frame.data() + sizeof(FrameHeader), &claimed, sizeof(claimed));
    EXPECT_THROW(Decode<Leave>(ParseFrame(frame)), FrameError) << claimed;
  }
}

// Damages valid frames at random (the same way on every run); a sanitizer build shows that nothing outside is touched.
TEST(Message, DamagedFramesAreDecodedOrRefusedAndNothingElse) {
  const std::vector<std::vector<std::byte>> samples = SampleFrames();
  const RandomStream stream(1, "fuzz");
  int refused = 0;
  for (uint32_t round = 0; round < 200000; ++round) {
    Rng rng = stream.At(round, 0);
    std::vector<std::byte> frame = samples[rng.Below(static_cast<uint32_t>(samples.size()))];
    const uint32_t changes = 1 + rng.Below(4);
    for (uint32_t i = 0; i < changes; ++i) {
      frame[rng.Below(static_cast<uint32_t>(frame.size()))] = static_cast<std::byte>(rng.NextU32());
    }
    if (rng.Below(4) == 0) frame.resize(rng.Below(static_cast<uint32_t>(frame.size()) + 8));
    try {
      DecodeAny(frame);
    } catch (const FrameError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100000);
}

}  // namespace
}  // namespace gripstream
