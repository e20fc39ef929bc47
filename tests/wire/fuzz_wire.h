// Everything that reads bytes from the other side, as one function over arbitrary input: what the mutation test and
// libFuzzer share.
//
//   input = target (1 byte), then
//     0      one frame, decoded as whatever it says it is
//     1      an episode request
//     2, 3   a packed record (LZ4, Zstandard)
//     4      a conversation: what a learner hears from up to three connections
//     5      a conversation: what a simulator hears from its learner
//   conversation = steps of: connection (1 byte), frame bytes (2), payload bytes (2), frame, payload
//
// Refusing input is right (RunError). Anything else that escapes is a find: InternalError, a crash, a sanitizer's word.
#pragma once

#include <algorithm>
#include <optional>

#include "tests/wire/decode_any.h"
#include "tests/wire/wire_fixture.h"
#include "wire/episode_request.h"
#include "wire/record_codec.h"

namespace gripstream {

using FuzzInput = std::span<const std::byte>;

inline const Layout& FuzzLayout() {
  static const Layout layout(TestSpecs(), 4);
  return layout;
}

// No more input: ends a conversation.
struct InputEnded {};

// The events that a transport would make of the rest of the input.
class ScriptedEvents {
 public:
  explicit ScriptedEvents(FuzzInput input) : rest_(input) {}

  // Nothing twice in a row ends the conversation, so that no wait is ever slept through.
  std::optional<Event> Next() {
    if (rest_.size() < kStepHead_bytes) {
      if (std::exchange(idle_, true)) throw InputEnded();
      return std::nullopt;
    }
    Event event;
    event.connection = 1 + static_cast<int>(rest_[0]) % 3;
    uint16_t frame_bytes = 0, payload_bytes = 0;
    std::memcpy(&frame_bytes, rest_.data() + 1, 2);
    std::memcpy(&payload_bytes, rest_.data() + 3, 2);
    const FuzzInput frame = Take(kStepHead_bytes, frame_bytes);
    const FuzzInput payload = Take(0, payload_bytes);
    if (frame.empty()) {
      event.kind = Event::Kind::kClosed;
      return event;
    }
    try {
      event.frame = ParseFrame(frame);
      // Transports let nothing through whose payload is not as long as announced.
      if (event.frame.header.payload_bytes != payload.size()) throw FrameError("payload of another length");
      if (!payload.empty()) event.bulk = CopyBulk(payload);
    } catch (const FrameError& error) {
      event.kind = Event::Kind::kBroken;
      event.problem = error.what();
    }
    return event;
  }

 private:
  static constexpr size_t kStepHead_bytes = 5;
  FuzzInput Take(size_t skip, size_t bytes) {
    rest_ = rest_.subspan(skip);
    const FuzzInput taken = rest_.first(std::min(bytes, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  FuzzInput rest_;
  bool idle_ = false;
};

class ScriptedHub : public LearnerHub {
 public:
  explicit ScriptedHub(FuzzInput input) : events_(input) {}
  std::string Address() const override { return "script"; }
  std::optional<Event> Receive(Deadline) override { return events_.Next(); }
  SendResult Send(int, std::vector<std::byte>, std::span<const std::byte>, Deadline) override {
    return SendResult::kSent;
  }
  void TrySendAll(const std::vector<std::byte>&) override {}
  void Close(int) override {}

 private:
  ScriptedEvents events_;
};

class ScriptedLine : public SimulatorLine {
 public:
  explicit ScriptedLine(FuzzInput input) : events_(input), ring_({3, FuzzLayout().Bytes(), 65536}) {}
  std::span<std::byte> Slot(uint32_t slot) override { return ring_.Slot(slot); }
  void Open(const std::vector<std::byte>&, Deadline) override {}
  SendResult SendRecord(const std::vector<std::byte>&, uint32_t, Deadline) override { return SendResult::kSent; }
  SendResult Send(const std::vector<std::byte>&, std::span<const std::byte>, Deadline) override {
    return SendResult::kSent;
  }
  SendResult TrySend(const std::vector<std::byte>&) override { return SendResult::kSent; }
  std::optional<Event> Receive(Deadline) override { return events_.Next(); }

 private:
  ScriptedEvents events_;
  RecordRing ring_;
};

inline void ConverseAsLearner(FuzzInput input) {
  WireConfig config;
  config.heartbeat_s = 1000, config.deadline_s = 10000;
  LearnerEnd learner(config, OptionsFor(4), std::make_unique<ScriptedHub>(input));
  learner.WaitForSimulators(1, Deadline::After(1));
  for (uint64_t step = 0;; ++step) {
    learner.Send(0, step % 3 ? CommandKind::kStep : CommandKind::kSaveState, step, {});
    if (step % 3 == 0) learner.ReceiveState(0, Deadline::After(1));
    const Received received = learner.ReceiveRecord(0, Deadline::After(1));
    GS_CHECK(received.record.size() == FuzzLayout().Bytes(), "record of a wrong size let through");
    GS_CHECK(received.header.env_count == 4 && received.header.env_begin == 0, "wrong environments let through");
    learner.ReleaseRecord(0, received);
  }
}

inline void ConverseAsSimulator(FuzzInput input) {
  WireConfig config;
  config.heartbeat_s = 1000, config.deadline_s = 10000;
  SimulatorEnd simulator(config, JoinFor(0, 4, "sim 0"), FuzzLayout(), std::make_unique<ScriptedLine>(input),
                         Deadline::After(1));
  for (Command command; command.kind != CommandKind::kStop;) {
    if (!simulator.AcquireRecord(Deadline::After(1)).empty()) simulator.PublishRecord();
    command = simulator.WaitCommand(Deadline::After(1));
  }
}

inline void UnpackAny(const std::string& compression, FuzzInput input) {
  RecordCodec codec(compression, FuzzLayout());
  std::vector<std::byte> record(FuzzLayout().Bytes());
  codec.Unpack(input, record);
}

// Returns whether the input was accepted; throws what must not be thrown.
inline bool FuzzOne(FuzzInput input) {
  if (input.empty()) return false;
  const FuzzInput rest = input.subspan(1);
  try {
    switch (static_cast<int>(input[0]) % 6) {
      case 0:
        DecodeAny(rest);
        break;
      case 1:
        EpisodeRequest::Decode(rest);
        break;
      case 2:
        UnpackAny("lz4", rest);
        break;
      case 3:
        UnpackAny("zstd", rest);
        break;
      case 4:
        ConverseAsLearner(rest);
        break;
      default:
        ConverseAsSimulator(rest);
    }
  } catch (const RunError&) {
    return false;
  } catch (const InputEnded&) {
  }
  return true;
}

}  // namespace gripstream
