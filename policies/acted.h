// What a record tells of how its actions were chosen, where simulators act themselves: tensors that follow the others.
// They belong to the action that led to the record's observations, as its rewards do. Plain values, no LibTorch.
#pragma once

#include <vector>

#include "core/tensor_spec.h"

namespace gripstream {

inline constexpr const char* kActedAction = "act.action";
inline constexpr const char* kActedMean = "act.mean";
inline constexpr const char* kActedLogStd = "act.log_std";
inline constexpr const char* kActedLogProb = "act.log_prob";
inline constexpr const char* kActedValue = "act.value";

// Per environment; A = action_size.
inline std::vector<TensorSpec> ActedSpecs(int action_size) {
  return {{kActedAction, DType::kFloat32, {action_size}, "", 1.0},  // [A] not clamped
          {kActedMean, DType::kFloat32, {action_size}, "", 1.0},    // [A]
          {kActedLogStd, DType::kFloat32, {action_size}, "", 1.0},  // [A]
          {kActedLogProb, DType::kFloat32, {}, "nat", 1.0},         // of the action
          {kActedValue, DType::kFloat32, {}, "", 1.0}};             // of the state before the action
}

}  // namespace gripstream
