// Online imitation (DAgger with the student acting; paper facts 3.4): the student acts, the teacher says what it would
// have done, and the student's network is moved towards it.
//
//   loss = mean over steps of  |(mu_s - mu_t) / max(sigma_t, floor)|  +  std_coef |sigma_s - sigma_t|
//                            + aux_coef |object position's error|                (norms over components)
//
// A rollout of distill.sequence steps makes one gradient step, through which gradients go back; both policies' memories
// run on from rollout to rollout. Teacher and student may see different parts of the same record. Several learners
// share out one batch, as in PPO. The rollout's rows are the student's; one thread.
#pragma once

#include <vector>

#include "distill/config.h"
#include "learner/adam.h"
#include "learner/algorithm.h"
#include "learner/gradient_sum.h"

namespace gripstream {

// A teacher, and what its own run found of it.
struct Teacher {
  Policy policy;
  std::string name;            // for messages
  bool judged = false;         // whether there is such a finding, of this very policy
  double recorded_return = 0;  // mean over its evaluation's episodes
};

// Of one Learn; means over all samples.
struct DistillMetrics {
  double action_loss = 0, std_loss = 0, aux_loss = 0;
  double action_error = 0;  // mean |mu_s - mu_t| per component, not weighted
  double grad_norm = 0;     // before clipping
};

class Distiller final : public Algorithm {
 public:
  // `student` and `group` must outlive this object; the student's parameters move into the optimiser's storage.
  Distiller(const DistillConfig& config, Teacher teacher, Policy& student, int envs, int threads,
            const LearnerGroup& group);

  int Horizon() const override { return config_.sequence; }
  int Sequence() const override { return config_.sequence; }
  // Throws RunError when the teacher does not fare as its own run says: then it sees something else here.
  void Check(const std::function<EvaluationResult(const Policy&)>& evaluate) override;
  void Prime(const RolloutStore& store) override;
  Metrics Learn(RolloutStore& store, int64_t iteration) override;
  // Throws RunError when gradients are no longer finite.
  DistillMetrics Update(RolloutStore& store, int64_t iteration);

  std::vector<NamedTensor> State() const override;
  void SetState(const std::vector<NamedTensor>& state) override;
  torch::Tensor Memory() const override;
  size_t Bytes() const override { return adam_.Bytes(); }

 private:
  struct Labels;
  Labels Ask(const RolloutStore& store);
  void Accumulate(const RolloutStore& store, const Labels& labels, int64_t begin, int64_t count,
                  DistillMetrics& metrics);
  void TakeIntoNormalizers(const RolloutStore& store, int64_t rows);

  DistillConfig config_;
  Teacher teacher_;
  Policy& student_;
  const LearnerGroup& group_;
  int envs_;
  torch::Tensor teacher_memory_;  // [N, M of the teacher]; undefined without memory
  Adam adam_;
  GradientSum gradient_sum_;
};

}  // namespace gripstream
