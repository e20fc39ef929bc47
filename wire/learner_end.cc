#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/interrupt.h"
#include "core/log.h"
#include "wire/learner_peer.h"

namespace gripstream {

namespace {

constexpr double kLook_s = 0.2;            // between looks at whether the run is interrupted
constexpr double kInterruptGrace_s = 2.5;  // Ctrl-C is answered within 5 s, whoever is stuck

std::string ProblemWithHeader(const RecordHeader& header, const PeerInfo& info, const Layout& layout,
                              uint64_t sequence) {
  if (header.magic != kRecordMagic || header.version != kRecordVersion) return "its header is not a record's";
  if (header.sequence != sequence) return "its header says record " + std::to_string(header.sequence);
  if (header.payload_bytes != layout.Bytes())
    return "its header says " + std::to_string(header.payload_bytes) + " bytes";
  const auto n = static_cast<uint32_t>(layout.N());
  if (header.env_count != n || header.env_begin < info.env_begin ||
      header.env_begin - info.env_begin > info.env_count - n || header.group >= info.groups) {
    return "its header names environments " +
           EnvRangeText(header.env_begin, uint64_t{header.env_begin} + header.env_count) + " of group " +
           std::to_string(header.group);
  }
  return "";
}

}  // namespace

std::string PeerInfo::Describe() const {
  return "simulator '" + name + "' (pid " + std::to_string(pid) + " on " + host + ", environments " +
         EnvRangeText(env_begin, uint64_t{env_begin} + env_count) + ")";
}

std::unique_ptr<LearnerEnd> ListenForSimulators(const WireConfig& config, const LearnerOptions& options) {
  config.Check();
  return std::make_unique<LearnerEnd>(config, options, MakeLearnerHub(config));
}

LearnerEnd::LearnerEnd(const WireConfig& config, const LearnerOptions& options, std::unique_ptr<LearnerHub> hub)
    : config_(config),
      options_(options),
      spec_hash_(Layout(options.specs, 1).Hash()),
      hub_(std::move(hub)),
      address_(hub_->Address()) {
  GS_CHECK(options_.total_envs >= 1, "a run needs environments");
  pulse_ = std::make_unique<Pulse>(config_.heartbeat_s,
                                   [this](const std::vector<std::byte>& frame) { hub_->TrySendAll(frame); });
}

LearnerEnd::~LearnerEnd() = default;

void LearnerEnd::SetStage(const std::string& stage) {
  pulse_->SetStage(stage);
}

const Layout& LearnerEnd::RecordLayout(int peer) const {
  return PeerAt(peer).layout;
}

Liveness LearnerEnd::LivenessOf(int peer) const {
  return PeerAt(peer).watch.History();
}

LearnerEnd::Peer& LearnerEnd::PeerAt(int peer) const {
  GS_CHECK(complete_ && peer >= 0 && static_cast<size_t>(peer) < peers_.size(), "peer " + std::to_string(peer));
  return *peers_[static_cast<size_t>(peer)];
}

Received LearnerEnd::ReceiveRecord(int peer, Deadline deadline) {
  Peer& from = PeerAt(peer);
  while (from.records.empty()) AwaitPeer(from, "record " + std::to_string(from.next_record), deadline);
  Peer::QueuedRecord next = std::move(from.records.front());
  from.records.pop_front();
  from.held[next.slot] = std::move(next.bulk);
  pulse_->Progress();
  return {from.held[next.slot].bytes, next.header, next.slot};
}

int LearnerEnd::AwaitRecord(std::span<const int> peers, Deadline deadline) {
  GS_CHECK(!peers.empty(), "waiting for nobody");
  for (;;) {
    for (size_t i = 0; i < peers.size(); ++i) {
      const int peer = peers[(turn_ + i) % peers.size()];
      if (PeerAt(peer).records.empty()) continue;
      turn_ += i + 1;
      return peer;
    }
    // Whoever has failed, or else has been silent for longest, decides how long there is to wait.
    const auto rank = [this](int peer) {
      return PeerAt(peer).fault.empty() ? PeerAt(peer).watch.SilentSeconds() : std::numeric_limits<double>::max();
    };
    const int worst = *std::max_element(peers.begin(), peers.end(), [&](int a, int b) { return rank(a) < rank(b); });
    AwaitPeer(PeerAt(worst), "any record", deadline);
  }
}

void LearnerEnd::ReleaseRecord(int peer, const Received& received) {
  Peer& from = PeerAt(peer);
  if (from.absent) return;  // what it held went with it
  GS_CHECK(received.slot < from.slots && from.held[received.slot].hold &&
               from.slot_sequence[received.slot] == received.header.sequence,
           "record " + std::to_string(received.header.sequence) + " is not held");
  from.held[received.slot] = {};
  from.slot_sequence[received.slot] = 0;
  // A simulator that is gone needs no credit; whoever waits for its next record learns why.
  if (from.parted) return;
  const FrameExtras extras{.slot = received.slot, .sequence = received.header.sequence};
  if (hub_->Send(from.connection, Encode(CreditMessage{}, extras), {}, Deadline::After(config_.deadline_s)) ==
      SendResult::kFull) {
    from.fault = "does not read its messages";
  }
}

void LearnerEnd::Send(int peer, CommandKind kind, uint64_t policy_version, std::span<const std::byte> payload,
                      uint32_t group) {
  Peer& to = PeerAt(peer);
  GS_CHECK(group < to.info.groups, "group " + std::to_string(group));
  GS_CHECK(payload.size() <= kMaxPayload_bytes, "command payload too large");
  const std::string what =
      std::string("sending it command ") + std::to_string(to.next_command) + " (" + NameOf(kind) + ")";
  if (!to.fault.empty()) ThrowFault(to, what);
  const CommandMessage message{static_cast<uint32_t>(kind), group, policy_version};
  const FrameExtras extras{.sequence = to.next_command, .payload_bytes = payload.size()};
  const SendResult result =
      hub_->Send(to.connection, Encode(message, extras), payload, Deadline::After(config_.deadline_s));
  if (result == SendResult::kSent) {
    ++to.next_command;
    pulse_->Progress();
    return;
  }
  // What it said before it went explains it best.
  const Deadline brief = Deadline::After(0.2);
  while (to.fault.empty() && !brief.Passed()) Pump(brief, &to);
  if (to.fault.empty()) to.fault = result == SendResult::kFull ? "does not read its messages" : "is gone";
  ThrowFault(to, what);
}

std::vector<std::byte> LearnerEnd::ReceiveState(int peer, Deadline deadline) {
  Peer& from = PeerAt(peer);
  while (from.states.empty()) AwaitPeer(from, "its saved state", deadline);
  const Bulk state = std::move(from.states.front());
  from.states.pop_front();
  return {state.bytes.begin(), state.bytes.end()};
}

// Takes in events until something of `peer` changed or a while has passed; throws when it cannot deliver any more.
void LearnerEnd::AwaitPeer(Peer& peer, const std::string& awaited, Deadline deadline) {
  if (!peer.fault.empty()) ThrowFault(peer, awaited);
  if (Interrupted() && !interrupt_grace_) interrupt_grace_ = Deadline::After(kInterruptGrace_s);
  const bool silent = peer.watch.SilentSeconds() > 2 * config_.heartbeat_s;
  if (silent && interrupt_grace_ && interrupt_grace_->Passed()) {
    throw PeerLost(peer.index, peer.info.Describe() + " is silent and has not sent " + awaited + " within " +
                                   Seconds(kInterruptGrace_s) + " of the interrupt; " + peer.watch.Describe());
  }
  if (deadline.Passed()) {
    Pump(deadline, &peer);  // what has arrived by now still counts
    if (!peer.records.empty() || !peer.states.empty()) return;
    throw PeerLost(peer.index,
                   "timed out waiting for " + awaited + " of " + peer.info.Describe() + "; " + peer.watch.Describe());
  }
  Pump(Earlier(deadline, Deadline::After(kLook_s)), &peer);
  if (peer.fault.empty() && peer.watch.SilentSeconds() >= config_.deadline_s) {
    throw PeerLost(peer.index, peer.info.Describe() + " is silent (wire.deadline_s = " + Seconds(config_.deadline_s) +
                                   ") while the learner waits for " + awaited + "; " + peer.watch.Describe());
  }
}

void LearnerEnd::ThrowFault(const Peer& peer, const std::string& awaited) const {
  throw PeerLost(peer.index, peer.info.Describe() + " " + peer.fault + " (the learner waited for " + awaited + "); " +
                                 peer.watch.Describe());
}

// Takes in everything that is there; waits for one event when nothing is, no longer than `awaited` may stay silent.
void LearnerEnd::Pump(Deadline deadline, const Peer* awaited) {
  std::optional<Event> event = hub_->Receive(Deadline::After(0));
  if (!event) {
    double wait_s = deadline.RemainingSeconds();
    if (awaited) wait_s = std::min(wait_s, std::max(0.0, config_.deadline_s - awaited->watch.SilentSeconds()));
    event = hub_->Receive(Deadline::After(wait_s));
  }
  for (; event; event = hub_->Receive(Deadline::After(0))) Dispatch(std::move(*event));
}

void LearnerEnd::Dispatch(Event event) {
  for (const auto& peer : peers_) {
    if (peer->connection != event.connection) continue;
    try {
      DispatchToPeer(*peer, std::move(event));
    } catch (const FrameError& error) {
      peer->fault = std::string("sent something malformed: ") + error.what();
    }
    return;
  }
  if (put_out_.contains(event.connection)) {
    if (event.kind == Event::Kind::kClosed) put_out_.erase(event.connection);
    return;
  }
  const auto spare = std::find_if(spares_.begin(), spares_.end(),
                                  [&](const Spare& waiting) { return waiting.connection == event.connection; });
  if (spare != spares_.end()) {
    LogInfo("spare simulator '", spare->join.name, "' waits no more");
    if (event.kind != Event::Kind::kClosed) hub_->Close(event.connection);  // it has nothing to say yet
    spares_.erase(spare);
    return;
  }
  if (event.kind == Event::Kind::kClosed) return;
  TakeJoin(event);
}

void LearnerEnd::DispatchToPeer(Peer& peer, Event event) {
  if (event.kind == Event::Kind::kClosed) {
    peer.parted = true;
    const std::string why = event.problem.empty() ? "" : " (" + event.problem + ")";
    if (peer.fault.empty()) peer.fault = "closed the connection without a word" + why;
    return;
  }
  if (event.kind == Event::Kind::kBroken) throw FrameError(event.problem);
  peer.watch.Heard();
  switch (event.frame.Kind()) {
    case MessageKind::kHeartbeat:
      peer.watch.Note(Decode<Heartbeat>(event.frame));
      return;
    case MessageKind::kRecord:
      TakeRecord(peer, std::move(event));
      return;
    case MessageKind::kState:
      peer.states.push_back(std::move(event.bulk));
      return;
    case MessageKind::kFailure:
      peer.fault = "failed: " + Decode<Failure>(event.frame).text;
      return;
    case MessageKind::kLeave:
      peer.parted = true;
      peer.fault = "left: " + Decode<Leave>(event.frame).text;
      return;
    default:
      throw FrameError(std::string("unexpected message: ") + NameOf(event.frame.Kind()));
  }
}

void LearnerEnd::TakeRecord(Peer& peer, Event event) {
  const FrameHeader& frame = event.frame.header;
  const std::string which = "record " + std::to_string(frame.sequence);
  if (frame.sequence != peer.next_record) {
    throw FrameError(which + " arrived where " + std::to_string(peer.next_record) + " was due");
  }
  if (frame.slot >= peer.slots || peer.slot_sequence[frame.slot] != 0) {
    throw FrameError(which + " came in slot " + std::to_string(frame.slot) + ", which was not its to use");
  }
  if (peer.codec) event.bulk = Unpacked(peer, frame.slot, event.bulk);
  if (event.bulk.bytes.size() != peer.layout.Bytes()) {
    throw FrameError(which + " has " + std::to_string(event.bulk.bytes.size()) + " bytes, expected " +
                     std::to_string(peer.layout.Bytes()));
  }
  RecordHeader header{};
  std::memcpy(&header, event.bulk.bytes.data(), sizeof(header));
  const std::string problem = ProblemWithHeader(header, peer.info, peer.layout, frame.sequence);
  if (!problem.empty()) throw FrameError(which + " is damaged: " + problem);
  ++peer.next_record;
  peer.slot_sequence[frame.slot] = frame.sequence;
  peer.records.push_back({std::move(event.bulk), header, frame.slot});
}

// The record's slot is the simulator's to fill only once its last record has been released, so its buffer is free.
Bulk LearnerEnd::Unpacked(Peer& peer, uint32_t slot, const Bulk& packed) {
  std::shared_ptr<std::vector<std::byte>>& buffer = peer.unpacked[slot];
  if (!buffer) buffer = std::make_shared<std::vector<std::byte>>(peer.layout.Bytes());
  peer.codec->Unpack(packed.bytes, *buffer);
  return {*buffer, buffer};
}

std::vector<std::string> LearnerEnd::Stop(const std::string& reason, Deadline deadline) {
  pulse_->SetStage("stopping: " + reason);
  for (const auto& peer : peers_) {
    if (peer->parted) continue;
    const CommandMessage message{static_cast<uint32_t>(CommandKind::kStop), 0, 0};
    const FrameExtras extras{.sequence = peer->next_command++};
    hub_->Send(peer->connection, Encode(message, extras), {}, Deadline::After(1));
  }
  for (const Spare& spare : spares_) hub_->Send(spare.connection, Encode(Leave{reason}), {}, Deadline::After(0));
  const auto living = [](const auto& peer) { return !peer->parted; };
  while (std::any_of(peers_.begin(), peers_.end(), living) && !deadline.Passed()) {
    Pump(deadline, nullptr);
    for (const auto& peer : peers_) peer->records.clear();
  }
  std::vector<std::string> unanswered;
  for (const auto& peer : peers_) {
    if (!peer->parted) unanswered.push_back(peer->info.Describe() + "; " + peer->watch.Describe());
  }
  return unanswered;
}

}  // namespace gripstream
