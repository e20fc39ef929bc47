// Trainable tensors by name, in the order in which they were declared: the order of checkpoints, digests and
// optimisers.
//
// Tensors are float32 leaves that require gradients; copies of a ParameterSet share them. Not thread-safe.
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

namespace gripstream {

struct NamedTensor {
  std::string name;
  torch::Tensor value;
};

// The tensor of this name (GS_CHECK).
const torch::Tensor& TensorNamed(const std::vector<NamedTensor>& tensors, const std::string& name);

class ParameterSet {
 public:
  // Registers `value` under a new name (GS_CHECK) and returns the leaf.
  torch::Tensor Add(const std::string& name, const torch::Tensor& value);
  const std::vector<NamedTensor>& All() const { return all_; }
  int64_t Count() const;         // numbers, all tensors together
  std::string Describe() const;  // one line per tensor, "actor.0.weight [128, 151]", and the total

  // Moves all values into one flat [Count()] tensor, and all gradients into another, of which the parameters become
  // views, so that an optimiser works on two arrays. Gradients are zeros at first.
  struct Flat {
    torch::Tensor values;
    torch::Tensor gradients;
  };
  Flat Flatten();

 private:
  std::vector<NamedTensor> all_;
};

// SHA-256 of the raw little-endian bytes of all parameters in declared order.
std::string ParametersSha256(const ParameterSet& parameters);

}  // namespace gripstream
