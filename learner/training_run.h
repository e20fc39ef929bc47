// One training run: the loop over iterations and everything that has to survive a stop.
//
//   Begin (new or from a checkpoint) -> Iterate ... -> checkpoints on the way -> Finish
//
// One thread. See learner/role.h for what is thrown.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "core/metrics.h"
#include "core/progress.h"
#include "learner/collector.h"
#include "learner/episode_statistics.h"
#include "learner/final_evaluation.h"
#include "learner/learner_budget.h"
#include "learner/ppo.h"
#include "learner/report.h"
#include "learner/role.h"
#include "learner/rollout_source.h"
#include "policies/checkpoint.h"

namespace gripstream {

class TrainingRun {
 public:
  // All three must outlive this object.
  TrainingRun(LearnerEnd& wire, const LearnerGroup& group, const LearnerRoleOptions& options);
  // Starts anew or from options.checkpoint, trains to the end or an interrupt, evaluates and writes the results.
  int Run();

 private:
  void MakeSource();
  // Logs what was planned beside what is held now, and was at most for a time.
  void LogMemory(const char* when) const;
  void StartAnew();
  // Makes every environment what `command` commands, and its record row 0 of the first rollout: again when a simulator
  // is lost meanwhile. False when interrupted.
  bool Begin(const std::function<void()>& command);
  void LoadEnvironments(const Checkpoint& checkpoint);
  FleetLosses AllLosses() const;
  void Resume();
  // False when interrupted within the iteration; nothing of it has been learned then.
  bool Iterate();
  void TrainUntilDone();
  bool OutOfTime() const;
  bool IsGoodEnough() const;
  std::string StopReason() const;
  int64_t NextStandstill() const;
  void StopCollection();
  void LogIteration(const Metrics& update, const IterationTimes& times, const Staleness& staleness);
  void AdvanceCurriculum();
  Metrics CurriculumMetrics() const;
  Metrics LossMetrics() const;
  void ShowProgress(const IterationTimes& times);
  void SaveCheckpoint();
  std::optional<Checkpoint> GatherCheckpoint();  // empty on all but the leader; nothing: nobody is left to ask
  void FinishResults();
  void WriteOutcome();
  void ShowSheetInTensorBoard();
  // All learners stop at the same point, whoever was interrupted.
  bool MustStop() const;
  void RequireSameParameters() const;
  int AllEnvs() const { return fleet_.Envs() * group_.Size(); }
  int64_t StepsPerIteration() const { return int64_t{algorithm_->Horizon()} * AllEnvs(); }
  int64_t EnvSteps() const { return iteration_ * StepsPerIteration(); }
  double WallSeconds() const;  // of training, resumed parts included

  const LearnerRoleOptions& options_;
  const LearnerGroup& group_;
  Fleet fleet_;
  Policy policy_;
  std::unique_ptr<Algorithm> algorithm_;   // trains policy_
  std::unique_ptr<RolloutSource> source_;  // uses fleet_ and policy_
  EpisodeStatistics episodes_;
  CurriculumGate gate_;
  std::optional<MetricsWriter> metrics_;
  ProgressLine progress_;
  CheckpointFolder checkpoints_;
  EvaluationPlan evaluation_;
  RunResults results_;
  torch::Tensor memory_;  // policy's and algorithm's after the last rollout [N, M]; undefined: none
  MemoryUse buffer_{kBufferPart}, update_peak_{kActivationsPart}, evaluation_peak_{"evaluation"};
  int64_t iteration_ = 0;        // completed
  int64_t first_iteration_ = 0;  // of this process
  int64_t saved_iteration_ = -1;
  double wall_before_s_ = 0;
  double best_success_ = -1;
  int good_iterations_ = 0;
  bool interrupted_ = false;  // this learner or another one
  std::chrono::steady_clock::time_point started_;
};

}  // namespace gripstream
