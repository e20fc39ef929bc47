#include "learner/delayed_gradient.h"

#include <algorithm>

#include "core/error.h"
#include "core/trace.h"

namespace gripstream {

DelayedGradient::DelayedGradient(const LearnerGroup& group, Adam& adam, GradientDelay delay, int64_t bucket_numbers)
    : group_(group),
      adam_(adam),
      delay_(delay),
      bucket_numbers_(bucket_numbers),
      values_(at::empty_like(adam.Values())) {
  GS_CHECK(delay != GradientDelay::kNone, "gradients without a delay");
  for (torch::Tensor& kept : kept_) kept = at::empty_like(adam.Gradients());
}

void DelayedGradient::BeforePasses(double max_norm) {
  ahead_ = pending_ && delay_ == GradientDelay::kPredicted && share_ > 0;
  if (!ahead_) return;
  const torch::NoGradGuard no_grad;
  values_.copy_(adam_.Values());
  adam_.MoveAhead(1.0 / share_, rates_[1 - next_], max_norm);
}

double DelayedGradient::AfterPasses(double share, double learning_rate, double max_norm) {
  const torch::NoGradGuard no_grad;
  torch::Tensor values = adam_.Values();
  if (ahead_) values.copy_(values_);
  ahead_ = false;
  const torch::Tensor& gradient = kept_[next_].copy_(adam_.Gradients());
  for (int64_t begin = 0; begin < gradient.numel(); begin += bucket_numbers_) {
    const int64_t count = std::min(bucket_numbers_, gradient.numel() - begin);
    sums_[next_].push_back(group_.BeginSum(gradient.narrow(0, begin, count), "the sum of gradients"));
  }
  rates_[next_] = learning_rate;
  share_ = share;
  next_ = 1 - next_;
  const double norm = pending_ ? StepWith(next_, max_norm) : 0;
  pending_ = true;
  return norm;
}

double DelayedGradient::Flush(double max_norm) {
  if (!pending_) return 0;
  pending_ = false;
  return StepWith(1 - next_, max_norm);
}

// Once its sum is there.
double DelayedGradient::StepWith(size_t kept, double max_norm) {
  {
    const TraceSpan span("wait for the sum of gradients");
    for (LearnerGroup::Sum& sum : sums_[kept]) sum.Finish();
  }
  sums_[kept].clear();
  return adam_.Step(kept_[kept], rates_[kept], max_norm);
}

}  // namespace gripstream
