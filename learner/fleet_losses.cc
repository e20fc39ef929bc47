// Fleet: what happens when a simulator is lost, and when another one takes its place.
#include <cstring>

#include "core/clock.h"
#include "core/done_kind.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "learner/collector.h"

namespace gripstream {
namespace {

constexpr double kLook_s = 0.1;  // between looks at whether the run is interrupted

}  // namespace

// Does something with a peer; false when it proves to be lost.
bool Fleet::Survives(int peer, const std::function<void()>& body) {
  if (wire_.Absent(peer)) return false;
  try {
    body();
    return true;
  } catch (const PeerLost& loss) {
    if (!rule_.replace) throw;
    Lose(loss);
    return false;
  }
}

void Fleet::Lose(const PeerLost& loss) {
  Seat& seat = seats_[static_cast<size_t>(loss.Peer())];
  // One that is lost again before it began leaves the seat as it was.
  if (!seat.AnyFresh()) seat.lost_s = SteadySeconds();
  seat.who = loss.what();
  seat.owed.assign(ranges_.size(), false);
  seat.awaited.assign(ranges_.size(), false);
  seat.fresh.assign(ranges_.size(), true);
  {
    const std::lock_guard lock(losses_mutex_);
    ++losses_.simulators;
  }
  wire_.PutOut(loss.Peer(), loss.what());
}

// Puts a command on its way, unless there is nobody to obey it.
void Fleet::Command(int peer, CommandKind kind, int group, uint64_t policy_version,
                    std::span<const std::byte> payload) {
  const bool sent =
      Survives(peer, [&] { wire_.Send(peer, kind, policy_version, payload, static_cast<uint32_t>(group)); });
  const bool answered = kind != CommandKind::kSetLevel && kind != CommandKind::kSaveState;
  if (!sent || !answered) return;
  Seat& seat = seats_[static_cast<size_t>(peer)];
  seat.owed[static_cast<size_t>(group)] = true;
  if (kind == CommandKind::kStep) return;
  const bool was_missing = seat.AnyFresh();
  seat.fresh[static_cast<size_t>(group)] = false;
  if (!was_missing || seat.AnyFresh()) return;
  const double absent_s = SteadySeconds() - seat.lost_s;
  {
    const std::lock_guard lock(losses_mutex_);
    ++losses_.replacements;
    losses_.absent_s += absent_s;
  }
  LogInfo(wire_.Peers()[static_cast<size_t>(peer)].Describe(), " has taken the place of a lost one after ", absent_s,
          " s");
}

// Whether this part of a peer takes part in what is commanded to all.
bool Fleet::Obeys(CommandKind kind, int peer, int group) const {
  const Seat& seat = seats_[static_cast<size_t>(peer)];
  if (kind == CommandKind::kSaveState) return !seat.AnyFresh();
  if (kind != CommandKind::kStep) return true;
  return !seat.fresh[static_cast<size_t>(group)] && !seat.awaited[static_cast<size_t>(group)];
}

void Fleet::Welcome(int peer, int group, uint32_t first_episode) {
  if (level_) {
    const int32_t level = *level_;
    Command(peer, CommandKind::kSetLevel, group, 0, std::as_bytes(std::span(&level, 1)));
  }
  EpisodeRequest request;
  request.first_episode = first_episode;
  Command(peer, CommandKind::kReset, group, 0, request.Encode());
  Seat& seat = seats_[static_cast<size_t>(peer)];
  seat.awaited[static_cast<size_t>(group)] = seat.owed[static_cast<size_t>(group)];
}

void Fleet::Admit(int group, uint32_t first_episode) {
  if (!AnyMissing()) return;
  AwaitAnybody();
  for (int peer = 0; peer < Peers(); ++peer) {
    if (seats_[static_cast<size_t>(peer)].fresh[static_cast<size_t>(group)] && !wire_.Absent(peer)) {
      Welcome(peer, group, first_episode);
    }
  }
}

// Lets in those who have come; waits while nobody is there.
void Fleet::AwaitAnybody() {
  while (!AnyHere() && !Interrupted()) WaitABit("waiting for any simulator");
  wire_.SetStage("collecting");
  wire_.AwaitReplacements(Deadline::After(0));
  RequireInTime();
}

bool Fleet::AnyMissing() const {
  return std::any_of(seats_.begin(), seats_.end(), [](const Seat& seat) { return seat.AnyFresh(); });
}

bool Fleet::AnyHere() const {
  for (int peer = 0; peer < Peers(); ++peer) {
    if (!wire_.Absent(peer)) return true;
  }
  return false;
}

bool Fleet::AwaitAll() {
  while (!wire_.AwaitReplacements(Deadline::After(0)) && !Interrupted()) WaitABit("waiting for replacements");
  wire_.SetStage("going on");
  return !Interrupted();
}

void Fleet::WaitABit(const char* stage) {
  wire_.SetStage(std::string(stage) + " of environments " + wire_.AbsentEnvironments());
  RequireInTime();
  wire_.AwaitReplacements(Deadline::After(kLook_s));
}

void Fleet::RequireInTime() const {
  for (int peer = 0; peer < Peers(); ++peer) {
    const Seat& seat = seats_[static_cast<size_t>(peer)];
    if (!wire_.Absent(peer) || SteadySeconds() - seat.lost_s < rule_.within_s) continue;
    throw RunError("no simulator has taken the place of a lost one within runtime.replace_within_s = " +
                   std::to_string(rule_.within_s) + ": " + seat.who);
  }
}

// There is nothing of these environments at this step.
void Fleet::FillLost(int part, RolloutStore& store, int t) {
  const EnvRange range = RangeOf(part);
  for (size_t index = 0; index < store.Specs().size(); ++index) {
    const std::span<std::byte> target = store.Slice(index, t, range.begin, range.count);
    std::memset(target.data(), 0, target.size());
  }
  MarkLost(part / Groups(), part % Groups(), store, t);
}

// What the action before row t brought is not known; the row's observation may still be one to go on from.
void Fleet::MarkLost(int peer, int group, RolloutStore& store, int t) {
  const EnvRange range = PeerRange(static_cast<size_t>(peer), group);
  const std::span<std::byte> done = store.Slice("done", t, range.begin, range.count);
  std::memset(done.data(), static_cast<int>(DoneKind::kLost), done.size());
}

void EnvStates::TakeLostFrom(const EnvStates& other) {
  GS_CHECK(bytes.size() == other.bytes.size(), "states of other environments");
  const size_t size = bytes.size() / lost.size();
  for (size_t env = 0; env < lost.size(); ++env) {
    if (lost[env] == 0) continue;
    std::memcpy(bytes.data() + env * size, other.bytes.data() + env * size, size);
    lost[env] = other.lost[env];
  }
}

EnvStates Fleet::SaveStates() {
  for (int group = 0; group < Groups(); ++group) SendRows(CommandKind::kSaveState, group, 0, {}, 0);
  std::vector<std::vector<std::byte>> parts;  // peer by peer, group by group
  for (int peer = 0; peer < Peers(); ++peer) {
    for (int group = 0; group < Groups(); ++group) {
      std::vector<std::byte>& part = parts.emplace_back();
      if (seats_[static_cast<size_t>(peer)].AnyFresh()) continue;
      Survives(peer, [&] { part = wire_.ReceiveState(peer, Wait()); });
      if (!part.empty())
        state_bytes_ = part.size() / static_cast<size_t>(PeerRange(static_cast<size_t>(peer), 0).count);
    }
  }
  EnvStates states;
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t peer = i / ranges_.size();
    const auto count = static_cast<size_t>(PeerRange(peer, 0).count);
    const bool lost = seats_[peer].AnyFresh();
    if (lost) parts[i].assign(count * state_bytes_, std::byte{0});
    states.bytes.insert(states.bytes.end(), parts[i].begin(), parts[i].end());
    states.lost.insert(states.lost.end(), count, lost ? 1 : 0);
  }
  return states;
}

}  // namespace gripstream
