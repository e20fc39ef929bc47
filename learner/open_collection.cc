#include "learner/open_collection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/clock.h"
#include "core/done_kind.h"
#include "core/interrupt.h"
#include "core/trace.h"

namespace gripstream {

OpenCollection::OpenCollection(Fleet& fleet, RolloutStore carry, const OpenOptions& options)
    : fleet_(fleet), carry_(std::move(carry)), options_(options), parts_(static_cast<size_t>(fleet.Parts())) {}

void OpenCollection::Begin(RolloutStore& store, const RolloutStore* last) {
  for (int i = 0; i < fleet_.Parts(); ++i) {
    const Part& part = parts_[static_cast<size_t>(i)];
    const EnvRange range = fleet_.RangeOf(i);
    if (part.carried) {
      store.CopyRows(carry_, part.t + 1, range.begin, range.count);
    } else if (last != nullptr) {
      store.BeginAfter(*last, range.begin, range.count);
    }
  }
}

// Acts for a part on its newest observation.
bool OpenCollection::Act(int index, RolloutStore& store, const std::function<Acting(int t)>& acting,
                         CollectTimes& times) {
  Part& part = parts_[static_cast<size_t>(index)];
  const auto [policy, version] = acting(part.t);
  if (policy == nullptr) return false;
  const EnvRange range = fleet_.RangeOf(index);
  store.SetVersion(part.t, version, range.begin, range.count);
  if (part.t == 0) part.oldest = version;
  const ActResult result{store.Action()[part.t],        store.Mean()[part.t],  store.LogStd()[part.t],
                         store.LogProb()[part.t],       store.Value()[part.t], torch::Tensor(),
                         store.MemoryBefore(part.t + 1)};
  const double start = SteadySeconds();
  ActOn(fleet_, range, *policy, ObservationAt(store, part.t),
        {.step = part.step + static_cast<uint64_t>(part.t), .memory = store.MemoryBefore(part.t)}, result);
  times.inference_s += SteadySeconds() - start;
  fleet_.StepPart(index, result.action, static_cast<uint64_t>(version));
  return true;
}

// Gives every part something to do; those that were carried have it already.
bool OpenCollection::StartAll(RolloutStore& store, const std::function<Acting(int t)>& acting, const Turn& turn,
                              CollectTimes& times) {
  for (int i = 0; i < fleet_.Parts(); ++i) {
    Part& part = parts_[static_cast<size_t>(i)];
    if (part.carried) continue;
    part = {.step = turn.step};
    fleet_.AdmitPart(i, static_cast<uint32_t>(turn.step) + 1);
    if (fleet_.Owes(i)) {
      // A newcomer's first record is on its way instead of an answer.
      store.SetVersion(0, turn.iteration, fleet_.RangeOf(i).begin, fleet_.RangeOf(i).count);
      part.oldest = turn.iteration;
    } else if (fleet_.Plays(i) && !Act(i, store, acting, times)) {
      return false;
    }
  }
  return true;
}

// Parts whose simulator has been lost have nothing more in this rollout.
void OpenCollection::NoteLost(RolloutStore& store) {
  for (int i = 0; i < fleet_.Parts(); ++i) {
    Part& part = parts_[static_cast<size_t>(i)];
    if (part.gone || part.t == store.Horizon() || fleet_.Owes(i)) continue;
    part.gone = true;
    for (int t = part.t + 1; t <= store.Horizon(); ++t) fleet_.FillLost(i, store, t);
  }
}

bool OpenCollection::MayClose(const Turn& turn, int horizon) const {
  int here = 0, through = 0;
  bool all = true;
  for (int i = 0; i < fleet_.Parts(); ++i) {
    const Part& part = parts_[static_cast<size_t>(i)];
    if (part.gone) continue;
    const int envs = fleet_.RangeOf(i).count;
    here += envs;
    if (part.t == horizon) {
      through += envs;
      continue;
    }
    all = false;
    if (!turn.may_carry || turn.iteration + 1 - part.oldest > options_.max_staleness) return false;
  }
  return all || static_cast<double>(through) >= options_.close_fraction * here;
}

// Takes the stragglers' steps out of the rollout.
void OpenCollection::Close(RolloutStore& store) {
  for (int i = 0; i < fleet_.Parts(); ++i) {
    Part& part = parts_[static_cast<size_t>(i)];
    part.carried = !part.gone && part.t < store.Horizon();
    if (!part.carried) continue;
    const EnvRange range = fleet_.RangeOf(i);
    carry_.CopyRows(store, part.t + 1, range.begin, range.count);
    for (int t = 1; t <= store.Horizon(); ++t) {
      const std::span<std::byte> done = store.Slice("done", t, range.begin, range.count);
      std::memset(done.data(), static_cast<int>(DoneKind::kCarried), done.size());
    }
  }
}

// What stragglers still do belongs to no rollout any more.
void OpenCollection::Stop() {
  CollectTimes times;
  Drain(carry_, times);
}

void OpenCollection::Drain(RolloutStore& store, CollectTimes& times) {
  const auto owes = [this] {
    bool any = false;
    for (int i = 0; i < fleet_.Parts(); ++i) any |= fleet_.Owes(i);
    return any;
  };
  while (owes())
    fleet_.ReceiveAny(
        store, [this](int i) { return parts_[static_cast<size_t>(i)].t + 1; }, times);
  for (Part& part : parts_) part.carried = false;
}

bool OpenCollection::Collect(RolloutStore& store, const std::function<Acting(int t)>& acting, const Turn& turn,
                             CollectTimes& times) {
  const TraceSpan span("collect");
  bool going = !Interrupted() && StartAll(store, acting, turn, times);
  for (NoteLost(store); going && !MayClose(turn, store.Horizon()); NoteLost(store)) {
    const int i = fleet_.ReceiveAny(
        store, [this](int part) { return parts_[static_cast<size_t>(part)].t + 1; }, times);
    if (i < 0) continue;
    Part& part = parts_[static_cast<size_t>(i)];
    if (++part.t < store.Horizon()) going = !Interrupted() && Act(i, store, acting, times);
  }
  if (going) {
    Close(store);
  } else {
    Drain(store, times);
  }
  return going;
}

int OpenCollection::CarriedEnvs() const {
  int envs = 0;
  for (int i = 0; i < fleet_.Parts(); ++i) {
    if (parts_[static_cast<size_t>(i)].carried) envs += fleet_.RangeOf(i).count;
  }
  return envs;
}

}  // namespace gripstream
