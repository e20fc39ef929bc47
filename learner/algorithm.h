// What a training run does with its rollouts: PPO (learner/ppo.h), or distillation (distill/distiller.h).
//
//   Check -> Prime -> { collect -> Learn } ...
//
// The run owns the policy that acts, collects rollouts with it, and saves what State, Memory and the policy hold. One
// thread.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <vector>

#include "core/metrics.h"
#include "learner/evaluator.h"
#include "learner/group.h"
#include "policies/inference.h"
#include "replay/rollout.h"

namespace gripstream {

class Algorithm {
 public:
  virtual ~Algorithm() = default;
  virtual int Horizon() const = 0;   // T of the rollouts that it wants
  virtual int Sequence() const = 0;  // every how many steps they keep the policy's memory
  // Before the first rollout of a new run; `evaluate` plays the run's evaluation set with any policy. Throws RunError
  // when there is no sense in going on.
  virtual void Check(const std::function<EvaluationResult(const Policy&)>&) {}
  // Takes row 0's observations into the normalisers before the first action of a new run.
  virtual void Prime(const RolloutStore& store) = 0;
  // Changes the policy by a rollout. Returns what is worth logging.
  virtual Metrics Learn(RolloutStore& store, int64_t iteration) = 0;

  // For checkpoints; SetState takes what State returned (GS_CHECK on names and shapes).
  virtual std::vector<NamedTensor> State() const = 0;
  virtual void SetState(const std::vector<NamedTensor>& state) = 0;
  // What it remembers of each environment besides the policy, [N, K]; undefined: nothing.
  virtual torch::Tensor Memory() const { return {}; }
  // Of gradients and the optimiser's moments.
  virtual size_t Bytes() const = 0;
};

// Takes what all learners of the group have seen into the policy's running statistics.
void MergeEverybodys(const LearnerGroup& group, const NormalizerRows& own, Policy& policy);

// Makes the algorithm that trains `policy` in `envs` environments of this learner.
using MakeAlgorithm = std::function<std::unique_ptr<Algorithm>(Policy& policy, int envs, const LearnerGroup& group)>;

}  // namespace gripstream
