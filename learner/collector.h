// Lock-step collection: the learner's side of one batch of environments that several simulators hold.
//
//   all simulators' records -> RolloutStore row t -> one inference over all environments -> actions -> all simulators
//
// N = environments over all simulators, in the order of their global ids. One thread. A peer that does not answer, or
// breaks the protocol, ends the wait with RunError naming it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "policies/inference.h"
#include "replay/rollout.h"
#include "wire/episode_request.h"
#include "wire/transport.h"

namespace gripstream {

// Where the time of collection went, in seconds; the simulators' parts are those of the slowest one at each step.
struct CollectTimes {
  double physics_s = 0, observe_s = 0, render_s = 0;
  double wire_s = 0;       // waiting for records beyond what the simulators spent on them, and copying
  double inference_s = 0;  // acting
};

class Fleet {
 public:
  // `wire` has all its simulators; every wait of this class lasts at most `patience_s`.
  Fleet(LearnerEnd& wire, double patience_s);

  int Envs() const { return envs_; }
  // Commands to all simulators; each is answered by one record per simulator.
  void Reset(const EpisodeRequest& request, uint64_t policy_version);
  void Step(const torch::Tensor& action, uint64_t policy_version);  // [N, A] float32, contiguous
  void LoadStates(const std::vector<std::byte>& states, uint64_t policy_version);
  // Waits for one record from every simulator and copies them into row t.
  void Receive(RolloutStore& store, int t, CollectTimes& times);
  // Every environment's state, in the order of their global ids, whatever simulator holds it.
  std::vector<std::byte> SaveStates();

 private:
  void ReceiveFrom(int peer, RolloutStore& store, int t, CollectTimes& step_times);
  Deadline Wait() const { return Deadline::After(patience_s_); }

  LearnerEnd& wire_;
  double patience_s_;
  int envs_ = 0;
};

// The observation tensors of row t.
Observation ObservationAt(const RolloutStore& store, int t);

// Fills rows 0..T from row 0 on, acting by `policy`; `step` counts policy steps since the start of the run and keys the
// action noise. Returns false when interrupted before the end.
bool CollectRollout(Fleet& fleet, RolloutStore& store, const Policy& policy, uint64_t step, uint64_t policy_version,
                    CollectTimes& times);

}  // namespace gripstream
