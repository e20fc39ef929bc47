// Counter-based random numbers: the draw depends only on (seed, stream name, index, step), never on who asks or when.
//
//   RandomStream stream(seed, "spawn");        one named purpose
//   Rng rng = stream.At(env_id, episode);      one environment, one episode or step
//   float x = rng.Uniform(-1, 1);              draws in order
//
// So the number of processes, threads and batches cannot change a single value, and resuming needs no generator state.
// Generator: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Inline and free of
// library calls in the integer part, so that CPU and CUDA draw the same bits.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#ifdef __CUDACC__
#define GS_HOST_DEVICE __host__ __device__
#else
#define GS_HOST_DEVICE
#endif

namespace gripstream {

struct PhiloxBlock {
  uint32_t x[4];
};

// One Philox 4x32-10 block: 128 random bits for a 128-bit counter under a 64-bit key.
GS_HOST_DEVICE inline PhiloxBlock Philox(PhiloxBlock counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * counter.x[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * counter.x[2];
    counter = {{static_cast<uint32_t>(product1 >> 32) ^ counter.x[1] ^ key0, static_cast<uint32_t>(product1),
                static_cast<uint32_t>(product0 >> 32) ^ counter.x[3] ^ key1, static_cast<uint32_t>(product0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

// Finaliser of SplitMix64: spreads seeds that differ in one bit over the whole key.
GS_HOST_DEVICE inline uint64_t MixBits(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// FNV-1a, 64 bits.
constexpr uint64_t HashName(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return hash;
}

// A sequence of draws for one (stream, index, step). Cheap to make; not thread-safe; copy it to fork it.
class Rng {
 public:
  GS_HOST_DEVICE Rng(uint64_t key, uint32_t index, uint64_t step)
      : key_(key), counter_{{0, index, static_cast<uint32_t>(step), static_cast<uint32_t>(step >> 32)}} {}

  GS_HOST_DEVICE uint32_t NextU32() {
    if (used_ == 4) {
      block_ = Philox(counter_, static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32));
      ++counter_.x[0];
      used_ = 0;
    }
    return block_.x[used_++];
  }
  GS_HOST_DEVICE uint64_t NextU64() {
    const uint64_t low = NextU32();
    return low | uint64_t{NextU32()} << 32;
  }
  // Uniform in [0, 1), 24 bits.
  GS_HOST_DEVICE float Uniform() { return static_cast<float>(NextU32() >> 8) * 0x1p-24f; }
  // Uniform in [low, high).
  GS_HOST_DEVICE float Uniform(float low, float high) { return low + (high - low) * Uniform(); }
  // Uniform in {0, ..., n-1}; n >= 1. Multiply-shift: the bias is below n / 2^32.
  GS_HOST_DEVICE uint32_t Below(uint32_t n) { return static_cast<uint32_t>((uint64_t{NextU32()} * n) >> 32); }
  // Standard normal (Box-Muller, one of the pair is kept for the next call).
  GS_HOST_DEVICE float Normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const float radius = std::sqrt(-2.0f * std::log(1.0f - Uniform()));
    const float angle = 6.28318530717958647692f * Uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  uint64_t key_;
  PhiloxBlock counter_;
  PhiloxBlock block_{};
  uint32_t used_ = 4;
  bool has_spare_ = false;
  float spare_ = 0;
};

// A named purpose under a seed. Two names never share draws. Immutable; thread-safe.
class RandomStream {
 public:
  RandomStream(uint64_t seed, std::string_view name) : key_(MixBits(MixBits(seed) ^ HashName(name))) {}
  // `index` is usually the global environment id, `step` an episode or step number.
  Rng At(uint32_t index, uint64_t step) const { return Rng(key_, index, step); }
  // For kernels that make their own blocks.
  uint64_t Key() const { return key_; }

 private:
  uint64_t key_;
};

}  // namespace gripstream
