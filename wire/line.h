// What a transport has to provide: moving frames, and the payloads beside them, between one learner and its simulators.
//
// SimulatorEnd and LearnerEnd (wire/transport.h) hold everything that all transports share: joining, credits, sequence
// numbers, liveness. A transport only moves bytes, in order, and reports at once when a peer's connection is gone.
//
// Thread rule: one thread owns a line; TrySend and TrySendAll may be called from a second one (heartbeats). Receive
// returns nothing when the deadline passes. Failures of the machine throw RunError; a peer's failings are events, not
// exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deadline.h"
#include "wire/config.h"
#include "wire/message.h"

namespace gripstream {

// Bytes that live outside the frame, and what keeps them alive. Dropping `hold` gives the memory back.
struct Bulk {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> hold;
};

struct Event {
  enum class Kind {
    kMessage,  // frame and bulk are set; the bulk's size is what the frame says
    kClosed,   // nothing more will come from this connection; `problem` may guess why
    kBroken,   // what came is not a message of ours: `problem`
  };
  Kind kind = Kind::kMessage;
  int connection = 0;
  Frame frame;
  Bulk bulk;
  std::string problem;
};

// Without a frame or bulk.
inline Event MakeEvent(Event::Kind kind, int connection, const std::string& problem = "") {
  Event event;
  event.kind = kind;
  event.connection = connection;
  event.problem = problem;
  return event;
}

enum class SendResult { kSent, kGone, kFull };

// The record slots of a simulator, and its connection to the learner.
class SimulatorLine {
 public:
  virtual ~SimulatorLine() = default;
  // Memory of record slot i, 64-byte aligned, valid as long as the line.
  virtual std::span<std::byte> Slot(uint32_t slot) = 0;
  // The first message. Waits until the learner listens; RunError when it does not by the deadline.
  virtual void Open(const std::vector<std::byte>& join_frame, Deadline deadline) = 0;
  // Announces the record in a slot; the slot must stay untouched until its credit comes back.
  virtual SendResult SendRecord(const std::vector<std::byte>& frame, uint32_t slot, Deadline deadline) = 0;
  // The payload is copied before the call returns.
  virtual SendResult Send(const std::vector<std::byte>& frame, std::span<const std::byte> payload,
                          Deadline deadline) = 0;
  // For heartbeats: never waits, and gives way (kFull) when the reader is far behind.
  virtual SendResult TrySend(const std::vector<std::byte>& frame) = 0;
  virtual std::optional<Event> Receive(Deadline deadline) = 0;
};

// The learner's side of all connections. Connections are numbered from 1 and never reused.
class LearnerHub {
 public:
  virtual ~LearnerHub() = default;
  virtual std::string Address() const = 0;
  // The next event of any connection.
  virtual std::optional<Event> Receive(Deadline deadline) = 0;
  // The payload is copied before the call returns.
  virtual SendResult Send(int connection, std::vector<std::byte> frame, std::span<const std::byte> payload,
                          Deadline deadline) = 0;
  // For heartbeats, as TrySend.
  virtual void TrySendAll(const std::vector<std::byte>& frame) = 0;
  // Takes nothing more from this connection. Say why in a message before: not every transport can hang up on one.
  virtual void Close(int connection) = 0;
};

// What a simulator's line must hold.
struct LineShape {
  uint32_t slots = 0;
  size_t record_bytes = 0;
  size_t command_bytes = 0;  // a command's payload up to this size travels without an allocation
};

// The transport that `config` names.
std::unique_ptr<SimulatorLine> MakeSimulatorLine(const WireConfig& config, const LineShape& shape);
std::unique_ptr<LearnerHub> MakeLearnerHub(const WireConfig& config);

std::unique_ptr<SimulatorLine> MakeInprocLine(const WireConfig& config, const LineShape& shape);
std::unique_ptr<LearnerHub> MakeInprocHub(const WireConfig& config);
std::unique_ptr<SimulatorLine> MakeShmLine(const WireConfig& config, const LineShape& shape);
std::unique_ptr<LearnerHub> MakeShmHub(const WireConfig& config);
std::unique_ptr<SimulatorLine> MakeZmqLine(const WireConfig& config, const LineShape& shape);
std::unique_ptr<LearnerHub> MakeZmqHub(const WireConfig& config);

// Record slots in this process's own memory, each 64-byte aligned.
class RecordRing {
 public:
  explicit RecordRing(const LineShape& shape);
  uint32_t Slots() const { return slots_; }
  std::span<std::byte> Slot(uint32_t slot);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  uint32_t slots_;
  size_t record_bytes_;
  size_t stride_bytes_;
  std::unique_ptr<std::byte, Free> memory_;
};

// A copy of `bytes` that owns itself.
Bulk CopyBulk(std::span<const std::byte> bytes);

}  // namespace gripstream
