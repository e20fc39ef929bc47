#include "learner/torch_process.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <malloc.h>

#include <limits>

namespace gripstream {
namespace {

constexpr int kLargest_bytes = 32 << 20;

}  // namespace

// LibTorch takes fresh memory for every intermediate tensor. glibc would map and unmap pages for each: on large batches
// that costs as much as the arithmetic, so freed memory is kept. Affects what the main thread allocates. Still larger
// tensors, of passes without micro-batches, would leave holes of their size between others.
void PrepareTorch(int threads) {
  at::set_num_threads(threads);
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  mallopt(M_MMAP_THRESHOLD, kLargest_bytes);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace gripstream
