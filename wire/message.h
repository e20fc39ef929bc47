// The small messages that cross the wire beside the records: how they are framed, written and read back.
//
//   frame = FrameHeader (32 bytes) + body; a message's large payload travels beside its frame, never inside it
//
// Each message lists its own fields once (Fields), and writing and reading both come from that list. Reading never
// looks outside the frame, checks every size before allocating, and throws FrameError on anything that is not exactly
// one well-formed message. Plain values; no thread rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/error.h"

namespace gripstream {

inline constexpr uint32_t kFrameMagic = 0x46575347;  // "GSWF"
inline constexpr uint16_t kFrameVersion = 1;         // of the framing; changes only when a frame can no longer be read
inline constexpr uint32_t kProtocolVersion = 3;      // of the conversation; a join with another one is refused
inline constexpr size_t kMaxText_bytes = 4096;
inline constexpr size_t kMaxBody_bytes = 32768;
inline constexpr uint64_t kMaxPayload_bytes = uint64_t{4} << 30;
inline constexpr uint32_t kNoSlot = 0xFFFFFFFFu;

enum class MessageKind : uint16_t {
  kJoin = 1,
  kWelcome,
  kRefuse,
  kHeartbeat,
  kLeave,
  kFailure,
  kRecord,
  kCredit,
  kCommand,
  kState,
  kNcclInvite,
};
const char* NameOf(MessageKind kind);

struct FrameHeader {
  uint32_t magic = kFrameMagic;
  uint16_t version = kFrameVersion;
  uint16_t kind = 0;
  uint32_t body_bytes = 0;
  uint32_t slot = kNoSlot;     // ring slot that holds the payload (records, commands) or is given back (credits)
  uint64_t sequence = 0;       // of a record or command
  uint64_t payload_bytes = 0;  // beside the frame
};
static_assert(sizeof(FrameHeader) == 32 && std::is_trivially_copyable_v<FrameHeader>);

// What arrived is not a message.
class FrameError : public RunError {
 public:
  using RunError::RunError;
};

// A frame whose header has been checked and whose body has the length it says.
struct Frame {
  FrameHeader header;
  std::vector<std::byte> body;
  MessageKind Kind() const { return static_cast<MessageKind>(header.kind); }
};

// Of a spare that has no environments of its own.
inline constexpr uint32_t kAnyEnvs = 0xffffffff;

// A simulator asks to take part. The learner compares every field with its own run.
struct Join {
  static constexpr MessageKind kKind = MessageKind::kJoin;
  uint32_t protocol = kProtocolVersion;
  std::string run_id;
  uint64_t spec_hash = 0;    // Layout::Hash
  uint64_t config_hash = 0;  // of what both roles must agree on
  uint32_t env_begin = 0;    // global ids [env_begin, env_begin + env_count); kAnyEnvs: whichever are missing
  uint32_t env_count = 0;
  uint32_t groups = 1;  // equal parts in which the environments are stepped; a record holds one
  uint64_t pid = 0;
  std::string host;
  std::string name;           // for people: "sim 0"
  uint32_t slots = 0;         // the rest is filled in by ConnectToLearner
  uint64_t record_bytes = 0;  // Layout::Bytes
  uint64_t command_bytes = 0;
  std::string compression = "none";  // of its records: "none", "lz4", "zstd"
  uint32_t spare = 0;                // 1: where its environments are taken, it waits until some are missing
  template <class Visitor>
  void Fields(Visitor& v) {
    v(protocol), v(run_id), v(spec_hash), v(config_hash), v(env_begin), v(env_count), v(groups), v(pid), v(host),
        v(name), v(slots), v(record_bytes), v(command_bytes), v(compression), v(spare);
  }
};

struct Welcome {
  static constexpr MessageKind kKind = MessageKind::kWelcome;
  std::string learner;     // name, pid and host, for messages
  uint32_t env_begin = 0;  // the simulator's environments from now on: what it asked for, unless it is a spare
  template <class Visitor>
  void Fields(Visitor& v) {
    v(learner), v(env_begin);
  }
};

// The three messages that carry one line of text.
template <MessageKind kind>
struct TextMessage {
  static constexpr MessageKind kKind = kind;
  std::string text;
  template <class Visitor>
  void Fields(Visitor& v) {
    v(text);
  }
};
using Refuse = TextMessage<MessageKind::kRefuse>;
using Leave = TextMessage<MessageKind::kLeave>;
using Failure = TextMessage<MessageKind::kFailure>;

// The learner's answer to a join over nccl, after the welcome.
struct NcclInvite {
  static constexpr MessageKind kKind = MessageKind::kNcclInvite;
  std::string id;  // 128 bytes: names the communicator that both sides now make
  template <class Visitor>
  void Fields(Visitor& v) {
    v(id);
  }
};

struct Heartbeat {
  static constexpr MessageKind kKind = MessageKind::kHeartbeat;
  std::string stage;      // what the sender is doing
  uint64_t progress = 0;  // grows with each record, command and change of stage
  template <class Visitor>
  void Fields(Visitor& v) {
    v(stage), v(progress);
  }
};

enum class CommandKind : uint32_t { kReset = 1, kStep, kSaveState, kLoadState, kStop, kSetLevel, kPolicy, kAct };
const char* NameOf(CommandKind kind);

struct CommandMessage {
  static constexpr MessageKind kKind = MessageKind::kCommand;
  uint32_t command = 0;  // CommandKind
  uint32_t group = 0;
  uint64_t policy_version = 0;
  template <class Visitor>
  void Fields(Visitor& v) {
    v(command), v(group), v(policy_version);
  }
};

// Messages without a body: their header says it all.
template <MessageKind kind>
struct BareMessage {
  static constexpr MessageKind kKind = kind;
  template <class Visitor>
  void Fields(Visitor&) {}
};
using RecordMessage = BareMessage<MessageKind::kRecord>;
using CreditMessage = BareMessage<MessageKind::kCredit>;
using StateMessage = BareMessage<MessageKind::kState>;

// Appends fields to a frame. Text longer than the limit is cut.
class FrameWriter {
 public:
  explicit FrameWriter(std::vector<std::byte>& out) : out_(out) {}
  template <class Number>
  requires std::is_integral_v<Number>
  void operator()(Number value) { Append(&value, sizeof(value)); }
  void operator()(const std::string& text);

 private:
  void Append(const void* data, size_t bytes);
  std::vector<std::byte>& out_;
};

class FrameReader {
 public:
  explicit FrameReader(std::span<const std::byte> body) : rest_(body) {}
  template <class Number>
  requires std::is_integral_v<Number>
  void operator()(Number& value) { std::memcpy(&value, Take(sizeof(value)).data(), sizeof(value)); }
  void operator()(std::string& text);
  void ExpectEnd() const;  // FrameError when bytes are left over

 private:
  std::span<const std::byte> Take(size_t bytes);
  std::span<const std::byte> rest_;
};

// What a message's header may carry besides its kind and size.
struct FrameExtras {
  uint32_t slot = kNoSlot;
  uint64_t sequence = 0;
  uint64_t payload_bytes = 0;
};

std::vector<std::byte> FinishFrame(MessageKind kind, const FrameExtras& extras, std::vector<std::byte> frame);

template <class Message>
std::vector<std::byte> Encode(Message message, const FrameExtras& extras = {}) {
  std::vector<std::byte> frame(sizeof(FrameHeader));
  FrameWriter writer(frame);
  message.Fields(writer);
  return FinishFrame(Message::kKind, extras, std::move(frame));
}

// Checks magic, version, kind and sizes; copies the body.
Frame ParseFrame(std::span<const std::byte> bytes);

// Throws FrameError when the frame holds another kind or its body is short, long or malformed.
template <class Message>
Message Decode(const Frame& frame) {
  if (frame.Kind() != Message::kKind) {
    throw FrameError(std::string("expected a ") + NameOf(Message::kKind) + " message, got a " + NameOf(frame.Kind()));
  }
  Message message;
  FrameReader reader(frame.body);
  message.Fields(reader);
  reader.ExpectEnd();
  return message;
}

}  // namespace gripstream
