// The networks: an actor that sees what a robot sees, and a critic that sees the privileged state.
//
//   image -> convolutions -> features --+--> [features, proprio] -> aux head -> object position
//                                       +--> [features, proprio, aux] -> MLP -> action mean
//   state ------------------------------------------------------------> MLP -> value
//
// B = batch. Inputs are normalised already. Forward functions are const and differentiable; parameters are shared by
// all copies. Not thread-safe while an optimiser steps.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "policies/config.h"
#include "policies/parameters.h"
#include "policies/shapes.h"

namespace gripstream {

struct NetworkInput {
  torch::Tensor image{};    // [B, 1, H, W] float32; undefined where the policy uses none
  torch::Tensor proprio{};  // [B, P]
  torch::Tensor state{};    // [B, S]
};

struct ActorOutput {
  torch::Tensor mean{};  // [B, A]
  torch::Tensor aux{};   // [B, aux] in normalised units; undefined without the head
};

// Linear layers with an activation between them; the last is linear, or activated where `activate_last`.
struct Mlp {
  std::vector<torch::Tensor> weights, biases;
  std::string activation;
  bool activate_last = false;
  torch::Tensor Forward(torch::Tensor x) const;
};

class ActorCritic {
 public:
  // Throws InputError (as policy.*) when the configuration does not fit itself or the task's shapes.
  ActorCritic(const PolicyConfig& config, const PolicyShapes& shapes, uint64_t seed);

  ActorOutput Actor(const NetworkInput& input) const;
  torch::Tensor Critic(const torch::Tensor& state) const;   // [B]
  const torch::Tensor& LogStd() const { return log_std_; }  // [A]
  bool UsesImage() const { return uses_image_; }
  bool HasAux() const { return has_aux_; }

  ParameterSet& Parameters() { return parameters_; }
  const ParameterSet& Parameters() const { return parameters_; }

 private:
  void BuildEncoder(const PolicyConfig& config, const PolicyShapes& shapes, uint64_t seed);
  torch::Tensor Encode(const torch::Tensor& image) const;  // [B, features]

  bool uses_image_, has_aux_, feed_aux_;
  ParameterSet parameters_;
  std::vector<torch::Tensor> conv_weights_, conv_biases_;
  std::vector<int64_t> conv_strides_;
  Mlp projection_, aux_, actor_, critic_;
  torch::Tensor log_std_;
};

}  // namespace gripstream
