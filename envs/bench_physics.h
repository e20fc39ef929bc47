// Benchmarks of envs beside mjBatch itself, on the same simulations: same models, same states, alternating runs.
//
// Not for comparing machines or models: the figures depend on how many contacts the states have. Blocks for some
// seconds at the default size and uses `threads` threads; throws what EnvBatch::Make throws.
#pragma once

#include <vector>

#include "core/bench.h"

namespace gripstream {

struct BenchPhysicsOptions {
  int envs = 256;
  int threads = 0;  // 0: one per logical CPU
  int rounds = 15;  // the median of this many alternating pairs is reported
};

// Rows: stepping through BatchPhysics (observations and rewards aside) with 2 and 12 physics steps per policy step,
// goal 0.95 of mjb_step; the whole reach environment at the quick start's rate, goal 0.75.
std::vector<BenchRow> BenchPhysics(const BenchPhysicsOptions& options);

}  // namespace gripstream
