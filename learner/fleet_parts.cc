// Fleet: its parts one by one, for collection that waits for no simulator in particular.
#include "core/clock.h"
#include "core/trace.h"
#include "learner/collector.h"

namespace gripstream {

bool Fleet::Plays(int part) const {
  const Seat& seat = seats_[static_cast<size_t>(part / Groups())];
  return !seat.fresh[static_cast<size_t>(part % Groups())];
}

bool Fleet::Owes(int part) const {
  return seats_[static_cast<size_t>(part / Groups())].owed[static_cast<size_t>(part % Groups())];
}

void Fleet::StepPart(int part, const torch::Tensor& action, uint64_t policy_version) {
  const EnvRange range = RangeOf(part);
  const size_t row_bytes = static_cast<size_t>(action.size(1)) * sizeof(float);
  const auto* bytes = reinterpret_cast<const std::byte*>(action.const_data_ptr<float>());
  Command(part / Groups(), CommandKind::kStep, part % Groups(), policy_version,
          {bytes + static_cast<size_t>(range.begin) * row_bytes, static_cast<size_t>(range.count) * row_bytes});
}

void Fleet::AdmitPart(int part, uint32_t first_episode) {
  if (Plays(part)) return;
  AwaitAnybody();
  if (!wire_.Absent(part / Groups())) Welcome(part / Groups(), part % Groups(), first_episode);
}

int Fleet::ReceiveAny(RolloutStore& store, const std::function<int(int part)>& row_of, CollectTimes& times) {
  const TraceSpan span("wait for a record");
  std::vector<int> owing;
  for (int peer = 0; peer < Peers(); ++peer) {
    const std::vector<bool>& owed = seats_[static_cast<size_t>(peer)].owed;
    if (std::find(owed.begin(), owed.end(), true) != owed.end()) owing.push_back(peer);
  }
  const double start = SteadySeconds();
  int part = -1;
  RecordHeader header{};
  try {
    const int peer = wire_.AwaitRecord(owing, Wait());
    const Received received = wire_.ReceiveRecord(peer, Wait());
    header = received.header;
    part = TakeRecord(peer, received, store, row_of);
    wire_.ReleaseRecord(peer, received);
  } catch (const PeerLost& loss) {
    if (!rule_.replace) throw;
    Lose(loss);
    return -1;
  }
  // Of the whole fleet's work this is the part's share.
  const double share = static_cast<double>(RangeOf(part).count) / envs_, wait_s = SteadySeconds() - start;
  times.physics_s += share * header.physics_s;
  times.observe_s += share * header.observe_s;
  times.render_s += share * header.render_s;
  times.wait_s += wait_s;
  return part;
}

int Fleet::TakeRecord(int peer, const Received& received, RolloutStore& store,
                      const std::function<int(int part)>& row_of) {
  const int group = static_cast<int>(received.header.group), part = peer * Groups() + group;
  CheckRecord(peer, group, received.header);
  Seat& seat = seats_[static_cast<size_t>(peer)];
  if (!seat.owed[static_cast<size_t>(group)]) {
    throw PeerLost(peer, wire_.Peers()[static_cast<size_t>(peer)].Describe() + " sent a record that nobody asked for");
  }
  const int t = row_of(part);
  CopyRecord(peer, group, received, store, t);
  if (seat.awaited[static_cast<size_t>(group)]) MarkLost(peer, group, store, t);
  seat.owed[static_cast<size_t>(group)] = seat.awaited[static_cast<size_t>(group)] = false;
  return part;
}

}  // namespace gripstream
