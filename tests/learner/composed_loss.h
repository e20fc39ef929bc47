// The terms of PPO's loss as operations on tensors, differentiable: what learner/fused_loss.h must equal. One number
// per sample [B].
#pragma once

#include <torch/types.h>

namespace gripstream {

// -min(r A, clamp(r, 1 - clip, 1 + clip) A) with r = exp(log_prob - old_log_prob).
inline torch::Tensor ClippedSurrogateLoss(const torch::Tensor& log_prob, const torch::Tensor& old_log_prob,
                                          const torch::Tensor& advantage, double clip) {
  const torch::Tensor ratio = (log_prob - old_log_prob).exp();
  return -at::minimum(ratio * advantage, ratio.clamp(1.0 - clip, 1.0 + clip) * advantage);
}

// 0.5 (value - target)^2; with clip > 0 the larger of that and the same for old_value + clamp(value - old_value).
inline torch::Tensor ValueLoss(const torch::Tensor& value, const torch::Tensor& old_value, const torch::Tensor& target,
                               double clip) {
  const torch::Tensor loss = 0.5 * (value - target).square();
  if (clip <= 0) return loss;
  const torch::Tensor clipped = old_value + (value - old_value).clamp(-clip, clip);
  return at::maximum(loss, 0.5 * (clipped - target).square());
}

// Sum over components of (|mean| - limit)^2 where beyond the limit: mean [B, A].
inline torch::Tensor BoundsLoss(const torch::Tensor& mean, double limit) {
  return (mean.abs() - limit).clamp_min(0.0).square().sum(-1);
}

// 1 for samples whose ratio left [1 - clip, 1 + clip], 0 for the others.
inline torch::Tensor OutsideClip(const torch::Tensor& log_prob, const torch::Tensor& old_log_prob, double clip) {
  return (((log_prob - old_log_prob).exp() - 1.0).abs() > clip).to(log_prob.scalar_type());
}

}  // namespace gripstream
