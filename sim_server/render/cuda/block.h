// One source for a block of GPU threads and for its twin on the CPU.
//
//   block.ForThreads(phase A)   every thread runs A, then all meet (__syncthreads)
//   block.ForThreads(phase B)   ...
//
// A kernel's body is a template over the block: CudaBlock on a GPU, SerialBlock on the CPU, which runs the threads of a
// phase one after the other, so that a kernel is tested where there is no device. What a thread keeps between phases is
// a Private; what the block shares lives in a struct that the launcher provides. Code outside of phases runs in every
// thread and must do the same in all: it may read what is shared, and must not write it. After such a read another
// phase must come before the one that changes what was read. Nothing throws.
#pragma once

#include <cstdint>

#include "core/rng.h"

namespace gripstream {

enum class ThreadOrder { kForward, kBackward };

// The order must not change a result: where it does, two threads race.
template <int kThreads>
class SerialBlock {
 public:
  template <class T>
  struct Private {
    T value[kThreads];
    T& operator[](int thread) { return value[thread]; }
  };

  explicit SerialBlock(ThreadOrder order) : order_(order) {}
  template <class Phase>
  void ForThreads(const Phase& phase) const {
    for (int i = 0; i < kThreads; ++i) phase(order_ == ThreadOrder::kForward ? i : kThreads - 1 - i);
  }

 private:
  ThreadOrder order_;
};

// Bodies are `void(const SerialBlock&, int index, Shared&)`; what is shared starts as the last block left it, as on a
// GPU, where it is not initialised.
template <int kThreads, class Shared, class Body>
void RunSerially(int blocks, ThreadOrder order, Shared* shared, const Body& body) {
  const SerialBlock<kThreads> block(order);
  for (int i = 0; i < blocks; ++i) body(block, order == ThreadOrder::kForward ? i : blocks - 1 - i, *shared);
}

#ifdef __CUDACC__
struct CudaBlock {
  template <class T>
  struct Private {
    T value;
    GS_HOST_DEVICE T& operator[](int) { return value; }
  };

  template <class Phase>
  __device__ void ForThreads(const Phase& phase) const {
    phase(static_cast<int>(threadIdx.x));
    __syncthreads();
  }
};
#endif

// Sets bits of a word that other threads of the block set bits of.
GS_HOST_DEVICE inline void AtomicOr(uint32_t* word, uint32_t bits) {
#ifdef __CUDA_ARCH__
  atomicOr(word, bits);
#else
  *word |= bits;
#endif
}

GS_HOST_DEVICE inline int CountBits(uint32_t word) {
#ifdef __CUDA_ARCH__
  return __popc(word);
#else
  return __builtin_popcount(word);
#endif
}

}  // namespace gripstream
