// Uniform draws from ranges [low, high] of the configuration. Pure functions; CheckRange throws InputError.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/rng.h"

namespace gripstream {

// `key`: where the user wrote the range.
template <class T>
void CheckRange(const std::string& key, const std::vector<T>& range) {
  if (range[0] <= range[1]) return;
  throw InputError("configuration", key, "[" + std::to_string(range[0]) + ", " + std::to_string(range[1]) + "]",
                   "the lower number first");
}

inline float Between(Rng& rng, const std::vector<double>& range) {
  return rng.Uniform(static_cast<float>(range[0]), static_cast<float>(range[1]));
}

inline bool Chance(Rng& rng, double probability) {
  return rng.Uniform() < static_cast<float>(probability);
}

}  // namespace gripstream
