// The learner's speed, without simulators: updates and inference on rollouts of noise, beside what the same networks
// take without PPO around them, and beside Stable-Baselines3 and rsl_rl where they are installed
// (tools/bench_peers.sh), with the same networks, batch, epochs and number of threads, in turns.
#pragma once

#include <vector>

#include "core/bench.h"

namespace gripstream {

std::vector<BenchRow> BenchLearner(double seconds);

}  // namespace gripstream
