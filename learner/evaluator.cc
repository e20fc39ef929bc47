#include "learner/evaluator.h"

#include "core/done_kind.h"
#include "core/interrupt.h"
#include "policies/shapes.h"

namespace gripstream {
namespace {

// One round: each environment plays one episode; results of environments that have ended theirs are ignored.
class Round {
 public:
  Round(RolloutStore& store, int count, EvaluationResult& result)
      : store_(store),
        open_(static_cast<size_t>(count), true),
        returns_(static_cast<size_t>(count)),
        result_(result),
        remaining_(count) {}

  bool Over() const { return remaining_ == 0; }

  void TakeRow() {
    const torch::Tensor done = store_.Step("done", 0), success = store_.Step("success", 0);
    const torch::Tensor reward = store_.Step("reward", 0);
    const auto* done_kind = done.const_data_ptr<uint8_t>();
    const auto* succeeded = success.const_data_ptr<uint8_t>();
    const auto* rewards = reward.const_data_ptr<float>();
    for (size_t i = 0; i < open_.size(); ++i) {
      if (!open_[i]) continue;
      returns_[i] += rewards[i];
      if (done_kind[i] == static_cast<uint8_t>(DoneKind::kRunning)) continue;
      End(i, succeeded[i] != 0);
    }
  }

  // The record after an episode's end belongs to the next one, so who holds which object is noted at the start.
  void NoteObjects() {
    const auto* ids = store_.Step("object_id", 0).const_data_ptr<int32_t>();
    objects_.assign(ids, ids + open_.size());
  }

 private:
  void End(size_t env, bool success) {
    open_[env] = false;
    --remaining_;
    ++result_.episodes;
    result_.successes += success;
    result_.return_mean += returns_[env];
    ++result_.objects[objects_[env]].episodes;
    result_.objects[objects_[env]].successes += success;
  }

  RolloutStore& store_;
  std::vector<bool> open_;
  std::vector<double> returns_;
  std::vector<int32_t> objects_;
  EvaluationResult& result_;
  int remaining_;
};

}  // namespace

EvaluationResult Evaluate(Fleet& fleet, const std::vector<TensorSpec>& specs, const Policy& policy,
                          const EvaluationRequest& request) {
  EvaluationResult result;
  CollectTimes times;
  const int envs = fleet.Envs();
  RolloutStore store(specs, 1, envs, policy.Shapes().action);
  ActResult act;
  act.action = store.Action()[0];
  for (int first = 0; first < request.episodes && !Interrupted(); first += envs) {
    Round round(store, std::min(envs, request.episodes - first), result);
    const bool show = first == 0 && request.sheet_rows > 0;
    fleet.Reset({.evaluation = true,
                 .seed = request.seed,
                 .first_episode = static_cast<uint32_t>(first),
                 .sheet_rows = show ? request.sheet_rows : 0,
                 .sheet_path = show ? request.sheet_path : ""},
                0);
    fleet.Receive(store, 0, times);
    round.NoteObjects();
    while (!round.Over() && !Interrupted()) {
      policy.Act(ObservationAt(store, 0), {.sample = false, .blank_image = request.blank_image}, act);
      fleet.Step(act.action, 0);
      fleet.Receive(store, 0, times);
      round.TakeRow();
    }
  }
  if (result.episodes > 0) result.return_mean /= result.episodes;
  return result;
}

}  // namespace gripstream
