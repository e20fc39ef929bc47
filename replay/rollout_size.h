// What a RolloutStore takes, in arithmetic: the same that it allocates by. No LibTorch, so that plans can be made
// anywhere. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/tensor_spec.h"

namespace gripstream {

// Images may be held in the two bytes of a depth that the record has, or widened to float32 as learners often hold
// them: only to measure what that costs.
enum class ImageStorage { kAsRecorded, kFloat32 };

// What a policy with memory needs kept: M numbers per environment, every L steps (L divides T).
struct MemoryShape {
  int64_t size = 0;
  int every = 1;
};

inline std::vector<TensorSpec> StoredSpecs(std::vector<TensorSpec> specs, ImageStorage images) {
  for (TensorSpec& spec : specs) {
    if (images == ImageStorage::kFloat32 && spec.dtype == DType::kUint16) spec.dtype = DType::kFloat32;
  }
  return specs;
}

// Of one environment: T + 1 rows of its record, T of action, mean and deviation, T log-likelihoods and versions of the
// weights, T + 1 values;
// and a policy's memory before every L steps, after the last, and in between.
inline size_t RolloutBytes(const std::vector<TensorSpec>& specs, int horizon, int action_size, ImageStorage images,
                           MemoryShape memory = {}) {
  const size_t steps = static_cast<size_t>(horizon), actions = static_cast<size_t>(action_size);
  size_t row = 0;
  for (const TensorSpec& spec : StoredSpecs(specs, images)) row += spec.Bytes();
  const size_t memories = memory.size == 0 ? 0 : steps / static_cast<size_t>(memory.every) + 2;
  return (steps + 1) * row + sizeof(int64_t) * steps +
         sizeof(float) * (3 * steps * actions + steps + steps + 1 + memories * static_cast<size_t>(memory.size));
}

}  // namespace gripstream
