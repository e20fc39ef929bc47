// Proximal policy optimisation over a RolloutStore.
//
//   store (records, actions, values) -> values of last and final states -> GAE or V-trace -> epochs x minibatches ->
//   new parameters
//
// The learner's loop: Act on row t for t < T, write rows up to T, Update, store.BeginAfter(store). Update changes the
// policy's parameters, then takes the rollout's observations into its normalisers. Everything is a function of the
// store's content, the seed and the state that Save writes: two runs agree bit for bit on one machine with the same
// number of threads. Several learners share out one batch: environments are numbered over all of them, a minibatch is
// the one that a single learner would take, each learner adds the gradients of the samples that it holds, and what
// standardises samples is computed from everybody's. So results are a single learner's up to the order of summation,
// and all learners' parameters have the same bits. Sets LibTorch's thread count and its deterministic mode for the
// process. One thread.
//
// A policy with memory learns from sequences of L = ppo.sequence steps (truncated back-propagation through time): each
// begins with the memory that acting left there, and forgets where an episode ended. A minibatch is of whole sequences.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "learner/adam.h"
#include "learner/algorithm.h"
#include "learner/config.h"
#include "learner/delayed_gradient.h"
#include "learner/fused_loss.h"
#include "learner/gradient_sum.h"
#include "learner/group.h"
#include "learner/schedule.h"
#include "policies/inference.h"
#include "replay/rollout.h"

namespace gripstream {

// Of one Update; losses are means over all its gradient steps.
struct PpoMetrics {
  double policy_loss = 0, value_loss = 0, entropy = 0, bounds_loss = 0, aux_loss = 0;
  double kl = 0;  // last epoch, from the rollout's policy
  double clip_fraction = 0;
  double grad_norm = 0;           // before clipping
  // The same by module, of the last step; empty with delayed gradients.
  std::vector<std::pair<std::string, double>> module_norms{};
  double explained_variance = 0;  // of the rollout's values
  double learning_rate = 0;       // at the end
  double action_std = 0;          // mean over components
  double return_mean = 0;         // of the value targets
  int64_t used_samples = 0;       // of horizon x environments; the rest were faulted, lost or carried
  double seconds = 0;             // wall clock of the whole Update
};

class Ppo final : public Algorithm {
 public:
  // `policy` and `group` must outlive this object; the policy's parameters move into the optimiser's storage. `envs`
  // are this learner's. `iterations` is the length of the run, for the linear schedule. Throws InputError when
  // `minibatch` does not divide horizon x all learners' environments.
  Ppo(const PpoConfig& config, Policy& policy, int envs, uint64_t seed, int64_t iterations, const LearnerGroup& group,
      GradientDelay delay = GradientDelay::kNone);

  int Horizon() const override { return config_.horizon; }
  int Sequence() const override { return sequence_; }
  void Prime(const RolloutStore& store) override;
  Metrics Learn(RolloutStore& store, int64_t iteration) override;
  // Throws RunError when gradients are no longer finite.
  PpoMetrics Update(RolloutStore& store, int64_t iteration);

  // Optimiser and learning rate.
  std::vector<NamedTensor> State() const override;
  void SetState(const std::vector<NamedTensor>& state) override;
  size_t Bytes() const override { return adam_.Bytes(); }

 private:
  struct Samples;  // one iteration's samples, [T N, ...]
  Samples Prepare(RolloutStore& store) const;
  torch::Tensor Rejudge(RolloutStore& store) const;
  void EstimateReturns(RolloutStore& store, const torch::Tensor& log_ratio, Samples& samples) const;
  torch::Tensor FinalValues(RolloutStore& store) const;
  torch::Tensor Everyones(const torch::Tensor& own) const;
  torch::Tensor OwnPart(const torch::Tensor& all) const;
  std::vector<int64_t> OwnSequences(std::span<const int64_t> all) const;
  std::vector<int64_t> RowsOf(std::span<const int64_t> sequences, int64_t envs) const;
  void TakeRollout(const RolloutStore& store, const Samples& samples);
  void Summarise(const Samples& samples, PpoMetrics& metrics) const;
  void RequireFinite(double grad_norm, int64_t iteration, const std::string& where) const;
  double RunEpoch(const Samples& samples, int64_t iteration, int epoch, PpoMetrics& metrics);
  double TrainMinibatch(const Samples& samples, std::span<const int64_t> all, PpoMetrics& metrics);
  FusedLossOptions LossOptions() const;
  double Step(double share);
  double Accumulate(const Samples& samples, std::span<const int64_t> sequences, double weight, PpoMetrics& metrics);

  PpoConfig config_;
  Policy& policy_;
  const LearnerGroup& group_;
  int envs_;
  int sequence_;  // L: steps that are learned from together, and through which gradients go back; 1 without memory
  uint64_t seed_;
  Adam adam_;
  GradientSum gradient_sum_;
  std::optional<DelayedGradient> delayed_;  // in place of gradient_sum_
  LearningRate rate_;
};

}  // namespace gripstream
