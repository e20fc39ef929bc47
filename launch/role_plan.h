// Every process of a run: what it is called, its command line, and what it finds in its environment.
//
//   RunConfig + GPUs -> RolePlan -> supervisor (here), Slurm script (a cluster), one process of it (MPI), or paper
//
// Plain values and functions; no thread rule.
#pragma once

#include <string>
#include <vector>

#include "launch/gpus.h"
#include "launch/run_config.h"

namespace gripstream {

struct RoleCommand {
  std::string name;  // "learner", "learner 1", "simulator 0"
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=VALUE", over what the parent has
  std::string gpu;                       // its physical GPU, for people; empty: none in particular
};

struct RolePlan {
  std::vector<RoleCommand> learners, simulators;  // no simulators where they live in the learners' processes
  size_t Processes() const { return learners.size() + simulators.size(); }
};

// `target` is what each role reads: a run folder, or a configuration with run.dir set. Learners get
// `learner_arguments`, all get `overrides`. With GPUs each role sees only its own.
RolePlan PlanRoles(const RunConfig& config, const std::string& target,
                   const std::vector<std::string>& learner_arguments, const std::vector<std::string>& overrides,
                   const std::vector<Gpu>& gpus);

// As it can be typed into a shell: environment first, quoted where needed.
std::string ShellCommand(const RoleCommand& role);
std::string ShellWord(const std::string& text);

// Settings that role programs read before their first instruction of ours: call before starting one.
// LibTorch's OpenMP threads would spin between parallel regions and take the cores from the simulators.
void PrepareRoleEnvironment();

// The name of the simulators' program: with LibTorch only where they act.
std::string SimulatorProgram(const RunConfig& config);

// The path of a role's program, beside the running one.
std::string RoleProgram(const std::string& name);

}  // namespace gripstream
