#include "learner/evaluator.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/done_kind.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/trace.h"
#include "policies/shapes.h"

namespace gripstream {
namespace {

// One round: each environment plays one episode; what comes of environments that have ended theirs is ignored.
class Round {
 public:
  Round(const RolloutStore& store, int count) : store_(store), episodes_(static_cast<size_t>(count)) {}

  // Whether some of these environments still play.
  bool Open(const std::vector<EnvRange>& ranges) const {
    bool open = false;
    ForEach(ranges, [&](size_t env) { open |= episodes_[env].open; });
    return open;
  }

  // The record after an episode's end belongs to the next one, so who holds which object is noted at the start.
  void NoteObjects() {
    const auto* ids = store_.Step("object_id", 0).const_data_ptr<int32_t>();
    for (size_t env = 0; env < episodes_.size(); ++env) episodes_[env].object = ids[env];
  }

  void TakeRow(const std::vector<EnvRange>& ranges) {
    const torch::Tensor done = store_.Step("done", 0), success = store_.Step("success", 0);
    const torch::Tensor reward = store_.Step("reward", 0);
    const auto* done_kind = done.const_data_ptr<uint8_t>();
    const auto* succeeded = success.const_data_ptr<uint8_t>();
    const auto* rewards = reward.const_data_ptr<float>();
    ForEach(ranges, [&](size_t env) {
      Episode& episode = episodes_[env];
      if (!episode.open) return;
      episode.lost = done_kind[env] == static_cast<uint8_t>(DoneKind::kLost);
      episode.total_reward += rewards[env];
      episode.open = done_kind[env] == static_cast<uint8_t>(DoneKind::kRunning);
      episode.success = !episode.open && succeeded[env] != 0;
    });
  }

  // Adds the episodes that have ended, in the order of the environments: the sums do not depend on who was first.
  void AddTo(EvaluationResult& result) const {
    for (const Episode& episode : episodes_) {
      if (episode.open || episode.lost) continue;
      EvaluationResult::PerObject& object = result.objects[episode.object];
      ++result.episodes;
      ++object.episodes;
      result.successes += episode.success;
      object.successes += episode.success;
      result.return_mean += episode.total_reward;
    }
  }

 private:
  struct Episode {
    bool open = true, success = false, lost = false;
    double total_reward = 0;
    int32_t object = 0;
  };

  // Visits the ranges' environments that take part.
  template <class Visit>
  void ForEach(const std::vector<EnvRange>& ranges, Visit&& visit) const {
    for (const EnvRange& range : ranges) {
      const size_t end = std::min(static_cast<size_t>(range.begin + range.count), episodes_.size());
      for (size_t env = static_cast<size_t>(range.begin); env < end; ++env) visit(env);
    }
  }

  const RolloutStore& store_;
  std::vector<Episode> episodes_;  // by environment
};

// Plays until every environment that takes part has ended its episode, or an interrupt. Row 0 of the store holds the
// first observations; no record is under way afterwards.
void Play(Fleet& fleet, RolloutStore& store, const Policy& policy, ActRequest request, Round& round) {
  CollectTimes times;
  ActResult act;
  act.action = store.Action()[0];
  if (policy.MemorySize() > 0) {
    request.memory = act.memory = at::zeros({fleet.Envs(), policy.MemorySize()}, torch::kFloat32);
  }
  std::vector<bool> stepping(static_cast<size_t>(fleet.Groups()), false);  // whose record is under way
  const auto take = [&](int group) {
    if (!stepping[static_cast<size_t>(group)]) return;
    stepping[static_cast<size_t>(group)] = false;
    fleet.Receive(group, store, 0, times);
    round.TakeRow(fleet.Ranges(group));
  };
  while (round.Open({{0, fleet.Envs()}}) && !Interrupted()) {
    for (int group = 0; group < fleet.Groups(); ++group) {
      take(group);
      if (!round.Open(fleet.Ranges(group))) continue;
      ActOn(fleet, group, policy, ObservationAt(store, 0), request, act);
      fleet.Step(group, act.action, 0);
      stepping[static_cast<size_t>(group)] = true;
    }
  }
  for (int group = 0; group < fleet.Groups(); ++group) take(group);
}

// One round on the environments of this learner, again from its start when a simulator was lost on the way: what the
// others have played they play again, to the same end. Nothing when interrupted while some are missing.
std::optional<Round> PlayRound(Fleet& fleet, RolloutStore& store, const Policy& policy, const ActRequest& request,
                               const EpisodeRequest& episodes, int count) {
  CollectTimes times;
  while (fleet.AwaitAll()) {
    const int64_t losses = fleet.Losses().simulators;
    Round round(store, count);
    fleet.Reset(episodes, 0);
    fleet.ReceiveAll(store, 0, times);
    round.NoteObjects();
    Play(fleet, store, policy, request, round);
    if (fleet.Losses().simulators == losses || Interrupted()) return round;
    LogInfo("a simulator was lost during the evaluation: this part of it is played again");
  }
  return std::nullopt;
}

// Adds up what all learners have played: every count, and the sum of returns that return_mean still is.
EvaluationResult Together(const EvaluationResult& own, const LearnerGroup& group) {
  constexpr int kMostObjects = 4096, kFields = 2;
  if (group.Size() == 1) return own;
  const torch::Tensor sums = at::zeros({3 + kFields * (kMostObjects + 1)}, torch::kFloat64);
  double* all = sums.data_ptr<double>();
  all[0] = own.episodes, all[1] = own.successes, all[2] = own.return_mean;
  const auto at_object = [&](int id) { return all + 3 + kFields * (id + 1); };  // -1: the model's own
  for (const auto& [id, object] : own.objects) {
    GS_CHECK(id >= -1 && id < kMostObjects, "object id " + std::to_string(id));
    at_object(id)[0] = object.episodes, at_object(id)[1] = object.successes;
  }
  group.SumUp(sums, "results of the evaluation");
  EvaluationResult result;
  result.episodes = static_cast<int>(all[0]), result.successes = static_cast<int>(all[1]), result.return_mean = all[2];
  for (int id = -1; id < kMostObjects; ++id) {
    const double* object = at_object(id);
    if (object[0] > 0) result.objects[id] = {static_cast<int>(object[0]), static_cast<int>(object[1])};
  }
  return result;
}

}  // namespace

EvaluationResult Evaluate(Fleet& fleet, const LearnerGroup& group, const std::vector<TensorSpec>& specs,
                          const Policy& policy, const EvaluationRequest& request) {
  const TraceSpan span("evaluate");
  EvaluationResult result;
  const int envs = fleet.Envs(), everybodys = envs * group.Size();
  RolloutStore store(specs, 1, envs, policy.Shapes().action);
  for (int first = 0; first < request.episodes && !Interrupted(); first += everybodys) {
    // Environment i plays episode first + i.
    const int count = std::min(everybodys, request.episodes - first);
    const bool show = first == 0 && group.Leads() && request.pictures.shown > 0;
    EpisodeRequest episodes = show ? request.pictures : EpisodeRequest{};
    episodes.evaluation = true;
    episodes.seed = request.seed;
    episodes.first_episode = static_cast<uint32_t>(first);
    episodes.episodes = static_cast<uint32_t>(count);
    const std::optional<Round> round =
        PlayRound(fleet, store, policy, {.sample = false, .blank_image = request.blank_image}, episodes,
                  std::clamp(count - fleet.FirstEnv(), 0, envs));
    if (round) round->AddTo(result);
  }
  result = Together(result, group);
  if (result.episodes > 0) result.return_mean /= result.episodes;
  return result;
}

}  // namespace gripstream
