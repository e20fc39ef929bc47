// The sum of a minibatch's gradient over all learners, on its way while the backward pass goes on.
//
//   last backward pass -> a bucket of parameters is complete -> its sum begins -> ... -> Finish -> optimiser
//
// A backward pass reaches parameters from the last declared to the first, so buckets are stretches of the flat gradient
// from its end. They are summed in that order on every learner, whatever order its gradients came in. A group of one
// does nothing. One thread. Throws what LearnerGroup throws.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "learner/group.h"
#include "policies/parameters.h"

namespace gripstream {

// Numbers in a bucket, 1 MiB: large enough for the link, small enough to overlap.
inline constexpr int64_t kBucketNumbers = 256 << 10;

class GradientSum {
 public:
  // `flat` is the memory of all gradients in declared order (ParameterSet::Flatten). Buckets hold at least
  // `bucket_numbers` numbers, all but the last. Group and parameters must outlive this object.
  GradientSum(const LearnerGroup& group, ParameterSet& parameters, const torch::Tensor& flat, int64_t bucket_numbers);
  ~GradientSum();
  GradientSum(const GradientSum&) = delete;
  GradientSum& operator=(const GradientSum&) = delete;

  // The backward pass that comes next is the minibatch's last one.
  void ExpectLastPass();
  // Sums what is left and waits until all is summed.
  void Finish();

  int Buckets() const { return static_cast<int>(buckets_.size()); }
  int BegunBeforeFinish() const { return begun_before_finish_; }  // of the last minibatch

 private:
  struct Bucket {
    torch::Tensor gradients;  // a stretch of the flat gradient
    int parameters = 0;
    int missing = 0;  // parameters whose gradient is not complete yet
  };
  struct Hooks;
  void OnGradient(size_t bucket);
  void BeginReady();

  const LearnerGroup& group_;
  std::vector<Bucket> buckets_;
  std::vector<LearnerGroup::Sum> under_way_;
  bool expecting_ = false;
  int begun_before_finish_ = 0;
  std::unique_ptr<Hooks> hooks_;
};

}  // namespace gripstream
