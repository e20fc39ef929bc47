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
// One thread, but for what says otherwise. A simulator that is lost ends the run with RunError naming it, or, if so
// wanted, is put out: its environments' rows are zeros marked DoneKind::kLost until another simulator holds them, and
// nobody else notices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
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

// What becomes of a run that loses a simulator.
struct LossRule {
  bool replace = false;   // go on without it until another one joins; otherwise the run ends
  double within_s = 600;  // a place that stays empty for longer ends the run, too
};

// So far.
struct FleetLosses {
  int64_t simulators = 0;    // lost
  int64_t replacements = 0;  // simulators that took a lost one's place
  double absent_s = 0;       // from losses to replacements, summed
};

// What each environment is, to go on from: a block of bytes each, in the order of their global ids.
struct EnvStates {
  std::vector<std::byte> bytes;
  std::vector<uint8_t> lost;  // per environment, 1: its simulator was lost, the block is zeros
  bool AnyLost() const { return std::find(lost.begin(), lost.end(), 1) != lost.end(); }
  // Where they are lost here: what they are in `other`.
  void TakeLostFrom(const EnvStates& other);
};

class Fleet {
 public:
  // `wire` has all its simulators; every wait of this class for an answer lasts at most `patience_s`. Throws RunError
  // when the simulators do not have the same number of groups.
  Fleet(LearnerEnd& wire, double patience_s, const LossRule& rule = {});

  int Envs() const { return envs_; }
  int FirstEnv() const { return first_env_; }
  int Groups() const { return static_cast<int>(ranges_.size()); }
  // The group's environments over all simulators, in order; ranges that touch are joined.
  const std::vector<EnvRange>& Ranges(int group) const { return ranges_[static_cast<size_t>(group)]; }

  // Commands to all simulators that are there, for all groups; each is answered by one record per simulator and group.
  void Reset(const EpisodeRequest& request, uint64_t policy_version);
  void LoadStates(const std::vector<std::byte>& states, uint64_t policy_version);
  // For episodes that begin from now on. Not answered; between steps only.
  void SetCurriculumLevel(int level);
  // The same for one group. `action` is of all environments, [N, A] float32, contiguous; the group's rows are sent.
  // Simulators that have just come begin episodes instead when Admit has said so, and are passed over when not.
  void Step(int group, const torch::Tensor& action, uint64_t policy_version);
  // Before a step: whoever has come in the place of a lost simulator takes part from now on, with training episodes
  // numbered from `first_episode`. Waits while nobody at all is there, until one comes or an interrupt. Throws RunError
  // naming those who have been missing for longer than the rule allows.
  void Admit(int group, uint32_t first_episode);
  // Waits until nobody is missing; false when interrupted before. Throws as Admit.
  bool AwaitAll();
  // Any thread.
  FleetLosses Losses() const {
    const std::lock_guard lock(losses_mutex_);
    return losses_;
  }
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
  // One simulator's share of a group is a part: what a command and its record concern. For collection that waits for no
  // simulator in particular (learner/open_collection.h).
  int Parts() const { return Peers() * Groups(); }
  EnvRange RangeOf(int part) const { return PeerRange(static_cast<size_t>(part / Groups()), part % Groups()); }
  // Somebody holds the environments, and has begun with them.
  bool Plays(int part) const;
  bool Owes(int part) const;
  void StepPart(int part, const torch::Tensor& action, uint64_t policy_version);
  // Whoever has come takes part from now on; the first record is then owed. Waits as Admit while nobody is there.
  void AdmitPart(int part, uint32_t first_episode);
  // The next record of any part that owes one goes into row `row_of(part)`. Which part it was; -1 when a simulator
  // proved lost instead.
  int ReceiveAny(RolloutStore& store, const std::function<int(int part)>& row_of, CollectTimes& times);
  // Marks that there is nothing of the part's environments in row t.
  void FillLost(int part, RolloutStore& store, int t);

  // Whatever simulator holds them. Without bytes when no simulator is left to say how large a state is.
  EnvStates SaveStates();

 private:
  // A simulator's place; who fills it may change.
  struct Seat {
    std::vector<bool> owed;     // per group: a record is under way
    std::vector<bool> fresh;    // per group: whoever sits here now, or will, has begun no episodes yet
    std::vector<bool> awaited;  // per group: the record under way is its first
    double lost_s = 0;          // clock reading; only while the seat is fresh
    std::string who;            // was lost last, and why
    bool AnyFresh() const { return std::find(fresh.begin(), fresh.end(), true) != fresh.end(); }
  };

  int Peers() const { return static_cast<int>(seats_.size()); }
  EnvRange PeerRange(size_t peer, int group) const;
  // Does something with a peer that may prove to be lost.
  bool Survives(int peer, const std::function<void()>& body);
  void Lose(const PeerLost& loss);
  void Command(int peer, CommandKind kind, int group, uint64_t policy_version, std::span<const std::byte> payload);
  void Welcome(int peer, int group, uint32_t first_episode);
  void AwaitAnybody();
  bool AnyHere() const;
  bool AnyMissing() const;
  bool Obeys(CommandKind kind, int peer, int group) const;
  void WaitABit(const char* stage);
  void RequireInTime() const;
  void MarkLost(int peer, int group, RolloutStore& store, int t);
  // The same command for each simulator's part of a group; rows are what each environment has of `payload`.
  void SendRows(CommandKind kind, int group, uint64_t policy_version, std::span<const std::byte> payload,
                size_t row_bytes);
  void CopyActed(int peer, const Received& received, RolloutStore& store, int t) const;
  void ReceiveFrom(int peer, int group, RolloutStore& store, int t, CollectTimes& step_times);
  void CheckRecord(int peer, int group, const RecordHeader& header) const;
  int TakeRecord(int peer, const Received& received, RolloutStore& store, const std::function<int(int part)>& row_of);
  void CopyRecord(int peer, int group, const Received& received, RolloutStore& store, int t) const;
  Deadline Wait() const { return Deadline::After(patience_s_); }

  LearnerEnd& wire_;
  double patience_s_;
  LossRule rule_;
  mutable std::mutex losses_mutex_;
  FleetLosses losses_;        // guarded by losses_mutex_
  std::vector<Seat> seats_;   // one per peer
  std::optional<int> level_;  // of the curriculum, once it was set
  size_t state_bytes_ = 0;    // of an environment, once known
  int envs_ = 0, first_env_ = 0;
  std::vector<std::vector<EnvRange>> ranges_;  // per group
  // To tell a simulator's work from the wire's: when each group was last commanded, and when the slowest simulator must
  // have been done with what it was last commanded. Clock readings.
  std::vector<double> commanded_s_;
  double done_s_ = 0;
  std::vector<std::pair<uint64_t, int64_t>> holds_;  // per peer that acts: its process, and the version sent to it
};

// Acts for some environments of the fleet, whole inference chunks; `observation` and `result` are of all.
void ActOn(const Fleet& fleet, const EnvRange& range, const Policy& policy, const Observation& observation,
           const ActRequest& request, const ActResult& result);
// The same for a group.
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
