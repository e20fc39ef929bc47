// The learner's speed, without simulators: updates and inference on rollouts of noise, beside what the same networks
// take without PPO around them, and beside Stable-Baselines3 and rsl_rl where they are installed
// (tools/bench_peers.sh), with the same networks, batch and epochs, on one thread, in turns; processor
// seconds.
#pragma once

#include <vector>

#include "core/bench.h"

namespace gripstream {

std::vector<BenchRow> BenchLearner(double seconds);

}  // namespace gripstream
