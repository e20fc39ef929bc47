// Asynchronous collection that does not wait for stragglers: every simulator's part of the fleet goes through its steps
// at its own pace, and a rollout closes once a fraction of the environments has delivered its own.
//
//   Begin(rollout k) -> Collect: { record of any part -> act -> command } until enough are through -> rollout k+1 ...
//
// A straggler's trajectory is left out of the rollout that closes without it (DoneKind::kCarried) and goes on in the
// next one from its own start, so it is learned from once, whole, with the versions that acted for it. It is carried
// only while that keeps its oldest step within max_staleness; then the rollout waits for it. Nothing is thrown away.
//
// A simulator that is lost leaves its environments' remaining steps of the rollout empty (DoneKind::kLost); whoever
// takes its place begins with the next rollout. One thread. Throws what the fleet throws.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "learner/collector.h"

namespace gripstream {

struct OpenOptions {
  double close_fraction = 1;  // of the environments that are there
  int max_staleness = 0;
};

class OpenCollection {
 public:
  // `fleet` must outlive this object. `carry` is a store of the rollouts' size, to keep stragglers' steps in between.
  OpenCollection(Fleet& fleet, RolloutStore carry, const OpenOptions& options);

  // Row 0 of the next rollout: after `last`, the one before, or as it is when there is none.
  void Begin(RolloutStore& store, const RolloutStore* last);
  struct Turn {
    int64_t iteration = 0;
    uint64_t step = 0;       // of the run, at the rollout's begin; keys the action noise
    bool may_carry = false;  // false: the rollout waits for all, so that all environments stand still after it
  };
  // Fills the rollout; `acting` is asked before each action. Returns false when stopped or interrupted before the end;
  // no record is under way then. No record is under way either after a rollout that waited for all.
  bool Collect(RolloutStore& store, const std::function<Acting(int t)>& acting, const Turn& turn, CollectTimes& times);
  int CarriedEnvs() const;
  // Waits for what stragglers still do after a rollout that did not; no record is under way afterwards.
  void Stop();

 private:
  struct Part {
    int t = 0;             // rows that have come after row 0
    uint64_t step = 0;     // of the run, at its trajectory's begin
    bool carried = false;  // the trajectory began in an earlier rollout
    bool gone = false;     // nobody plays it in this rollout any more
    int64_t oldest = 0;    // the version of its first action
  };

  bool Act(int part, RolloutStore& store, const std::function<Acting(int t)>& acting, CollectTimes& times);
  bool StartAll(RolloutStore& store, const std::function<Acting(int t)>& acting, const Turn& turn, CollectTimes& times);
  void NoteLost(RolloutStore& store);
  bool MayClose(const Turn& turn, int horizon) const;
  void Close(RolloutStore& store);
  void Drain(RolloutStore& store, CollectTimes& times);

  Fleet& fleet_;
  RolloutStore carry_;
  OpenOptions options_;
  std::vector<Part> parts_;
};

}  // namespace gripstream
