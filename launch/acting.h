// Who acts inside simulators with runtime.inference simulator, from a run's configuration.
//
// Two source files define it, and a program links one: acting.cc, with the policies and LibTorch, or acting_absent.cc,
// which refuses, for the default simulator that stays free of both.
#pragma once

#include <memory>

#include "launch/run_config.h"
#include "sim_server/actor.h"
#include "sim_server/role.h"

namespace gripstream {

// For `simulator`'s environments. Throws InputError when networks and task do not fit, or this program cannot act.
std::unique_ptr<Actor> MakeActor(const RunConfig& config, const Simulator& simulator);

}  // namespace gripstream
