#include "replay/sampler.h"

#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/rng.h"

namespace gripstream {

MinibatchSampler::MinibatchSampler(uint64_t seed, int64_t samples, int64_t minibatch)
    : seed_(seed), samples_(samples), minibatch_(minibatch) {
  GS_CHECK(minibatch > 0 && samples > 0 && samples % minibatch == 0 && samples <= INT64_C(0xFFFFFFFF),
           std::to_string(samples) + " samples in minibatches of " + std::to_string(minibatch));
}

std::vector<int64_t> MinibatchSampler::Permutation(int64_t iteration, int epoch) const {
  std::vector<int64_t> order(static_cast<size_t>(samples_));
  std::iota(order.begin(), order.end(), int64_t{0});
  Rng rng = RandomStream(seed_, "minibatch").At(static_cast<uint32_t>(epoch), static_cast<uint64_t>(iteration));
  for (size_t left = order.size(); left > 1; --left) {  // Fisher-Yates
    std::swap(order[left - 1], order[rng.Below(static_cast<uint32_t>(left))]);
  }
  return order;
}

std::span<const int64_t> MinibatchSampler::Minibatch(const std::vector<int64_t>& permutation, int64_t k) const {
  return std::span(permutation).subspan(static_cast<size_t>(k * minibatch_), static_cast<size_t>(minibatch_));
}

}  // namespace gripstream
