// A run that can be started: its configuration checked, its folder made or found.
//
// The same for every way of starting roles. Plain functions, one thread. Throws InputError for whatever is wrong with
// the input, before anything is written.
#pragma once

#include <string>
#include <vector>

#include "launch/commands.h"
#include "launch/run_config.h"

namespace gripstream {

struct PreparedRun {
  RunConfig config;  // run.dir set, the folder there
  std::vector<std::string> learner_arguments, overrides;
  bool fresh = true;      // the folder was made for it
  std::string planned{};  // what its roles are told about their memory (launch/memory_check.h)
};

// Where its roles will be: all on this machine, whose memory must then hold them, or perhaps elsewhere.
enum class RunsOn { kThisMachine, kAnyMachine };
// A new run from arguments.config, or a run to go on with from arguments.resume. Says on stdout which.
PreparedRun PrepareRun(const TrainArguments& arguments, RunsOn where);

}  // namespace gripstream
