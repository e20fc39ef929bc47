// A minibatch's gradient that is summed over all learners while the next minibatch is computed: for slow links.
//
//   passes of k -> sum of k begins -> sum of k-1 ends, its step -> passes of k+1 (meanwhile the sum of k) -> ... ->
//   Flush
//
// So each step takes a gradient from one step earlier (Pipe-SGD; Li et al. 2018). With kPredicted the passes run on
// the parameters as they will be once the step that is still missing has been made, as far as this learner's own share
// of its gradient tells; the step itself is made from the parameters as they are, with the sum (compare DaSGD, Zhou et
// al. 2020). Alone, the own share is the sum, and all is as without a delay, to the bit. Flush makes the last step, so
// that nothing is pending at the end of an iteration: what acts, is saved or is compared is always complete. Between
// BeforePasses and AfterPasses the optimiser's parameters are a prediction, which differs between learners; outside,
// all learners have the same bits. One thread. Throws what LearnerGroup throws.
#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <vector>

#include "learner/adam.h"
#include "learner/config.h"
#include "learner/group.h"

namespace gripstream {

class DelayedGradient {
 public:
  // `delay` is not kNone. Sums run in pieces of `bucket_numbers`. Group and optimiser must outlive this object.
  DelayedGradient(const LearnerGroup& group, Adam& adam, GradientDelay delay, int64_t bucket_numbers);

  // The optimiser's gradients are still those that AfterPasses found.
  void BeforePasses(double max_norm);
  // The optimiser's gradients are those of `share` of the minibatch's samples, in [0, 1]. Returns the norm of the
  // gradient that was stepped with, the minibatch before's; 0 when there was none. Each steps with its own minibatch's
  // learning rate.
  double AfterPasses(double share, double learning_rate, double max_norm);
  // Makes the step that is still missing, if one is; returns its gradient's norm.
  double Flush(double max_norm);

 private:
  double StepWith(size_t kept, double max_norm);

  const LearnerGroup& group_;
  Adam& adam_;
  GradientDelay delay_;
  int64_t bucket_numbers_;
  double share_ = 1;                                    // of the gradient that is pending
  torch::Tensor values_;                                // [Count()] as they were before the prediction
  std::array<torch::Tensor, 2> kept_;                   // [Count()] each: gradients under way, in turn
  std::array<std::vector<LearnerGroup::Sum>, 2> sums_;  // of kept_
  std::array<double, 2> rates_{};                       // for kept_
  size_t next_ = 0;                                     // of kept_, for the next gradient
  bool pending_ = false;                                // kept_[1 - next_] is under way
  bool ahead_ = false;
};

}  // namespace gripstream
