// Limits of this machine that need LibTorch to be measured, and what the networks of a configuration ask of it: rows
// without peers, for launch/limits.h.
//
//   limits.matrix_products   float32 operations per second, all CPUs that the process may use
//   limits.acting            operations of one sample in inference
//   limits.training          operations of one sample in one pass of an update
//
// Sets LibTorch's threads. Throws InputError when networks and task do not fit.
#pragma once

#include <vector>

#include "core/bench.h"
#include "launch/run_config.h"

namespace gripstream {

std::vector<BenchRow> BenchLimits(const RunConfig& config, double seconds);

}  // namespace gripstream
