// What `gripstream tune` recommends beside the best of every way of running that it could have tried, on small runs
// whose bottleneck is made: slow physics, slow rendering, a slow wire, a slow update.
//
// For each: a search of 20 x `seconds`, then one trial of every candidate, then the recommended one and the best of all
// in turn. Rows: the recommended rate beside the best, goal 0.95, and whether the bottleneck was named. Takes minutes
// and all CPUs; real runs, so another load on the machine disturbs it. Call from the main thread.
#pragma once

#include <vector>

#include "core/bench.h"

namespace gripstream {

std::vector<BenchRow> BenchTune(double seconds);

}  // namespace gripstream
