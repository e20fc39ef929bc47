// Benchmarks of the grasp task beside mjBatch itself: whole policy steps (fabric, observations, rewards, randomisation)
// against mjb_step on the same models, states and controls, alternating; and the fabric alone.
//
// Not for comparing machines or tasks: the figures depend on how many contacts the states have. Blocks for some seconds
// at the default size and uses `threads` threads; throws what EnvBatch::Make throws.
#pragma once

#include <vector>

#include "core/bench.h"
#include "envs/config.h"

namespace gripstream {

struct BenchEnvOptions {
  int envs = 128;
  int threads = 0;  // 0: one per logical CPU
  int steps = 120;
};

// The task that is measured: eleven-dimensional fabric actions, everything randomised at the last level.
TaskConfig BenchGraspTask();

// Rows: env.grasp, policy steps/s against mjb_step, goal 0.75; env.fabric_share, the fabric's time as a share of the
// physics', against a limit of a fifth.
std::vector<BenchRow> BenchEnv(const BenchEnvOptions& options);

}  // namespace gripstream
