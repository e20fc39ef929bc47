#include "learner/torch_process.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <malloc.h>

#include <limits>

namespace gripstream {

// LibTorch takes fresh memory for every intermediate tensor. glibc would map and unmap pages for each: on large batches
// that costs as much as the arithmetic, so freed memory is kept. Affects what the main thread allocates.
void PrepareTorch(int threads) {
  at::set_num_threads(threads);
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace gripstream
