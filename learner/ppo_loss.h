// The terms of PPO's loss. Pure, differentiable functions of tensors of any float type; all but the reductions return
// one number per sample [B], so that samples that must not count can be weighted out. B = batch.
#pragma once

#include <torch/types.h>

namespace gripstream {

// -min(r A, clamp(r, 1 - clip, 1 + clip) A) with r = exp(log_prob - old_log_prob).
torch::Tensor ClippedSurrogateLoss(const torch::Tensor& log_prob, const torch::Tensor& old_log_prob,
                                   const torch::Tensor& advantage, double clip);

// 0.5 (value - target)^2; with clip > 0 the larger of that and the same for old_value + clamp(value - old_value).
torch::Tensor ValueLoss(const torch::Tensor& value, const torch::Tensor& old_value, const torch::Tensor& target,
                        double clip);

// Sum over components of (|mean| - limit)^2 where beyond the limit: mean [B, A]. Keeps means where actions act.
torch::Tensor BoundsLoss(const torch::Tensor& mean, double limit);

// Mean over components of (prediction - target)^2: [B, C].
torch::Tensor AuxLoss(const torch::Tensor& prediction, const torch::Tensor& target);

// sum(x w) / sum(w), 0 when all weights are 0. x, weight [B]; weights are 0 or 1.
torch::Tensor WeightedMean(const torch::Tensor& x, const torch::Tensor& weight);

// 1 for samples whose ratio left [1 - clip, 1 + clip], 0 for the others.
torch::Tensor OutsideClip(const torch::Tensor& log_prob, const torch::Tensor& old_log_prob, double clip);

// 1 - Var(target - value) / Var(target) over samples of weight 1; 0 when the targets do not vary.
double ExplainedVariance(const torch::Tensor& value, const torch::Tensor& target, const torch::Tensor& weight);

// (x - mean) / deviation over samples of weight 1, 0 elsewhere. Computed in float64.
torch::Tensor Standardise(const torch::Tensor& x, const torch::Tensor& weight);

}  // namespace gripstream
