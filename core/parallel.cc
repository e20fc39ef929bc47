#include "core/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "core/error.h"

namespace gripstream {

struct ParallelFor::Arena {
  // TBB never starts more workers than there are cores unless told; a caller that asks for more (tests do) gets them.
  explicit Arena(int threads)
      : limit(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads)), arena(threads) {}
  tbb::global_control limit;
  tbb::task_arena arena;
};

ParallelFor::ParallelFor(int threads) : threads_(threads) {
  GS_CHECK(threads >= 1, "a parallel loop needs at least one thread");
  if (threads > 1) arena_ = std::make_unique<Arena>(threads);
}

ParallelFor::~ParallelFor() = default;

void ParallelFor::operator()(int n, int grain, const std::function<void(int, int)>& body) {
  if (n <= 0) return;
  if (!arena_) {
    body(0, n);
    return;
  }
  arena_->arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, n, grain),
        [&](const tbb::blocked_range<int>& range) { body(range.begin(), range.end()); }, tbb::simple_partitioner());
  });
}

}  // namespace gripstream
