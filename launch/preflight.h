// What can be known about a launch before it: do the programs fit together, are the run's folder, addresses and keys
// usable, is who starts the roles there.
//
// Looks at this machine and, through the network, at the hosts of the addresses; leaves nothing behind. Plain function,
// one thread; takes some seconds at most per address.
#pragma once

#include <string>
#include <vector>

#include "launch/doctor.h"
#include "launch/role_plan.h"
#include "launch/run_config.h"

namespace gripstream {

enum class LaunchEngine { kLocal, kSlurm, kMpi };

// `run_dir` may not be there yet.
std::vector<Finding> Preflight(const RunConfig& config, const RolePlan& plan, LaunchEngine engine,
                               const std::string& run_dir);

}  // namespace gripstream
