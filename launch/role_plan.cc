#include "launch/role_plan.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace gripstream {
namespace {

RoleCommand Command(const std::string& name, const std::string& program, const std::string& target,
                    const std::vector<std::string>& arguments, const std::vector<std::string>& overrides) {
  RoleCommand role;
  role.name = name;
  role.argv = {RoleProgram(program), target};
  role.argv.insert(role.argv.end(), arguments.begin(), arguments.end());
  for (const std::string& assignment : overrides) role.argv.insert(role.argv.end(), {"--set", assignment});
  return role;
}

void GiveGpus(RolePlan& plan, const std::vector<Gpu>& gpus) {
  if (gpus.empty()) return;
  const std::vector<int> shares = ShareOutGpus(static_cast<int>(plan.learners.size()),
                                               static_cast<int>(plan.simulators.size()), static_cast<int>(gpus.size()));
  size_t next = 0;
  for (std::vector<RoleCommand>* roles : {&plan.learners, &plan.simulators}) {
    for (RoleCommand& role : *roles) {
      const Gpu& gpu = gpus[static_cast<size_t>(shares[next++])];
      role.environment.push_back("CUDA_VISIBLE_DEVICES=" + gpu.visible);
      role.gpu = gpu.physical;
    }
  }
}

}  // namespace

RolePlan PlanRoles(const RunConfig& config, const std::string& target,
                   const std::vector<std::string>& learner_arguments, const std::vector<std::string>& overrides,
                   const std::vector<Gpu>& gpus) {
  const bool single = config.wire.transport == "inproc";
  const int count = config.learner.processes;
  RolePlan plan;
  for (int rank = 0; rank < count; ++rank) {
    std::vector<std::string> arguments = learner_arguments;
    if (rank > 0) arguments.insert(arguments.end(), {"--rank", std::to_string(rank)});
    plan.learners.push_back(Command(count == 1 ? "learner" : "learner " + std::to_string(rank),
                                    single ? "gripstream-single" : "gripstream-learner", target, arguments, overrides));
  }
  for (int i = 0; !single && i < config.sim.processes; ++i) {
    const std::string index = std::to_string(i);
    plan.simulators.push_back(
        Command("simulator " + index, SimulatorProgram(config), target, {"--index", index}, overrides));
  }
  for (int i = 0; !single && i < count * config.sim.spares; ++i) {
    const std::string learner = std::to_string(i / config.sim.spares);
    plan.simulators.push_back(Command("spare " + std::to_string(i), SimulatorProgram(config), target,
                                      {"--spare", "--learner", learner}, overrides));
  }
  GiveGpus(plan, gpus);
  return plan;
}

std::string ShellWord(const std::string& text) {
  constexpr char kPlain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string ShellCommand(const RoleCommand& role) {
  std::string line;
  for (const std::vector<std::string>* words : {&role.environment, &role.argv}) {
    for (const std::string& word : *words) line += (line.empty() ? "" : " ") + ShellWord(word);
  }
  return line;
}

void PrepareRoleEnvironment() {
  setenv("OMP_WAIT_POLICY", "PASSIVE", 0);
}

std::string SimulatorProgram(const RunConfig& config) {
  return config.SimulatorsAct() ? "gripstream-sim-acting" : "gripstream-sim";
}

std::string RoleProgram(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

}  // namespace gripstream
