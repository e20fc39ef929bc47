// How many environments four processes hold under hard limits of memory, the same for each, by three systems:
//
//   baseline       data parallel, images as float32, a whole minibatch in one forward and backward pass
//   compact        data parallel, images as uint16, micro-batches
//   disaggregated  the same learner, on the best division into simulators and learners that the plan finds
//
// at 160x120 and 320x240, with this simulator and with one of 25 MB an environment (sim.reserve_bytes_per_env). Each is
// the largest number that completes three iterations, found by real runs around the plan's number; beside it the plan's
// and the samples a second. Says so in its rows where the machine allows no limits. Takes some 40 minutes on two cores.
#pragma once

#include <vector>

#include "core/bench.h"

namespace gripstream {

std::vector<BenchRow> BenchCapacity(double seconds);

}  // namespace gripstream
