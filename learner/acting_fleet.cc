// Fleet: simulators that act themselves (runtime.inference: simulator).
#include <cstring>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/trace.h"
#include "learner/collector.h"
#include "policies/acted.h"
#include "policies/published.h"

namespace gripstream {
namespace {

// Simulators are told of so many steps before the learner has the record of the first: what a link's latency may take
// without their noticing. Few enough for an interrupt to be answered soon.
constexpr int kStepsAhead = 8;

}  // namespace

bool Fleet::SimulatorsAct() const {
  return wire_.RecordLayout(0).Has(kActedAction);
}

void Fleet::Act(const Policy& policy, int64_t version, uint64_t step) {
  commanded_s_.front() = SteadySeconds();
  holds_.resize(wire_.Peers().size());
  std::vector<std::byte> packed;
  for (size_t i = 0; i < holds_.size(); ++i) {
    const std::pair<uint64_t, int64_t> wanted = {wire_.Peers()[i].pid, version};
    if (holds_[i] != wanted) {
      const TraceSpan span("publish");
      if (packed.empty()) packed = PackPolicy(policy);
      wire_.Send(static_cast<int>(i), CommandKind::kPolicy, static_cast<uint64_t>(version), packed);
      holds_[i] = wanted;
    }
    wire_.Send(static_cast<int>(i), CommandKind::kAct, static_cast<uint64_t>(version),
               std::as_bytes(std::span(&step, 1)));
  }
}

void Fleet::CopyActed(int peer, const Received& received, RolloutStore& store, int t) const {
  const EnvRange range = PeerRange(static_cast<size_t>(peer), 0);
  const auto due = store.Versions()[t][range.begin].item<int64_t>();
  if (received.header.policy_version != static_cast<uint64_t>(due)) {
    throw RunError(wire_.Peers()[static_cast<size_t>(peer)].Describe() + " acted by version " +
                   std::to_string(received.header.policy_version) + " of the policy where " + std::to_string(due) +
                   " was due");
  }
  const Layout& layout = wire_.RecordLayout(peer);
  const std::pair<const char*, const torch::Tensor*> all[] = {{kActedAction, &store.Action()},
                                                              {kActedMean, &store.Mean()},
                                                              {kActedLogStd, &store.LogStd()},
                                                              {kActedLogProb, &store.LogProb()},
                                                              {kActedValue, &store.Value()}};
  for (const auto& [name, tensor] : all) {
    const torch::Tensor rows = tensor->select(0, t).narrow(0, range.begin, range.count);
    const int index = layout.Index(name);
    GS_CHECK(rows.is_contiguous() && rows.nbytes() == layout.TensorBytes(index), std::string("rows of ") + name);
    std::memcpy(rows.data_ptr(), received.record.data() + layout.Offset(index), rows.nbytes());
  }
}

bool CollectActed(Fleet& fleet, RolloutStore& store, const std::function<Acting(int t)>& acting, uint64_t step,
                  CollectTimes& times) {
  int commanded = 0, t = 0;
  bool stopped = false;
  const auto command = [&] {
    stopped = Interrupted();
    const Acting by = stopped ? Acting{} : acting(commanded);
    stopped = by.policy == nullptr;
    if (stopped) return;
    store.SetVersion(commanded, by.version);
    fleet.Act(*by.policy, by.version, step + static_cast<uint64_t>(commanded));
    ++commanded;
  };
  do {
    while (!stopped && commanded < store.Horizon() && commanded < t + kStepsAhead) command();
    if (t < commanded) fleet.Receive(0, store, ++t, times);
  } while (t < commanded || (!stopped && commanded < store.Horizon()));
  return commanded == store.Horizon();
}

}  // namespace gripstream
