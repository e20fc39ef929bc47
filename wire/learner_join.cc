// LearnerEnd: who takes part. Joins, refusals, peers that are put out, and who takes their place.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/log.h"
#include "wire/learner_peer.h"

namespace gripstream {

std::string EnvRangeText(uint64_t begin, uint64_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
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
    if (begin > covered) text += (text.empty() ? "" : ", ") + EnvRangeText(covered, begin);
    covered = std::max(covered, end);
  }
  return text;
}

void LearnerEnd::TakeJoin(const Event& event) {
  Join join;
  std::string reason;
  try {
    if (event.kind == Event::Kind::kBroken) throw FrameError(event.problem);
    join = Decode<Join>(event.frame);
    reason = ReasonAgainstRun(join);
    if (reason.empty()) reason = ReasonAgainstPlace(join);
  } catch (const FrameError& error) {
    reason = error.what();
  }
  if (reason.empty()) {
    Welcomed(event.connection, join);
  } else if (join.spare != 0 && ReasonAgainstRun(join).empty()) {
    if (FindPlace(join) && Welcomed(event.connection, join)) return;
    LogInfo("simulator '", join.name, "' (pid ", join.pid, " on ", join.host, ") waits as a spare");
    spares_.push_back({event.connection, join});
  } else {
    Turn(event.connection, join, reason);
  }
}

// Away, with the reason.
void LearnerEnd::Turn(int connection, const Join& join, const std::string& reason) {
  PeerInfo info{join.name, join.host, join.pid, join.env_begin, join.env_count, join.groups};
  const std::string who = join.name.empty() ? std::string("a connection") : info.Describe();
  last_refusal_ = who + ": " + reason;
  LogWarning("refused ", last_refusal_);
  hub_->Send(connection, Encode(Refuse{reason}), {}, Deadline::After(1));
  hub_->Close(connection);
}

// Gives a simulator the environments of its join. False when it has gone meanwhile.
bool LearnerEnd::Welcomed(int connection, const Join& join) {
  auto peer =
      std::make_unique<Peer>(Peer{.connection = connection,
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
  const Welcome welcome{"pid " + std::to_string(getpid()) + " at " + address_, join.env_begin};
  if (hub_->Send(connection, Encode(welcome), {}, Deadline::After(1)) != SendResult::kSent) return false;
  LogInfo(peer->info.Describe(), " joined");
  Admit(std::move(peer));
  return true;
}

// Environments that are missing and that this spare can hold.
bool LearnerEnd::FindPlace(Join& join) const {
  for (const auto& peer : peers_) {
    if (!peer->absent || join.env_count != peer->info.env_count || join.groups != peer->info.groups) continue;
    join.env_begin = peer->info.env_begin;
    return true;
  }
  return false;
}

void LearnerEnd::SeatSpares() {
  for (size_t i = 0; i < spares_.size();) {
    Spare spare = spares_[i];
    if (!FindPlace(spare.join)) {
      ++i;
      continue;
    }
    spares_.erase(spares_.begin() + static_cast<std::ptrdiff_t>(i));
    Welcomed(spare.connection, spare.join);
  }
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
  SeatSpares();
}

bool LearnerEnd::Absent(int peer) const {
  return PeerAt(peer).absent;
}

bool LearnerEnd::AnyAbsent() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& peer) { return peer->absent; });
}

bool LearnerEnd::AwaitReplacements(Deadline deadline) {
  if (AnyAbsent()) Pump(Deadline::After(0), nullptr);  // those who knocked while nobody listened
  while (AnyAbsent() && !deadline.Passed()) Pump(deadline, nullptr);
  return !AnyAbsent();
}

std::string LearnerEnd::AbsentEnvironments() const {
  std::string text;
  for (const auto& peer : peers_) {
    if (!peer->absent) continue;
    text += (text.empty() ? "" : ", ") +
            EnvRangeText(peer->info.env_begin, uint64_t{peer->info.env_begin} + peer->info.env_count);
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
    return join.groups == peer->info.groups ? "" : "it steps in " + std::to_string(join.groups) + " groups";
  }
  return "its environments " + EnvRangeText(join.env_begin, uint64_t{join.env_begin} + join.env_count) +
         " are not those that are missing: " + AbsentEnvironments();
}

std::string LearnerEnd::ReasonAgainstRun(const Join& join) const {
  if (join.protocol != kProtocolVersion) {
    return "it speaks protocol " + std::to_string(join.protocol) + ", the learner " + std::to_string(kProtocolVersion);
  }
  if (join.run_id != options_.run_id) {
    return "it belongs to run '" + join.run_id + "', the learner to '" + options_.run_id + "'";
  }
  if (join.spec_hash != spec_hash_) return "its records hold other tensors than the learner's (spec hash differs)";
  if (join.config_hash != options_.config_hash) return "its configuration differs from the learner's";
  if (join.env_count == 0 || join.env_count > static_cast<uint32_t>(options_.total_envs)) {
    return std::to_string(join.env_count) + " environments are not a part of the learner's " +
           std::to_string(options_.total_envs);
  }
  return ReasonAgainstShape(join);
}

std::string LearnerEnd::ReasonAgainstPlace(const Join& join) const {
  if (join.env_begin == kAnyEnvs) return join.spare != 0 ? "none are missing" : "it names no environments";
  const auto first = static_cast<uint64_t>(options_.first_env), end_of_all = first + options_.total_envs;
  const uint64_t end = uint64_t{join.env_begin} + join.env_count;
  if (complete_ && AnyAbsent()) return ReasonNotToReplace(join);
  if (complete_ || (expected_count_ > 0 && static_cast<int>(peers_.size()) >= expected_count_)) {
    return "all " + std::to_string(peers_.size()) + " simulators of the run have joined already";
  }
  if (join.env_begin < first || end > end_of_all) {
    return "environments " + EnvRangeText(join.env_begin, end) + " are not inside " + EnvRangeText(first, end_of_all);
  }
  for (const auto& peer : peers_) {
    if (join.env_begin < peer->info.env_begin + peer->info.env_count && peer->info.env_begin < end) {
      return "its environments " + EnvRangeText(join.env_begin, end) + " overlap those of " + peer->info.Describe();
    }
  }
  return "";
}

}  // namespace gripstream
