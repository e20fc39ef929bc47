// The networks: an actor that sees what a robot sees, and a critic that sees the privileged state.
//
//   image -> convolutions -> features --+--> x = [features, numbers] (-> memory -> [memory, x])
//                                       x --> aux head -> object position
//                                       [x, aux] -> MLP (-> memory) -> action mean (and deviation)
//   state -> (memory ->) MLP (-> memory) -> value
//
// numbers: proprioception, or the state where the configuration says so (policy.actor_input).
// R = rows = L steps of B sequences, time-major (policies/layers.h); for networks without memory any number of rows.
// Inputs are normalised already. Forward functions are const and differentiable; parameters are shared by all copies.
// Not thread-safe while an optimiser steps.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "policies/config.h"
#include "policies/graph.h"
#include "policies/layers.h"
#include "policies/parameters.h"
#include "policies/rgb_encoder.h"
#include "policies/shapes.h"

namespace gripstream {

struct NetworkInput {
  torch::Tensor image{};    // [R, 1, H, W] depth, or [R, cameras, 3, H, W] colours; undefined where there is none
  torch::Tensor proprio{};  // [R, P]
  torch::Tensor state{};    // [R, S]
  torch::Tensor memory{};   // [B, MemorySize()] before the first step; undefined for a policy without memory
  torch::Tensor keep{};     // [R, 1] 0 where memory begins anew before this row, else 1; undefined: it never does
};

struct ActorOutput {
  torch::Tensor mean{};     // [R, A]
  torch::Tensor log_std{};  // [R, A]
  torch::Tensor aux{};      // [R, aux] in normalised units; undefined without the head
  torch::Tensor memory{};   // [B, ActorMemorySize()] after the last step; undefined without memory
};

struct CriticOutput {
  torch::Tensor value{};   // [R]
  torch::Tensor memory{};  // [B, MemorySize() - ActorMemorySize()]; undefined without memory
};

// An MLP with the memory before or after its hidden layers.
struct Tower {
  Recurrent memory{};
  bool memory_first = false;
  bool concat_input = false;
  Mlp hidden{}, output{};
};

class ActorCritic {
 public:
  // Throws InputError (as policy.*) when the configuration does not fit itself or the task's shapes.
  ActorCritic(const PolicyConfig& config, const PolicyShapes& shapes, uint64_t seed);

  ActorOutput Actor(const NetworkInput& input) const;
  CriticOutput Critic(const NetworkInput& input) const;
  bool UsesDepth() const { return uses_depth_; }
  bool UsesRgb() const { return uses_rgb_; }
  bool UsesImage() const { return uses_depth_ || uses_rgb_; }
  bool HasAux() const { return has_aux_; }
  // What a sequence carries from step to step: the actor's numbers, then the critic's. 0: no memory.
  int64_t MemorySize() const { return actor_.memory.MemorySize() + critic_.memory.MemorySize(); }
  int64_t ActorMemorySize() const { return actor_.memory.MemorySize(); }

  // One step of the actor for a graph, from values named as in NetworkInput. Aux and memory are empty where there are
  // none; deviations are not part of it.
  struct GraphInput {
    std::string image{}, proprio{}, state{}, memory{};
  };
  struct GraphOutput {
    std::string mean, aux, memory;
  };
  GraphOutput AddActorTo(GraphBuilder& graph, const GraphInput& input) const;
  // Makes the critic put out (v - mean) / deviation of the new statistics where it put out that of the old ones.
  void RescaleValues(double old_mean, double old_deviation, double mean, double deviation);

  // Begins with a trained trunk, where the configuration names a file.
  void LoadTrunk(const PolicyConfig& config) {
    if (!config.rgb.weights.empty()) rgb_.LoadTrunk(config.rgb.weights);
  }

  ParameterSet& Parameters() { return parameters_; }
  const ParameterSet& Parameters() const { return parameters_; }

 private:
  int64_t BuildEncoder(const LayerBuilder& build, const PolicyConfig& config, const PolicyShapes& shapes);
  torch::Tensor Encode(const torch::Tensor& image) const;  // [R, features]
  std::string AddEncoderTo(GraphBuilder& graph, const std::string& image) const;

  bool uses_depth_, uses_rgb_, reads_state_, has_aux_, feed_aux_, average_;
  int64_t actions_;
  double init_log_std_;
  ParameterSet parameters_;
  Convolutions convolutions_;  // of depth
  Mlp projection_, aux_;
  RgbEncoder rgb_;
  Tower actor_, critic_;
  torch::Tensor log_std_;  // [A]; undefined where the actor puts it out
};

}  // namespace gripstream
