// Benchmark of the batched physics beside EnvPool and beside a plain loop over mj_step, on EnvPool's own HalfCheetah:
// five physics steps per environment step, random actions, observations and rewards included.
//
// One thread each, in turns; processor time, so that other load on the machine hardly counts. Not for grasping: the
// model is small and has few contacts.
#pragma once

#include <vector>

#include "core/bench.h"

namespace gripstream {

struct BenchEnvpoolOptions {
  int envs = 64, steps = 400, rounds = 3;
};

// Rows without figures, and why, where tools/bench_peers.sh was not run.
std::vector<BenchRow> BenchEnvpool(const BenchEnvpoolOptions& options);

}  // namespace gripstream
