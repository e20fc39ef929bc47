#include "learner/collector.h"

#include <algorithm>

#include "core/clock.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/trace.h"
#include "policies/shapes.h"

namespace gripstream {
Fleet::Fleet(LearnerEnd& wire, double patience_s, const LossRule& rule)
    : wire_(wire), patience_s_(patience_s), rule_(rule) {
  const PeerInfo& first = wire_.Peers().front();
  first_env_ = static_cast<int>(first.env_begin);
  for (const PeerInfo& peer : wire_.Peers()) {
    envs_ += static_cast<int>(peer.env_count);
    if (peer.groups != first.groups) {
      throw RunError(peer.Describe() + " steps its environments in " + std::to_string(peer.groups) + " groups, " +
                     first.Describe() + " in " + std::to_string(first.groups));
    }
  }
  for (int group = 0; group < static_cast<int>(first.groups); ++group) {
    std::vector<EnvRange>& ranges = ranges_.emplace_back();
    for (size_t peer = 0; peer < wire_.Peers().size(); ++peer) {
      const EnvRange range = PeerRange(peer, group);
      if (!ranges.empty() && ranges.back().begin + ranges.back().count == range.begin) {
        ranges.back().count += range.count;
      } else {
        ranges.push_back(range);
      }
    }
  }
  commanded_s_.resize(ranges_.size());
  const std::vector<bool> none(ranges_.size(), false);
  seats_.assign(wire_.Peers().size(), Seat{none, none, none, 0, ""});
}

EnvRange Fleet::PeerRange(size_t peer, int group) const {
  const PeerInfo& info = wire_.Peers()[peer];
  const int count = static_cast<int>(info.env_count / info.groups);
  return {static_cast<int>(info.env_begin) - first_env_ + group * count, count};
}

void Fleet::Reset(const EpisodeRequest& request, uint64_t policy_version) {
  for (int group = 0; group < Groups(); ++group) {
    commanded_s_[static_cast<size_t>(group)] = SteadySeconds();
    for (int i = 0; i < Peers(); ++i) {
      EpisodeRequest own = request;
      if (i > 0 || group > 0) own.shown = 0;  // the episodes of the first simulator's first group are shown
      Command(i, CommandKind::kReset, group, policy_version, own.Encode());
    }
  }
}

void Fleet::SetCurriculumLevel(int level) {
  level_ = level;
  const int32_t payload = level;
  for (int group = 0; group < Groups(); ++group) {
    for (int i = 0; i < Peers(); ++i)
      Command(i, CommandKind::kSetLevel, group, 0, std::as_bytes(std::span(&payload, 1)));
  }
}

void Fleet::SendRows(CommandKind kind, int group, uint64_t policy_version, std::span<const std::byte> payload,
                     size_t row_bytes) {
  commanded_s_[static_cast<size_t>(group)] = SteadySeconds();
  for (int i = 0; i < Peers(); ++i) {
    if (!Obeys(kind, i, group)) continue;
    const EnvRange range = PeerRange(static_cast<size_t>(i), group);
    Command(
        i, kind, group, policy_version,
        payload.subspan(static_cast<size_t>(range.begin) * row_bytes, static_cast<size_t>(range.count) * row_bytes));
  }
}

void Fleet::LoadStates(const std::vector<std::byte>& states, uint64_t policy_version) {
  const size_t env_bytes = state_bytes_ = states.size() / static_cast<size_t>(envs_);
  for (int group = 0; group < Groups(); ++group) {
    SendRows(CommandKind::kLoadState, group, policy_version, states, env_bytes);
  }
}

void Fleet::Step(int group, const torch::Tensor& action, uint64_t policy_version) {
  GS_CHECK(action.is_contiguous() && action.size(0) == envs_, "actions must be one contiguous [N, A] block");
  const auto* bytes = reinterpret_cast<const std::byte*>(action.const_data_ptr<float>());
  SendRows(CommandKind::kStep, group, policy_version, {bytes, action.nbytes()},
           static_cast<size_t>(action.size(1)) * sizeof(float));
}

void Fleet::CheckRecord(int peer, int group, const RecordHeader& header) const {
  const EnvRange range = PeerRange(static_cast<size_t>(peer), group);
  if (header.group != static_cast<uint32_t>(group) ||
      header.env_begin != static_cast<uint32_t>(first_env_ + range.begin)) {
    throw PeerLost(peer, wire_.Peers()[static_cast<size_t>(peer)].Describe() + " sent a record of group " +
                             std::to_string(header.group) + " from environment " + std::to_string(header.env_begin) +
                             " where group " + std::to_string(group) + " from environment " +
                             std::to_string(first_env_ + range.begin) + " was due");
  }
}

void Fleet::ReceiveFrom(int peer, int group, RolloutStore& store, int t, CollectTimes& step_times) {
  const Received received = wire_.ReceiveRecord(peer, Wait());
  const RecordHeader& header = received.header;
  CheckRecord(peer, group, header);
  CopyRecord(peer, group, received, store, t);
  if (t > 0 && SimulatorsAct()) CopyActed(peer, received, store, t - 1);
  step_times.physics_s = std::max<double>(step_times.physics_s, header.physics_s);
  step_times.observe_s = std::max<double>(step_times.observe_s, header.observe_s);
  step_times.render_s = std::max<double>(step_times.render_s, header.render_s);
  step_times.inference_s = std::max<double>(step_times.inference_s, header.inference_s);
  wire_.ReleaseRecord(peer, received);
}

void Fleet::CopyRecord(int peer, int group, const Received& received, RolloutStore& store, int t) const {
  const EnvRange range = PeerRange(static_cast<size_t>(peer), group);
  const Layout& layout = wire_.RecordLayout(peer);
  for (size_t index = 0; index < store.Specs().size(); ++index) {
    const int at = static_cast<int>(index);
    store.Put(index, t, range.begin, range.count, received.record.subspan(layout.Offset(at), layout.TensorBytes(at)));
  }
}

void Fleet::Receive(int group, RolloutStore& store, int t, CollectTimes& times) {
  const TraceSpan span("wait for records");
  const double start = SteadySeconds();
  CollectTimes step;
  for (int i = 0; i < Peers(); ++i) {
    Seat& seat = seats_[static_cast<size_t>(i)];
    const bool owed = SimulatorsAct() || seat.owed[static_cast<size_t>(group)],
               first = seat.awaited[static_cast<size_t>(group)];
    const bool came = owed && Survives(i, [&] { ReceiveFrom(i, group, store, t, step); });
    if (came) seat.owed[static_cast<size_t>(group)] = seat.awaited[static_cast<size_t>(group)] = false;
    if (!came) FillLost(i * Groups() + group, store, t);
    if (came && first) MarkLost(i, group, store, t);
  }
  const double end = SteadySeconds();
  // A simulator begins with a command when it has it and is done with the one before.
  const double begun = std::max(commanded_s_[static_cast<size_t>(group)], done_s_);
  done_s_ = std::min(end, begun + step.physics_s + step.observe_s + step.render_s + step.inference_s);
  times.physics_s += step.physics_s;
  times.observe_s += step.observe_s;
  times.render_s += step.render_s;
  times.inference_s += step.inference_s;
  times.wire_s += end - std::max(start, done_s_);
  times.wait_s += end - start;
}

void Fleet::ReceiveAll(RolloutStore& store, int t, CollectTimes& times) {
  for (int group = 0; group < Groups(); ++group) Receive(group, store, t, times);
}

Observation ObservationAt(const RolloutStore& store, int t) {
  Observation observation;
  observation.proprio = store.Step(kProprioTensor, t);
  if (store.Has(kDepthTensor)) observation.depth = store.Step(kDepthTensor, t);
  if (store.Has(kRgbTensor)) observation.rgb = store.Step(kRgbTensor, t);
  observation.state = store.Step(kStateTensor, t);
  observation.done = store.Step("done", t);
  return observation;
}

void ActOn(const Fleet& fleet, const EnvRange& range, const Policy& policy, const Observation& observation,
           const ActRequest& request, const ActResult& result) {
  const TraceSpan span("act");
  const auto part = [&](const torch::Tensor& whole) {
    return whole.defined() ? whole.narrow(0, range.begin, range.count) : whole;
  };
  ActRequest own = request;
  own.first_env = static_cast<uint32_t>(fleet.FirstEnv() + range.begin);
  own.memory = part(request.memory);
  policy.Act({part(observation.proprio), part(observation.depth), part(observation.state), part(observation.done),
              part(observation.rgb)},
             own,
             {part(result.action), part(result.mean), part(result.log_std), part(result.log_prob), part(result.value),
              part(result.aux), part(result.memory)});
}

void ActOn(const Fleet& fleet, int group, const Policy& policy, const Observation& observation,
           const ActRequest& request, const ActResult& result) {
  for (const EnvRange& range : fleet.Ranges(group)) ActOn(fleet, range, policy, observation, request, result);
}

bool CollectRollout(Fleet& fleet, RolloutStore& store, const std::function<Acting(int t)>& acting, uint64_t step,
                    CollectTimes& times) {
  const TraceSpan span("collect");
  if (fleet.SimulatorsAct()) return CollectActed(fleet, store, acting, step, times);
  int t = 0;
  for (; t < store.Horizon() && !Interrupted(); ++t) {
    const auto [policy, version] = acting(t);
    if (policy == nullptr) break;
    store.SetVersion(t, version);
    const ActResult result{store.Action()[t], store.Mean()[t], store.LogStd()[t],        store.LogProb()[t],
                           store.Value()[t],  torch::Tensor(), store.MemoryBefore(t + 1)};
    const ActRequest request{.step = step + static_cast<uint64_t>(t), .memory = store.MemoryBefore(t)};
    for (int group = 0; group < fleet.Groups(); ++group) {
      if (t > 0) fleet.Receive(group, store, t, times);
      const double start = SteadySeconds();
      ActOn(fleet, group, *policy, ObservationAt(store, t), request, result);
      times.inference_s += SteadySeconds() - start;
      // No environment has begun more episodes than the run has steps.
      fleet.Admit(group, static_cast<uint32_t>(step) + static_cast<uint32_t>(t) + 1);
      fleet.Step(group, result.action, static_cast<uint64_t>(version));
    }
  }
  if (t > 0) fleet.ReceiveAll(store, t, times);
  return t == store.Horizon();
}

}  // namespace gripstream
