// PPO's loss and its gradients in one pass over the samples: what ppo_loss.h and policies/distribution.h say as some
// hundred operations on tensors, which on small networks take as long as the networks.
//
//   outputs of the networks, what the rollout has -> sums of the terms, d loss / d outputs -> backward through them
//
// Pure; float32 tensors, contiguous or expanded. B = samples, A = components of an action.
#pragma once

#include <torch/types.h>

namespace gripstream {

struct FusedLossInput {
  torch::Tensor mean, log_std;          // [B, A], of the policy now
  torch::Tensor value;                  // [B]
  torch::Tensor action;                 // [B, A]
  torch::Tensor old_mean, old_log_std;  // [B, A], of the policy that acted
  torch::Tensor old_log_prob;           // [B]
  torch::Tensor old_value, target;      // [B], in the critic's own units
  torch::Tensor advantage;              // [B]
  torch::Tensor share;                  // [B], each sample's weight in the loss; a minibatch's add up to 1
};

struct FusedLossOptions {
  double clip = 0.2;
  double value_clip = 0.2;  // 0: none
  double value_coef = 1, entropy_coef = 0, bounds_coef = 0;
  double action_limit = 1;
};

// Of the samples, times their shares.
struct FusedLossSums {
  double policy = 0, entropy = 0, value = 0, bounds = 0;
  double kl = 0;             // from the policy that acted
  double clip_fraction = 0;  // of samples whose ratio left [1 - clip, 1 + clip]
  double action_std = 0;     // mean over components
};

struct FusedLoss {
  FusedLossSums sums;
  torch::Tensor d_mean, d_log_std;  // [B, A]
  torch::Tensor d_value;            // [B]
};
// The loss is policy - entropy_coef entropy + value_coef value + bounds_coef bounds.
FusedLoss ComputeFusedLoss(const FusedLossInput& input, const FusedLossOptions& options);

}  // namespace gripstream
