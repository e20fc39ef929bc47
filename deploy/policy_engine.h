// Whatever computes an exported policy, one robot at a time.
//
// One thread at a time. Run throws RunError when the engine fails.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace gripstream {

// Sizes of an exported policy's inputs and outputs, 0 where it has none.
struct PolicySizes {
  int proprio = 0, actions = 0, aux = 0, memory = 0;
  int depth_height = 0, depth_width = 0;
  int cameras = 0, rgb_height = 0, rgb_width = 0;
};

// One moment; empty where the policy has no such input.
struct PolicyInput {
  std::span<const float> proprio{};
  std::span<const float> depth{};   // [H, W] m
  std::span<const float> rgb{};     // [cameras, H, W, 3] 0 to 255
  std::span<const float> memory{};  // of the step before
};

struct PolicyOutput {
  std::vector<float> action, aux, memory;
};

class PolicyEngine {
 public:
  virtual ~PolicyEngine() = default;
  virtual void Run(const PolicyInput& input, PolicyOutput& output) = 0;
};

}  // namespace gripstream
