// Minibatch order: which samples of a rollout make up which minibatch. A function of (seed, iteration, epoch) alone;
// LibTorch's generator is used nowhere. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gripstream {

class MinibatchSampler {
 public:
  // `samples` must be a multiple of `minibatch` (GS_CHECK; configurations are checked before).
  MinibatchSampler(uint64_t seed, int64_t samples, int64_t minibatch);
  // A permutation of [0, samples): minibatch k is elements [k * minibatch, (k + 1) * minibatch).
  std::vector<int64_t> Permutation(int64_t iteration, int epoch) const;
  int64_t Minibatches() const { return samples_ / minibatch_; }
  // The part of a permutation that is minibatch k.
  std::span<const int64_t> Minibatch(const std::vector<int64_t>& permutation, int64_t k) const;

 private:
  uint64_t seed_;
  int64_t samples_;
  int64_t minibatch_;
};

}  // namespace gripstream
