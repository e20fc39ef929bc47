// Starts the roles of a run on this machine and watches them until the run is over.
//
//   launcher -> gripstream-learner x L, gripstream-sim x K       (or gripstream-single x L with wire.transport inproc)
//
// The first learner's end is the run's end, and so is any role's failure. A simulator that ends early is named with the
// way it ended; the learner is given time to notice by itself, then everything is stopped. No process outlives the
// launcher (launch/child.h). Call from the main thread.
#pragma once

#include <string>
#include <vector>

#include "launch/run_config.h"

namespace gripstream {

// Runs the learners with `learner_arguments` and the simulators of the run folder's configuration, all with `overrides`
// over it. `config.run.dir` is set and holds config.yaml. Writes a trace of all roles to `trace` unless empty. Returns
// the run's exit code.
int RunRoles(const RunConfig& config, const std::vector<std::string>& learner_arguments,
             const std::vector<std::string>& overrides, const std::string& trace = "");

// Where learner `rank` of this run listens: at wire.address, each further learner at the next port or a name of its
// own. When that is empty, at a name that leaves nothing behind in any folder.
std::string WireAddress(const RunConfig& config, int rank);

// Settings that role programs read before their first instruction of ours: call before starting one.
// LibTorch's OpenMP threads would spin between parallel regions and take the cores from the simulators.
void PrepareRoleEnvironment();

// The name of the simulators' program: with LibTorch only where they act.
std::string SimulatorProgram(const RunConfig& config);

// The path of a role's program, beside the running one.
std::string RoleProgram(const std::string& name);

}  // namespace gripstream
