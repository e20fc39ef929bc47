#include "wire/nccl_line.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <thread>
#include <utility>

#include "core/log.h"
#include "wire/nccl_pair.h"
#include "wire/pulse.h"

namespace gripstream {
namespace {

constexpr size_t kSlotAlignment_bytes = 256;
constexpr size_t kControlRecord_bytes = 64;  // the zmq line's own slots stay empty
constexpr double kSpin_s = 0.002;            // how long a transfer is looked at without pause
constexpr double kLook_s = 0.001;            // between looks after that
constexpr double kLastWord_s = 0.05;         // for what is on its way when a connection ends or NCCL fails
constexpr double kLastSends_s = 1;           // for records that are still on their way when a simulator ends

void SetPayloadBytes(std::vector<std::byte>& frame, uint64_t bytes) {
  std::memcpy(frame.data() + offsetof(FrameHeader, payload_bytes), &bytes, sizeof(bytes));
}

NcclId IdOf(const NcclInvite& invite) {
  NcclId id{};
  if (invite.id.size() != id.size()) throw FrameError("an NCCL id of " + std::to_string(invite.id.size()) + " bytes");
  std::copy(invite.id.begin(), invite.id.end(), id.begin());
  return id;
}

// Record slots where NCCL reaches them. Lives as long as a record in it is held.
class DeviceRing {
 public:
  DeviceRing(std::shared_ptr<NcclApi> api, uint32_t slots, size_t record_bytes)
      : api_(std::move(api)),
        slots_(slots),
        record_bytes_(record_bytes),
        stride_bytes_((record_bytes + kSlotAlignment_bytes - 1) / kSlotAlignment_bytes * kSlotAlignment_bytes),
        memory_(api_->Allocate(stride_bytes_ * slots)) {}
  ~DeviceRing() { api_->Free(memory_); }
  DeviceRing(const DeviceRing&) = delete;
  DeviceRing& operator=(const DeviceRing&) = delete;
  uint32_t Slots() const { return slots_; }
  std::span<std::byte> Slot(uint32_t slot) {
    GS_CHECK(slot < slots_, "slot " + std::to_string(slot));
    return {memory_ + slot * stride_bytes_, record_bytes_};
  }

 private:
  std::shared_ptr<NcclApi> api_;
  uint32_t slots_;
  size_t record_bytes_, stride_bytes_;
  std::byte* memory_;
};

class NcclLine : public SimulatorLine {
 public:
  NcclLine(const WireConfig& config, const LineShape& shape, std::shared_ptr<NcclApi> api)
      : api_(std::move(api)),
        deadline_s_(config.deadline_s),
        ring_(api_, shape.slots, shape.record_bytes),
        control_(MakeZmqLine(config, {1, kControlRecord_bytes, shape.command_bytes})) {}

  ~NcclLine() override {
    const Deadline brief = Deadline::After(kLastSends_s);
    while (Look() && Busy() && !brief.Passed()) std::this_thread::sleep_for(std::chrono::duration<double>(kLook_s));
  }

  std::span<std::byte> Slot(uint32_t slot) override { return ring_.Slot(slot); }
  void Open(const std::vector<std::byte>& join_frame, Deadline deadline) override {
    control_->Open(join_frame, deadline);
  }

  SendResult SendRecord(const std::vector<std::byte>& frame, uint32_t slot, Deadline deadline) override {
    while (!pair_ || !pair_->Made()) {
      if (deadline.Passed()) throw RunError("the NCCL communicator with the learner was not made in time");
      if (!Step(Earlier(deadline, Deadline::After(kLook_s)))) break;
    }
    while (!problem_.empty() && !closed_ && !tell_.Passed()) Step(tell_);
    if (closed_) return SendResult::kGone;
    if (!problem_.empty()) throw RunError(problem_);
    pair_->QueueSend(ring_.Slot(slot));
    sent_ = Deadline::After(deadline_s_);
    Look();
    std::vector<std::byte> announcement = frame;
    SetPayloadBytes(announcement, 0);
    return control_->Send(announcement, {}, deadline);
  }
  SendResult Send(const std::vector<std::byte>& frame, std::span<const std::byte> payload, Deadline deadline) override {
    return control_->Send(frame, payload, deadline);
  }
  SendResult TrySend(const std::vector<std::byte>& frame) override { return control_->TrySend(frame); }

  std::optional<Event> Receive(Deadline deadline) override {
    for (;;) {
      if (!inbox_.empty()) {
        Event event = std::move(inbox_.front());
        inbox_.pop_front();
        return event;
      }
      if (!problem_.empty() && tell_.Passed()) return MakeEvent(Event::Kind::kBroken, 0, problem_);
      Step(Busy() || !problem_.empty() ? Earlier(deadline, Deadline::After(kLook_s)) : deadline);
      if (inbox_.empty() && deadline.Passed()) return std::nullopt;
    }
  }

 private:
  bool Busy() const { return pair_ && (!pair_->Made() || pair_->Ended() < pair_->Queued()); }

  // Looks at the transfers; false when they have failed.
  bool Look() {
    if (!problem_.empty()) return false;
    try {
      if (pair_) pair_->Progress();
      if (Busy() && pair_->Made() && sent_.Passed()) {
        throw RunError("NCCL: a record has not reached the learner for " + Seconds(deadline_s_));
      }
    } catch (const RunError& error) {
      Fail(error.what());
    }
    return problem_.empty();
  }

  // Takes in one event; false when nothing more can be sent.
  bool Step(Deadline deadline) {
    std::optional<Event> event = control_->Receive(deadline);
    if (event && event->kind == Event::Kind::kMessage && event->frame.Kind() == MessageKind::kNcclInvite) {
      Accept(event->frame);
    } else if (event) {
      closed_ = closed_ || event->kind == Event::Kind::kClosed;
      inbox_.push_back(std::move(*event));
    }
    return Look() && !closed_;
  }

  void Accept(const Frame& frame) {
    try {
      if (pair_) throw FrameError("a second NCCL invitation");
      pair_ = std::make_unique<NcclPair>(api_, IdOf(Decode<NcclInvite>(frame)), NcclPair::kSimulator);
    } catch (const RunError& error) {
      Fail(error.what());
    }
  }

  // The learner's end, when that is the cause, explains more than what NCCL says: it has a moment to show.
  void Fail(const std::string& problem) {
    pair_.reset();
    problem_ = problem;
    tell_ = Deadline::After(kLastWord_s);
  }

  std::shared_ptr<NcclApi> api_;
  double deadline_s_;
  DeviceRing ring_;
  std::unique_ptr<SimulatorLine> control_;
  std::unique_ptr<NcclPair> pair_;
  std::deque<Event> inbox_;
  Deadline sent_ = Deadline::After(0);  // by when what was sent last must be there
  std::string problem_;
  Deadline tell_ = Deadline::After(0);  // when the problem is told
  bool closed_ = false;
};

class NcclHub : public LearnerHub {
 public:
  NcclHub(const WireConfig& config, std::shared_ptr<NcclApi> api)
      : api_(std::move(api)), deadline_s_(config.deadline_s), control_(MakeZmqHub(config)) {}

  std::string Address() const override { return control_->Address(); }

  std::optional<Event> Receive(Deadline deadline) override {
    Deadline spin = Deadline::After(kSpin_s);
    for (;;) {
      std::optional<Event> event = control_->Receive(Deadline::After(0));
      for (; event; event = control_->Receive(Deadline::After(0))) Take(std::move(*event));
      if (std::optional<Event> next = NextInTurn()) return next;
      const bool busy = std::any_of(peers_.begin(), peers_.end(), [](const auto& one) { return Busy(one.second); });
      if (deadline.Passed()) return std::nullopt;
      if (busy && !spin.Passed()) continue;
      event = control_->Receive(busy ? Earlier(deadline, Deadline::After(kLook_s)) : deadline);
      if (event) Take(std::move(*event));
    }
  }

  SendResult Send(int connection, std::vector<std::byte> frame, std::span<const std::byte> payload,
                  Deadline deadline) override {
    const MessageKind kind = ParseFrame(frame).Kind();
    const SendResult result = control_->Send(connection, std::move(frame), payload, deadline);
    if (kind != MessageKind::kWelcome || result != SendResult::kSent) return result;
    return Invite(connection, deadline);
  }

  void TrySendAll(const std::vector<std::byte>& frame) override { control_->TrySendAll(frame); }

  void Close(int connection) override {
    peers_.erase(connection);
    control_->Close(connection);
  }

 private:
  struct Held {
    Event event;
    uint64_t after = 0;  // transfers that must have ended before it is delivered
    Deadline by = Deadline::After(0);
  };
  struct Peer {
    Join join;
    std::unique_ptr<NcclPair> pair;              // from the welcome on
    std::shared_ptr<DeviceRing> ring;            // the same
    std::vector<std::weak_ptr<const void>> use;  // per slot: whether its record is still held
    std::deque<Event> signs_of_life;             // heartbeats: a transfer that stalls must not look like silence
    std::deque<Held> held;                       // everything else, in the order of its coming
    std::optional<Deadline> closing;             // its connection has ended; until when transfers may still end
    std::optional<std::string> failed;           // what NCCL said, until it is told,
    std::optional<Deadline> tell;                // which is then
  };

  static bool Busy(const Peer& peer) {
    return peer.closing || peer.failed ||
           (peer.pair && (!peer.pair->Made() || peer.pair->Ended() < peer.pair->Queued()));
  }

  SendResult Invite(int connection, Deadline deadline) {
    Peer& peer = peers_[connection];
    const NcclId id = api_->NewId();
    peer.ring = std::make_shared<DeviceRing>(api_, peer.join.slots, peer.join.record_bytes);
    peer.use.resize(peer.join.slots);
    peer.pair = std::make_unique<NcclPair>(api_, id, NcclPair::kLearner);
    return control_->Send(connection, Encode(NcclInvite{{id.begin(), id.end()}}), {}, deadline);
  }

  void Take(Event event) {
    Peer& peer = peers_[event.connection];
    const bool record = event.kind == Event::Kind::kMessage && event.frame.Kind() == MessageKind::kRecord;
    if (peer.pair && event.kind == Event::Kind::kMessage && event.frame.Kind() == MessageKind::kHeartbeat) {
      peer.signs_of_life.push_back(std::move(event));
      return;
    }
    if (record && peer.ring && !peer.pair) return;  // NCCL has failed, which is or will be told
    Held held;
    try {
      if (event.kind == Event::Kind::kClosed) peer.closing = Deadline::After(kLastWord_s);
      if (event.kind == Event::Kind::kMessage && event.frame.Kind() == MessageKind::kJoin && !peer.ring) {
        peer.join = Decode<Join>(event.frame);
      }
      if (record) StartRecord(peer, event);
    } catch (const RunError& error) {
      event = MakeEvent(Event::Kind::kBroken, event.connection, error.what());
    }
    if (peer.pair) held.after = peer.pair->Queued();
    held.by = Deadline::After(deadline_s_);
    held.event = std::move(event);
    peer.held.push_back(std::move(held));
  }

  static void StartRecord(Peer& peer, Event& event) {
    FrameHeader& header = event.frame.header;
    if (!peer.pair) throw FrameError("a record before the welcome");
    if (header.payload_bytes != 0) throw FrameError("a record beside NCCL");
    if (header.slot >= peer.ring->Slots() || !peer.use[header.slot].expired()) {
      throw FrameError("a record came in slot " + std::to_string(header.slot) + ", which was not its to use");
    }
    const std::span<std::byte> slot = peer.ring->Slot(header.slot);
    const std::shared_ptr<const void> hold(slot.data(), [ring = peer.ring](const void*) {});
    peer.use[header.slot] = hold;
    peer.pair->QueueReceive(slot);
    header.payload_bytes = slot.size();
    event.bulk = {slot, hold};
  }

  // The next event of any connection. Whoever had the last one comes last: a busy simulator must not hide the others.
  std::optional<Event> NextInTurn() {
    auto at = peers_.upper_bound(last_);
    for (size_t left = peers_.size(); left > 0; --left) {
      if (at == peers_.end()) at = peers_.begin();
      const int id = at->first;
      Peer& peer = (at++)->second;  // what ends is erased
      std::optional<Event> next = Next(id, peer);
      if (!next) continue;
      last_ = id;
      return next;
    }
    return std::nullopt;
  }

  // The next event of one connection, once it is due.
  std::optional<Event> Next(int connection, Peer& peer) {
    Look(peer);
    if (!peer.signs_of_life.empty()) {
      Event event = std::move(peer.signs_of_life.front());
      peer.signs_of_life.pop_front();
      return event;
    }
    if (peer.held.empty()) {
      if (!peer.failed || !peer.tell->Passed()) return std::nullopt;
      peer.tell.reset();
      return MakeEvent(Event::Kind::kBroken, connection, *std::exchange(peer.failed, std::nullopt));
    }
    if (peer.pair && peer.pair->Ended() < peer.held.front().after) return std::nullopt;
    Event event = std::move(peer.held.front().event);
    peer.held.pop_front();
    if (event.kind == Event::Kind::kClosed) {
      if (peer.failed) event.problem = *peer.failed;  // whichever was first, both are told
      peers_.erase(connection);
    }
    return event;
  }

  static void Look(Peer& peer) {
    if (!peer.pair) return;
    try {
      peer.pair->Progress();
      const bool due = peer.held.empty() || peer.pair->Ended() >= peer.held.front().after;
      if (!due && peer.closing && peer.closing->Passed()) throw RunError("NCCL: a record never came");
      if (!due && peer.held.front().by.Passed()) throw RunError("NCCL: a record has been on its way for too long");
    } catch (const RunError& error) {
      Fail(peer, error.what());
    }
  }

  // Aborts the communicator and drops what waits for it. What the simulator itself still says, or its end, explains
  // more than NCCL does: that has a moment to arrive.
  static void Fail(Peer& peer, const std::string& problem) {
    LogWarning("nccl, ", peer.join.name, ": ", problem);
    peer.pair.reset();
    std::erase_if(peer.held, [](const Held& held) {
      return held.event.kind == Event::Kind::kMessage && held.event.frame.Kind() == MessageKind::kRecord;
    });
    peer.failed = problem;
    peer.tell = Deadline::After(kLastWord_s);
  }

  std::shared_ptr<NcclApi> api_;
  double deadline_s_;
  std::unique_ptr<LearnerHub> control_;
  std::map<int, Peer> peers_;
  int last_ = 0;  // had the last event
};

}  // namespace

std::unique_ptr<SimulatorLine> MakeNcclLine(const WireConfig& config, const LineShape& shape,
                                            std::shared_ptr<NcclApi> api) {
  return std::make_unique<NcclLine>(config, shape, std::move(api));
}

std::unique_ptr<LearnerHub> MakeNcclHub(const WireConfig& config, std::shared_ptr<NcclApi> api) {
  return std::make_unique<NcclHub>(config, std::move(api));
}

}  // namespace gripstream
