// Whether our PPO learns as much as Stable-Baselines3's from the same samples, with the same hyper-parameters, on
// classic control tasks: ours steps gymnasium's models on our batched physics, theirs EnvPool's environments of the
// same models (tools/bench_peers.sh installs them). Five seeds each, in turns; the mean return of episodes by the mean
// action.
//
// A row's ratio is 1 when the 95 % intervals of the two means (Student's t over the seeds) overlap or ours is better,
// else ours over theirs.
#pragma once

#include <vector>

#include "core/bench.h"

namespace gripstream {

// `scale`: of the numbers of samples; 1: what docs/benchmarks.md has.
std::vector<BenchRow> BenchClassic(double scale);

}  // namespace gripstream
