// Collection: the learner's side of one batch of environments that several simulators hold.
//
//   simulators' records of group g -> RolloutStore row t -> inference over the group -> actions -> simulators
//
// A group is the same part of every simulator's environments. With one group this is lock-step; with two (double
// buffering) one group is in inference here while the other steps and renders there. Both make the same numbers: a
// group consists of whole inference chunks, noise is drawn per environment and step, and what is learned from a rollout
// is learned after it.
//
// N = environments over all simulators of this learner, in the order of their global ids, which begin at FirstEnv().
// One thread. A peer that does not answer, or
// breaks the protocol, ends the wait with RunError naming it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "policies/inference.h"
#include "replay/rollout.h"
#include "wire/episode_request.h"
#include "wire/transport.h"

namespace gripstream {

// Where the time of collection went, in seconds. The simulators' parts are those of the slowest one at each step, over
// all groups; while they work the learner may be acting for another group, so the parts need not add up to the whole.
struct CollectTimes {
  double physics_s = 0, observe_s = 0, render_s = 0;
  double wire_s = 0;       // waiting for records beyond the simulators' work on them, and copying
  double inference_s = 0;  // acting, here or in the slowest simulator
  double wait_s = 0;       // the learner's whole time for records: what the simulators' work cost it, and wire_s
};

// Environments [begin, begin + count) of a fleet, counted from its first one.
struct EnvRange {
  int begin = 0;
  int count = 0;
  bool operator==(const EnvRange&) const = default;
};

class Fleet {
 public:
  // `wire` has all its simulators; every wait of this class lasts at most `patience_s`. Throws RunError when the
  // simulators do not have the same number of groups.
  Fleet(LearnerEnd& wire, double patience_s);

  int Envs() const { return envs_; }
  int FirstEnv() const { return first_env_; }
  int Groups() const { return static_cast<int>(ranges_.size()); }
  // The group's environments over all simulators, in order; ranges that touch are joined.
  const std::vector<EnvRange>& Ranges(int group) const { return ranges_[static_cast<size_t>(group)]; }

  // Commands to all simulators for all groups; each is answered by one record per simulator and group.
  void Reset(const EpisodeRequest& request, uint64_t policy_version);
  void LoadStates(const std::vector<std::byte>& states, uint64_t policy_version);
  // For episodes that begin from now on. Not answered; between steps only.
  void SetCurriculumLevel(int level);
  // The same for one group. `action` is of all environments, [N, A] float32, contiguous; the group's rows are sent.
  void Step(int group, const torch::Tensor& action, uint64_t policy_version);
  // Whether simulators choose actions themselves. All commands above do the same with them, too.
  bool SimulatorsAct() const;
  // One step of all environments by actions that the simulators choose by this policy; it is sent first to those who do
  // not hold it. `step` keys the noise. Several steps may be under way, each answered by a record.
  void Act(const Policy& policy, int64_t version, uint64_t step);
  // Waits for the group's record from every simulator and copies them into row t. Records come in the order of the
  // commands, so groups are received in the order in which they were commanded. Where simulators act, the actions that
  // led to row t > 0 go into row t - 1; they are by the version that the store says (RunError otherwise).
  void Receive(int group, RolloutStore& store, int t, CollectTimes& times);
  void ReceiveAll(RolloutStore& store, int t, CollectTimes& times);
  // Every environment's state, in the order of their global ids, whatever simulator holds it.
  std::vector<std::byte> SaveStates();

 private:
  EnvRange PeerRange(size_t peer, int group) const;
  // The same command for each simulator's part of a group; rows are what each environment has of `payload`.
  void SendRows(CommandKind kind, int group, uint64_t policy_version, std::span<const std::byte> payload,
                size_t row_bytes);
  void CopyActed(int peer, const Received& received, RolloutStore& store, int t) const;
  void ReceiveFrom(int peer, int group, RolloutStore& store, int t, CollectTimes& step_times);
  Deadline Wait() const { return Deadline::After(patience_s_); }

  LearnerEnd& wire_;
  double patience_s_;
  int envs_ = 0, first_env_ = 0;
  std::vector<std::vector<EnvRange>> ranges_;  // per group
  // To tell a simulator's work from the wire's: when each group was last commanded, and when the slowest simulator must
  // have been done with what it was last commanded. Clock readings.
  std::vector<double> commanded_s_;
  double done_s_ = 0;
  std::vector<std::pair<uint64_t, int64_t>> holds_;  // per peer that acts: its process, and the version sent to it
};

// Acts for a group of the fleet, whose ranges are whole inference chunks; `observation` and `result` are of all its
// environments.
void ActOn(const Fleet& fleet, int group, const Policy& policy, const Observation& observation,
           const ActRequest& request, const ActResult& result);

// The observation tensors of row t.
Observation ObservationAt(const RolloutStore& store, int t);

// Whom to act by, valid until the next question. No policy: stop collecting.
struct Acting {
  const Policy* policy = nullptr;
  int64_t version = 0;
};

// Fills rows 0..T from row 0 on, wherever inference happens; `acting` is asked before each step. `step` counts policy
// steps since the start of the run and keys the action noise. Returns false when stopped or interrupted before the end.
// No record is under way afterwards.
bool CollectRollout(Fleet& fleet, RolloutStore& store, const std::function<Acting(int t)>& acting, uint64_t step,
                    CollectTimes& times);
// The part of it for simulators that act themselves: they are told of steps ahead, and wait for no answer.
bool CollectActed(Fleet& fleet, RolloutStore& store, const std::function<Acting(int t)>& acting, uint64_t step,
                  CollectTimes& times);

}  // namespace gripstream
