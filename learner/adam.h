// Adam (Kingma and Ba 2015) over all parameters as one flat array, with clipping by the global gradient norm.
//
// One fused pass per step; no state but two arrays and a counter, so that saving and loading it is exact. Takes over
// the storage of the parameters it is made for: they become views of its array. Not thread-safe.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "policies/parameters.h"

namespace gripstream {

class Adam {
 public:
  explicit Adam(ParameterSet& parameters, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8);

  void ZeroGradients();
  // All gradients, in declared order.
  const torch::Tensor& Gradients() const { return flat_.gradients; }
  // Scales the gradients down to `max_norm` where they exceed it (0: never), applies them, and returns the norm that
  // they had. A norm that is not finite changes nothing and is returned as it is.
  double Step(double learning_rate, double max_norm) { return Step(flat_.gradients, learning_rate, max_norm); }
  // The same with gradients [Count()] that were kept elsewhere.
  double Step(const torch::Tensor& gradients, double learning_rate, double max_norm) {
    return Apply(gradients, 1.0, learning_rate, max_norm, true);
  }

  // All parameters, in declared order.
  const torch::Tensor& Values() const { return flat_.values; }
  // Moves the parameters as Step would, to the same bits, but leaves moments and counter as they are: `scale` times the
  // gradients are a guess at those that are not there yet.
  void MoveAhead(double scale, double learning_rate, double max_norm);

  // For checkpoints: first and second moments [Count()], and the number of steps taken.
  const torch::Tensor& FirstMoment() const { return first_; }
  const torch::Tensor& SecondMoment() const { return second_; }
  int64_t Steps() const { return steps_; }
  // Of gradients and moments.
  size_t Bytes() const { return flat_.gradients.nbytes() + first_.nbytes() + second_.nbytes(); }
  void SetState(const torch::Tensor& first, const torch::Tensor& second, int64_t steps);
  // All of it by name. SetState takes what State returned (GS_CHECK on names and shapes).
  std::vector<NamedTensor> State() const;
  void SetState(const std::vector<NamedTensor>& state);

 private:
  // The one step there is: to moments only when `keep`. Returns the gradients' norm.
  double Apply(const torch::Tensor& gradients, double factor, double learning_rate, double max_norm, bool keep);

  double beta1_, beta2_, epsilon_;
  ParameterSet::Flat flat_;
  torch::Tensor first_, second_;
  int64_t steps_ = 0;
};

}  // namespace gripstream
