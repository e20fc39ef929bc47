// What a simulator's process takes, measured on a few environments: the same code that later holds thousands, so plan
// and run cannot drift apart.
#pragma once

#include "sim_server/role.h"
#include "sim_server/simulator_budget.h"

namespace gripstream {

// Builds two small simulators of these options, one after the other. Throws what Simulator throws.
SimulatorFootprint MeasureSimulator(const SimulatorOptions& options);

}  // namespace gripstream
