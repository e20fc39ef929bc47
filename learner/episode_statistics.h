// What ended during training: returns, lengths and successes of whole episodes, faults, and each reward term's mean.
//
// Of all learners together, who have equally many environments. Looks at a rollout's rows 1..T after they have arrived.
// Episodes that began before a resume count from the resume on. One thread.
#pragma once

#include <string>
#include <vector>

#include "core/metrics.h"
#include "learner/group.h"
#include "replay/rollout.h"

namespace gripstream {

class EpisodeStatistics {
 public:
  EpisodeStatistics(int envs, std::vector<std::string> reward_terms, std::vector<std::string> metric_names);
  // Takes in one rollout and starts counting anew for it.
  void TakeRollout(const RolloutStore& store, const LearnerGroup& group);
  // No episode is running: after a reset of all environments.
  void ForgetRunning();

  int Episodes() const { return episodes_; }
  int Faults() const { return faults_; }
  // Samples that there are not, because a simulator was lost.
  int Lost() const { return lost_; }
  bool AnyEnded() const { return any_ended_; }
  // Of the last rollout that ended any episode; 0 before the first has.
  double SuccessRate() const { return success_rate_; }
  double ReturnMean() const { return return_mean_; }
  // Of one of the record's metrics over the last rollout; 0 when there is none of that name.
  double MetricMean(const std::string& name) const;
  Metrics AsMetrics() const;

 private:
  void TakeStep(const RolloutStore& store, int t);
  void AddUp(const LearnerGroup& group);
  static void TakeMeans(const RolloutStore& store, const std::string& tensor, std::vector<double>& means);

  std::vector<std::string> reward_terms_, metric_names_;
  std::vector<double> running_return_;
  std::vector<int> running_length_;
  std::vector<double> term_means_, metric_means_;
  int episodes_ = 0, successes_ = 0, timeouts_ = 0, faults_ = 0, lost_ = 0;
  double return_sum_ = 0, length_sum_ = 0;
  bool any_ended_ = false;
  double success_rate_ = 0, return_mean_ = 0, length_mean_ = 0;
};

}  // namespace gripstream
