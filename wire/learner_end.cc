#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/log.h"
#include "wire/transport.h"

namespace gripstream {

// One joined simulator.
struct LearnerEnd::Peer {
  int index = -1;  // among the peers, once all have joined
  struct QueuedRecord {
    Bulk bulk;
    RecordHeader header;
    uint32_t slot;
  };
  int connection = 0;
  PeerInfo info;
  uint32_t slots = 0;
  Layout layout;
  PeerWatch watch;
  std::deque<QueuedRecord> records;     // arrived, not yet received
  std::vector<Bulk> held;               // per slot: received, not yet released
  std::vector<uint64_t> slot_sequence;  // per slot: 0 = with the simulator, else the record here
  std::deque<Bulk> states;
  std::unique_ptr<RecordCodec> codec;                               // when it compresses its records
  std::vector<std::shared_ptr<std::vector<std::byte>>> unpacked{};  // then: per slot
  uint64_t next_record = 1;
  uint64_t next_command = 1;
  bool parted = false;  // left in order or closed: nothing can be sent any more
  bool absent = false;  // put out, and not replaced yet
  std::string fault;    // why nothing more will come; empty while all is well
};

namespace {

std::string Range(uint64_t begin, uint64_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

std::string ProblemWithHeader(const RecordHeader& header, const PeerInfo& info, const Layout& layout,
                              uint64_t sequence) {
  if (header.magic != kRecordMagic || header.version != kRecordVersion) return "its header is not a record's";
  if (header.sequence != sequence) return "its header says record " + std::to_string(header.sequence);
  if (header.payload_bytes != layout.Bytes())
    return "its header says " + std::to_string(header.payload_bytes) + " bytes";
  const auto n = static_cast<uint32_t>(layout.N());
  if (header.env_count != n || header.env_begin < info.env_begin ||
      header.env_begin - info.env_begin > info.env_count - n || header.group >= info.groups) {
    return "its header names environments " + Range(header.env_begin, uint64_t{header.env_begin} + header.env_count) +
           " of group " + std::to_string(header.group);
  }
  return "";
}

}  // namespace

std::string PeerInfo::Describe() const {
  return "simulator '" + name + "' (pid " + std::to_string(pid) + " on " + host + ", environments " +
         Range(env_begin, uint64_t{env_begin} + env_count) + ")";
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

void LearnerEnd::WaitForSimulators(int count, Deadline deadline) {
  GS_CHECK(count >= 1 && !complete_, "WaitForSimulators is called once, for at least one");
  expected_count_ = count;
  const auto missing = [this] { return static_cast<int>(peers_.size()) < expected_count_; };
  while (missing() || !MissingRanges().empty()) {
    if (!missing()) {
      throw RunError("all " + std::to_string(count) + " simulators have joined, but environments " + MissingRanges() +
                     " belong to none");
    }
    if (deadline.Passed()) {
      throw RunError("only " + std::to_string(peers_.size()) + " of " + std::to_string(count) +
                     " simulators joined in time; missing: environments " + MissingRanges() +
                     (last_refusal_.empty() ? "" : "; refused: " + last_refusal_));
    }
    Pump(deadline, nullptr);
    for (const auto& peer : peers_) {
      if (!peer->fault.empty()) ThrowFault(*peer, "the other simulators");
    }
  }
  std::sort(peers_.begin(), peers_.end(),
            [](const auto& a, const auto& b) { return a->info.env_begin < b->info.env_begin; });
  for (const auto& peer : peers_) {
    peer->index = static_cast<int>(infos_.size());
    infos_.push_back(peer->info);
  }
  complete_ = true;
}

std::string LearnerEnd::MissingRanges() const {
  std::vector<std::pair<uint64_t, uint64_t>> taken;
  for (const auto& peer : peers_) {
    taken.emplace_back(peer->info.env_begin, uint64_t{peer->info.env_begin} + peer->info.env_count);
  }
  const auto first = static_cast<uint64_t>(options_.first_env), end_of_all = first + options_.total_envs;
  taken.emplace_back(end_of_all, end_of_all);
  std::sort(taken.begin(), taken.end());
  std::string text;
  uint64_t covered = first;
  for (const auto& [begin, end] : taken) {
    if (begin > covered) text += (text.empty() ? "" : ", ") + Range(covered, begin);
    covered = std::max(covered, end);
  }
  return text;
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
  if (deadline.Passed()) {
    Pump(deadline, &peer);  // what has arrived by now still counts
    if (!peer.records.empty() || !peer.states.empty()) return;
    throw PeerLost(peer.index,
                   "timed out waiting for " + awaited + " of " + peer.info.Describe() + "; " + peer.watch.Describe());
  }
  Pump(deadline, &peer);
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
  if (event.kind == Event::Kind::kClosed) return;
  TakeJoin(event);
}

void LearnerEnd::DispatchToPeer(Peer& peer, Event event) {
  if (event.kind == Event::Kind::kClosed) {
    peer.parted = true;
    if (peer.fault.empty()) peer.fault = "closed the connection without a word";
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

void LearnerEnd::TakeJoin(const Event& event) {
  Join join;
  std::string reason;
  try {
    if (event.kind == Event::Kind::kBroken) throw FrameError(event.problem);
    join = Decode<Join>(event.frame);
    reason = ReasonToRefuse(join);
  } catch (const FrameError& error) {
    reason = error.what();
  }
  const Deadline brief = Deadline::After(1);
  if (!reason.empty()) {
    PeerInfo info{join.name, join.host, join.pid, join.env_begin, join.env_count, join.groups};
    const std::string who = join.name.empty() ? std::string("a connection") : info.Describe();
    last_refusal_ = who + ": " + reason;
    LogWarning("refused ", last_refusal_);
    hub_->Send(event.connection, Encode(Refuse{reason}), {}, brief);
    hub_->Close(event.connection);
    return;
  }
  auto peer =
      std::make_unique<Peer>(Peer{.connection = event.connection,
                                  .info = {join.name, join.host, join.pid, join.env_begin, join.env_count, join.groups},
                                  .slots = join.slots,
                                  .layout = Layout(options_.specs, static_cast<int>(join.env_count / join.groups)),
                                  .watch = PeerWatch(config_.heartbeat_s),
                                  .records = {},
                                  .held = std::vector<Bulk>(join.slots),
                                  .slot_sequence = std::vector<uint64_t>(join.slots, 0),
                                  .states = {},
                                  .codec = nullptr,
                                  .fault = {}});
  if (join.compression != "none") {
    peer->codec = std::make_unique<RecordCodec>(join.compression, peer->layout);
    peer->unpacked.resize(join.slots);
  }
  LogInfo(peer->info.Describe(), " joined");
  const Welcome welcome{"pid " + std::to_string(getpid()) + " at " + address_};
  if (hub_->Send(event.connection, Encode(welcome), {}, brief) != SendResult::kSent) return;
  Admit(std::move(peer));
}

// Once all have joined, a newcomer takes the place of the absent peer with its environments.
void LearnerEnd::Admit(std::unique_ptr<Peer> peer) {
  if (!complete_) {
    peers_.push_back(std::move(peer));
    return;
  }
  for (size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i]->info.env_begin != peer->info.env_begin) continue;
    GS_CHECK(peers_[i]->absent, "a replacement for a peer that is here");
    peer->index = static_cast<int>(i);
    infos_[i] = peer->info;
    peers_[i] = std::move(peer);
    return;
  }
}

void LearnerEnd::PutOut(int peer, const std::string& reason) {
  Peer& out = PeerAt(peer);
  if (out.absent) return;
  LogWarning("put out ", out.info.Describe(), ": ", reason);
  hub_->Send(out.connection, Encode(Refuse{reason}), {}, Deadline::After(0));
  hub_->Close(out.connection);
  put_out_.insert(std::exchange(out.connection, 0));
  out.records.clear();
  out.held.assign(out.slots, {});
  out.states.clear();
  out.absent = out.parted = true;
  out.fault = "is put out (" + reason + ")";
}

bool LearnerEnd::Absent(int peer) const {
  return PeerAt(peer).absent;
}

bool LearnerEnd::AnyAbsent() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& peer) { return peer->absent; });
}

bool LearnerEnd::AwaitReplacements(Deadline deadline) {
  while (AnyAbsent() && !deadline.Passed()) Pump(deadline, nullptr);
  return !AnyAbsent();
}

std::string LearnerEnd::AbsentEnvironments() const {
  std::string text;
  for (const auto& peer : peers_) {
    if (!peer->absent) continue;
    text +=
        (text.empty() ? "" : ", ") + Range(peer->info.env_begin, uint64_t{peer->info.env_begin} + peer->info.env_count);
  }
  return text;
}

std::string LearnerEnd::ReasonAgainstShape(const Join& join) const {
  if (join.groups == 0 || join.env_count % join.groups != 0) return std::to_string(join.groups) + " groups do not fit";
  if (join.slots == 0 || join.slots > 64) return std::to_string(join.slots) + " slots";
  if (join.compression != "none" && join.compression != "lz4" && join.compression != "zstd") {
    return "it compresses with '" + join.compression + "'";
  }
  const Layout layout(options_.specs, static_cast<int>(join.env_count / join.groups));
  if (join.record_bytes != layout.Bytes()) return "its records have " + std::to_string(join.record_bytes) + " bytes";
  return "";
}

std::string LearnerEnd::ReasonNotToReplace(const Join& join) const {
  for (const auto& peer : peers_) {
    const bool same = join.env_begin == peer->info.env_begin && join.env_count == peer->info.env_count;
    if (!peer->absent || !same) continue;
    if (join.groups != peer->info.groups) return "it steps in " + std::to_string(join.groups) + " groups";
    return ReasonAgainstShape(join);
  }
  return "its environments " + Range(join.env_begin, uint64_t{join.env_begin} + join.env_count) +
         " are not those that are missing: " + AbsentEnvironments();
}

std::string LearnerEnd::ReasonToRefuse(const Join& join) const {
  const auto first = static_cast<uint64_t>(options_.first_env), end_of_all = first + options_.total_envs;
  const uint64_t end = uint64_t{join.env_begin} + join.env_count;
  if (join.protocol != kProtocolVersion) {
    return "it speaks protocol " + std::to_string(join.protocol) + ", the learner " + std::to_string(kProtocolVersion);
  }
  if (join.run_id != options_.run_id) {
    return "it belongs to run '" + join.run_id + "', the learner to '" + options_.run_id + "'";
  }
  if (join.spec_hash != spec_hash_) return "its records hold other tensors than the learner's (spec hash differs)";
  if (join.config_hash != options_.config_hash) return "its configuration differs from the learner's";
  if (complete_ && AnyAbsent()) return ReasonNotToReplace(join);
  if (complete_ || (expected_count_ > 0 && static_cast<int>(peers_.size()) >= expected_count_)) {
    return "all " + std::to_string(peers_.size()) + " simulators of the run have joined already";
  }
  if (join.env_count == 0 || join.env_begin < first || end > end_of_all) {
    return "environments " + Range(join.env_begin, end) + " are not inside " + Range(first, end_of_all);
  }
  for (const auto& peer : peers_) {
    if (join.env_begin < peer->info.env_begin + peer->info.env_count && peer->info.env_begin < end) {
      return "its environments " + Range(join.env_begin, end) + " overlap those of " + peer->info.Describe();
    }
  }
  return ReasonAgainstShape(join);
}

std::vector<std::string> LearnerEnd::Stop(const std::string& reason, Deadline deadline) {
  pulse_->SetStage("stopping: " + reason);
  for (const auto& peer : peers_) {
    if (peer->parted) continue;
    const CommandMessage message{static_cast<uint32_t>(CommandKind::kStop), 0, 0};
    const FrameExtras extras{.sequence = peer->next_command++};
    hub_->Send(peer->connection, Encode(message, extras), {}, Deadline::After(1));
  }
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
