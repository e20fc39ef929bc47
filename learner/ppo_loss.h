// What PPO and distillation compute of losses and samples besides fused_loss.h. Pure functions of tensors of any float
// type; AuxLoss is differentiable and returns one number per sample [B]. B = batch.
#pragma once

#include <torch/types.h>

namespace gripstream {

// Mean over components of (prediction - target)^2: [B, C].
torch::Tensor AuxLoss(const torch::Tensor& prediction, const torch::Tensor& target);

// sum(x w) / sum(w), 0 when all weights are 0. x, weight [B]; weights are 0 or 1.
torch::Tensor WeightedMean(const torch::Tensor& x, const torch::Tensor& weight);

// 1 - Var(target - value) / Var(target) over samples of weight 1; 0 when the targets do not vary.
double ExplainedVariance(const torch::Tensor& value, const torch::Tensor& target, const torch::Tensor& weight);

// (x - mean) / deviation over samples of weight 1, 0 elsewhere. Computed in float64.
torch::Tensor Standardise(const torch::Tensor& x, const torch::Tensor& weight);

}  // namespace gripstream
