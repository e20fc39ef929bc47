#include "learner/collector.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/error.h"
#include "core/interrupt.h"
#include "policies/shapes.h"

namespace gripstream {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Fleet::Fleet(LearnerEnd& wire, double patience_s) : wire_(wire), patience_s_(patience_s) {
  for (const PeerInfo& peer : wire_.Peers()) envs_ += static_cast<int>(peer.env_count);
}

void Fleet::Reset(const EpisodeRequest& request, uint64_t policy_version) {
  for (size_t i = 0; i < wire_.Peers().size(); ++i) {
    EpisodeRequest own = request;
    if (i > 0) own.sheet_rows = 0;  // the first simulator's episodes are shown
    wire_.Send(static_cast<int>(i), CommandKind::kReset, policy_version, own.Encode());
  }
}

void Fleet::Step(const torch::Tensor& action, uint64_t policy_version) {
  GS_CHECK(action.is_contiguous() && action.size(0) == envs_, "actions must be one contiguous [N, A] block");
  const size_t row_bytes = static_cast<size_t>(action.size(1)) * sizeof(float);
  const auto* bytes = reinterpret_cast<const std::byte*>(action.const_data_ptr<float>());
  for (size_t i = 0; i < wire_.Peers().size(); ++i) {
    const PeerInfo& peer = wire_.Peers()[i];
    wire_.Send(static_cast<int>(i), CommandKind::kStep, policy_version,
               {bytes + peer.env_begin * row_bytes, peer.env_count * row_bytes});
  }
}

void Fleet::LoadStates(const std::vector<std::byte>& states, uint64_t policy_version) {
  const size_t env_bytes = states.size() / static_cast<size_t>(envs_);
  for (size_t i = 0; i < wire_.Peers().size(); ++i) {
    const PeerInfo& peer = wire_.Peers()[i];
    wire_.Send(static_cast<int>(i), CommandKind::kLoadState, policy_version,
               {states.data() + peer.env_begin * env_bytes, peer.env_count * env_bytes});
  }
}

void Fleet::ReceiveFrom(int peer, RolloutStore& store, int t, CollectTimes& step_times) {
  const Received received = wire_.ReceiveRecord(peer, Wait());
  const Layout& layout = wire_.RecordLayout(peer);
  for (size_t index = 0; index < store.Specs().size(); ++index) {
    const std::span<std::byte> target =
        store.Slice(index, t, static_cast<int>(received.header.env_begin), static_cast<int>(received.header.env_count));
    std::memcpy(target.data(), received.record.data() + layout.Offset(static_cast<int>(index)), target.size());
  }
  step_times.physics_s = std::max<double>(step_times.physics_s, received.header.physics_s);
  step_times.observe_s = std::max<double>(step_times.observe_s, received.header.observe_s);
  step_times.render_s = std::max<double>(step_times.render_s, received.header.render_s);
  wire_.ReleaseRecord(peer, received);
}

void Fleet::Receive(RolloutStore& store, int t, CollectTimes& times) {
  const double start = Now();
  CollectTimes step;
  for (size_t i = 0; i < wire_.Peers().size(); ++i) ReceiveFrom(static_cast<int>(i), store, t, step);
  const double simulators_s = step.physics_s + step.observe_s + step.render_s;
  times.physics_s += step.physics_s;
  times.observe_s += step.observe_s;
  times.render_s += step.render_s;
  times.wire_s += std::max(0.0, Now() - start - simulators_s);
}

std::vector<std::byte> Fleet::SaveStates() {
  for (size_t i = 0; i < wire_.Peers().size(); ++i) {
    wire_.Send(static_cast<int>(i), CommandKind::kSaveState, 0, {});
  }
  std::vector<std::byte> states;
  for (size_t i = 0; i < wire_.Peers().size(); ++i) {
    const std::vector<std::byte> part = wire_.ReceiveState(static_cast<int>(i), Wait());
    states.insert(states.end(), part.begin(), part.end());
  }
  return states;
}

Observation ObservationAt(const RolloutStore& store, int t) {
  Observation observation;
  observation.proprio = store.Step(kProprioTensor, t);
  observation.depth = store.Step(kDepthTensor, t);
  observation.state = store.Step(kStateTensor, t);
  return observation;
}

bool CollectRollout(Fleet& fleet, RolloutStore& store, const Policy& policy, uint64_t step, uint64_t policy_version,
                    CollectTimes& times) {
  for (int t = 0; t < store.Horizon(); ++t) {
    if (Interrupted()) return false;
    const double start = Now();
    const ActResult result{store.Action()[t],  store.Mean()[t],  store.LogStd()[t],
                           store.LogProb()[t], store.Value()[t], torch::Tensor()};
    policy.Act(ObservationAt(store, t), {.first_env = 0, .step = step + static_cast<uint64_t>(t)}, result);
    times.inference_s += Now() - start;
    fleet.Step(result.action, policy_version);
    fleet.Receive(store, t + 1, times);
  }
  return true;
}

}  // namespace gripstream
