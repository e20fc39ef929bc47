// Diagonal Gaussian over actions. Pure functions of tensors, in any float type; all sums run over the last dimension.
// B = batch, A = action components; log_std is [A] or [B, A].
#pragma once

#include <torch/types.h>

namespace gripstream {

torch::Tensor GaussianLogProb(const torch::Tensor& mean, const torch::Tensor& log_std, const torch::Tensor& action);
torch::Tensor GaussianEntropy(const torch::Tensor& log_std);  // [] or [B]
// KL(old || now), per sample [B].
torch::Tensor GaussianKl(const torch::Tensor& old_mean, const torch::Tensor& old_log_std, const torch::Tensor& mean,
                         const torch::Tensor& log_std);

}  // namespace gripstream
