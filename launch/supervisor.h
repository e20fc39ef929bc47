// Starts the roles of a run on this machine and watches them until the run is over.
//
//   launcher -> gripstream-learner x L, gripstream-sim x K       (or gripstream-single x L with wire.transport inproc)
//
// The first learner's end is the run's end, and so is any role's failure. A simulator that ends early is named with the
// way it ended; the learner is given time to notice by itself, then everything is stopped. With runtime.on_loss replace
// simulators that end early and learners that a signal ends are started again instead, runtime.respawns times an hour.
// No process outlives the launcher (launch/child.h). Call from the main thread.
#pragma once

#include <string>
#include <vector>

#include "launch/role_plan.h"
#include "launch/run_config.h"

namespace gripstream {

// Runs the learners with `learner_arguments` and the simulators of the run folder's configuration, all with `overrides`
// over it, each seeing only its GPU (launch/gpus.h). `config.run.dir` is set and holds config.yaml. Writes a trace of
// all roles to `trace` unless empty. `planned`: what roles are told about memory (launch/memory_check.h). Returns the
// run's exit code.
int RunRoles(const RunConfig& config, const std::vector<std::string>& learner_arguments,
             const std::vector<std::string>& overrides, const std::string& trace = "", const std::string& planned = "");

}  // namespace gripstream
