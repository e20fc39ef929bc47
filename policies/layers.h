// What the networks are made of: stacks of linear layers, and one recurrent layer.
//
// Parameters are leaves that a ParameterSet owns under the names given at building; copies share them. Forward
// functions are const and differentiable. Not thread-safe while an optimiser steps.
//
// Sequences are time-major: row l * B + b of an input is step l of sequence b, for L steps of B sequences.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.h"
#include "policies/config.h"
#include "policies/graph.h"
#include "policies/parameters.h"

namespace gripstream {

inline constexpr double kHiddenGain = 1.4142135623730951;  // of weights before an activation

// Linear layers with an activation between them; the last is linear, or activated where `activate_last`. Without
// layers: the identity.
struct Mlp {
  std::vector<torch::Tensor> weights{}, biases{};
  std::string activation{};
  bool activate_last = false;
  torch::Tensor Forward(torch::Tensor x) const;
  std::string AddTo(GraphBuilder& graph, std::string x) const;  // the same for a graph
};

// An LSTM (gates in the order input, forget, cell, output) or GRU (reset, update, new; reset after the recurrent
// product) layer, as LibTorch's and ONNX's, optionally with layer normalisation of what it puts out.
class Recurrent {
 public:
  struct Output {
    torch::Tensor features{};  // [L B, Units()]
    torch::Tensor memory{};    // [B, MemorySize()] after the last step
  };
  bool Exists() const { return units_ > 0; }
  int64_t Units() const { return units_; }
  // Numbers that a sequence carries from step to step: hidden state, for the LSTM followed by the cell state.
  int64_t MemorySize() const { return lstm_ ? 2 * units_ : units_; }
  // x [L B, inputs]; memory [B, MemorySize()]; keep [L B, 1]: 0 where the memory begins anew (at zero) before the step,
  // 1 elsewhere; undefined: it never does.
  Output Forward(const torch::Tensor& x, const torch::Tensor& memory, const torch::Tensor& keep) const;
  // One step that keeps its memory, for a graph.
  struct GraphOutput {
    std::string features, memory;
  };
  GraphOutput AddTo(GraphBuilder& graph, const std::string& x, const std::string& memory) const;

 private:
  friend struct LayerBuilder;
  torch::Tensor Step(const torch::Tensor& input_part, torch::Tensor& hidden, torch::Tensor& cell) const;

  bool lstm_ = false;
  int64_t units_ = 0;
  torch::Tensor weight_ih_, weight_hh_, bias_ih_, bias_hh_;  // [G units, inputs], [G units, units], [G units] twice
  torch::Tensor norm_weight_, norm_bias_;                    // [units]; undefined without normalisation
};

// Declares parameters; every tensor draws from a random stream of its own, named after it.
struct LayerBuilder {
  ParameterSet& parameters;
  uint64_t seed;

  torch::Tensor Weight(const std::string& name, at::IntArrayRef shape, double gain) const;
  torch::Tensor Constant(const std::string& name, at::IntArrayRef shape, double value) const;
  torch::Tensor Normal(const std::string& name, at::IntArrayRef shape, double std) const;
  // `name`.0, `name`.1, ... of these sizes, all activated.
  Mlp Hidden(const std::string& name, int64_t inputs, const std::vector<int>& sizes,
             const std::string& activation) const;
  // The same followed by a linear layer of `outputs`, numbered on.
  Mlp Layers(const std::string& name, int64_t inputs, const std::vector<int>& sizes, int64_t outputs, double last_gain,
             const std::string& activation) const;
  // One linear layer, called `name` itself.
  Mlp Linear(const std::string& name, int64_t inputs, int64_t outputs, double gain) const;
  Recurrent Memory(const std::string& name, int64_t inputs, const RecurrentConfig& config) const;

 private:
  void AddLayer(Mlp& mlp, const std::string& name, int64_t inputs, int64_t outputs, double gain) const;
};

}  // namespace gripstream
