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
  Round(const RolloutStore& store, int count, size_t metrics)
      : store_(store), metrics_(metrics), episodes_(static_cast<size_t>(count)) {
    for (Episode& episode : episodes_) episode.last.resize(metrics), episode.most.resize(metrics);
  }

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
    const float* metrics = metrics_ > 0 ? store_.Step("metrics", 0).const_data_ptr<float>() : nullptr;
    ForEach(ranges, [&](size_t env) {
      Episode& episode = episodes_[env];
      if (!episode.open) return;
      for (size_t i = 0; i < metrics_; ++i) {
        episode.last[i] = metrics[env * metrics_ + i];
        episode.most[i] = std::max(episode.most[i], episode.last[i]);
      }
      episode.lost = done_kind[env] == static_cast<uint8_t>(DoneKind::kLost);
      episode.total_reward += rewards[env];
      episode.open = done_kind[env] == static_cast<uint8_t>(DoneKind::kRunning);
      episode.success = !episode.open && succeeded[env] != 0;
    });
  }

  // Adds the episodes that have ended, in the order of the environments: the sums do not depend on who was first.
  void AddTo(EvaluationResult& result, const EpisodeJudge& judge) const {
    for (const Episode& episode : episodes_) {
      if (episode.open || episode.lost) continue;
      for (size_t i = 0; i < episode.last.size(); ++i) result.metrics_at_end[i].second += episode.last[i];
      if (const size_t kind = KindOf(episode, judge); kind < judge.failures.size()) ++result.failures[kind].second;
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
    std::vector<float> last, most;  // of each metric
  };

  // Among the judge's kinds; beyond their number when the episode did not fail, or in no way that has a name.
  static size_t KindOf(const Episode& episode, const EpisodeJudge& judge) {
    const auto fits = [&](const FailureKind& kind) {
      if (kind.unless.empty()) return true;
      const auto found = std::ranges::find(judge.metrics, kind.unless);
      GS_CHECK(found != judge.metrics.end(), "a failure is told from the metric " + kind.unless);
      const size_t i = static_cast<size_t>(found - judge.metrics.begin());
      return !((kind.ever ? episode.most : episode.last)[i] > 0);
    };
    if (episode.success) return judge.failures.size();
    return static_cast<size_t>(std::ranges::find_if(judge.failures, fits) - judge.failures.begin());
  }

  // Visits the ranges' environments that take part.
  template <class Visit>
  void ForEach(const std::vector<EnvRange>& ranges, Visit&& visit) const {
    for (const EnvRange& range : ranges) {
      const size_t end = std::min(static_cast<size_t>(range.begin + range.count), episodes_.size());
      for (size_t env = static_cast<size_t>(range.begin); env < end; ++env) visit(env);
    }
  }

  const RolloutStore& store_;
  size_t metrics_;
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
                               const EpisodeRequest& episodes, int count, size_t metrics) {
  CollectTimes times;
  while (fleet.AwaitAll()) {
    const int64_t losses = fleet.Losses().simulators;
    Round round(store, count, metrics);
    fleet.Reset(episodes, 0);
    fleet.ReceiveAll(store, 0, times);
    round.NoteObjects();
    Play(fleet, store, policy, request, round);
    if (fleet.Losses().simulators == losses || Interrupted()) return round;
    LogInfo("a simulator was lost during the evaluation: this part of it is played again");
  }
  return std::nullopt;
}

EvaluationResult NothingPlayed(const EpisodeJudge& judge) {
  EvaluationResult result;
  for (const std::string& name : judge.metrics) result.metrics_at_end.emplace_back(name, 0);
  for (const FailureKind& kind : judge.failures) result.failures.emplace_back(kind.name, 0);
  return result;
}

// Visits every sum of a result, object by object.
template <class Visit>
void ForEachSum(EvaluationResult& result, Visit&& visit) {
  constexpr int kMostObjects = 4096;
  visit(result.episodes);
  visit(result.successes);
  visit(result.return_mean);
  for (auto& [name, value] : result.metrics_at_end) visit(value);
  for (auto& [name, value] : result.failures) visit(value);
  for (const auto& [id, object] : result.objects)
    GS_CHECK(id >= -1 && id < kMostObjects, "object id " + std::to_string(id));
  for (int id = -1; id < kMostObjects; ++id) {  // -1: the model's own
    EvaluationResult::PerObject& object = result.objects[id];
    visit(object.episodes);
    visit(object.successes);
  }
  std::erase_if(result.objects, [](const auto& object) { return object.second.episodes == 0; });
}

// Adds up what all learners have played: every count, and the sums that the means still are.
EvaluationResult Together(EvaluationResult result, const LearnerGroup& group) {
  if (group.Size() == 1) return result;
  std::vector<double> sums;
  ForEachSum(result, [&](auto value) { sums.push_back(static_cast<double>(value)); });
  const torch::Tensor all = torch::from_blob(sums.data(), {static_cast<int64_t>(sums.size())}, torch::kFloat64);
  group.SumUp(all, "results of the evaluation");
  size_t next = 0;
  ForEachSum(result, [&](auto& value) { value = static_cast<std::remove_reference_t<decltype(value)>>(sums[next++]); });
  return result;
}

}  // namespace

EvaluationResult Evaluate(Fleet& fleet, const LearnerGroup& group, const std::vector<TensorSpec>& specs,
                          const Policy& policy, const EvaluationRequest& request) {
  const TraceSpan span("evaluate");
  EvaluationResult result = NothingPlayed(request.judge);
  const int envs = fleet.Envs(), everybodys = envs * group.Size();
  RolloutStore store(specs, 1, envs, policy.Shapes().action);
  for (int first = 0; first < request.episodes && !Interrupted(); first += everybodys) {
    // Environment i plays episode first + i.
    const int count = std::min(everybodys, request.episodes - first);
    const bool show = first == 0 && group.Leads() && request.pictures.shown > 0;
    EpisodeRequest episodes = show ? request.pictures : EpisodeRequest{};
    episodes.evaluation = true;
    episodes.held_out = request.held_out;
    episodes.seed = request.seed;
    episodes.first_episode = static_cast<uint32_t>(first);
    episodes.episodes = static_cast<uint32_t>(count);
    const std::optional<Round> round =
        PlayRound(fleet, store, policy, {.sample = false, .blank_image = request.blank_image}, episodes,
                  std::clamp(count - fleet.FirstEnv(), 0, envs), request.judge.metrics.size());
    if (round) round->AddTo(result, request.judge);
  }
  result = Together(result, group);
  if (result.episodes > 0) {
    result.return_mean /= result.episodes;
    for (auto& [name, value] : result.metrics_at_end) value /= result.episodes;
  }
  return result;
}

}  // namespace gripstream
