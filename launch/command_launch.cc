// gripstream launch: the roles of a run on this machine, as a Slurm job, or as the processes that mpirun, srun or
// torchrun have started.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "core/files.h"
#include "core/network.h"
#include "launch/checkpoints.h"
#include "launch/commands.h"
#include "launch/preflight.h"
#include "launch/prepare_run.h"
#include "launch/process_rank.h"
#include "launch/roles.h"
#include "launch/run_folder.h"
#include "launch/slurm_job.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

// What an MPI-style start or a dry run works on: nothing is made.
struct Target {
  RunConfig config;
  std::string path;  // what roles read
  std::vector<std::string> learner_arguments;
};

Target FindTarget(const TrainArguments& arguments) {
  if (!arguments.resume.empty()) {
    return {OpenRunFolder(arguments.resume, arguments.overrides),
            arguments.resume,
            {"--resume", NewestCheckpoint(arguments.resume)}};
  }
  if (arguments.config.empty()) throw InputError("command line", "a configuration or --resume RUN is needed");
  return {ReadRunConfig(arguments.config, arguments.overrides), arguments.config, {}};
}

LaunchEngine EngineOf(const std::string& name) {
  return name == "slurm" ? LaunchEngine::kSlurm : name == "mpi" ? LaunchEngine::kMpi : LaunchEngine::kLocal;
}

std::vector<const RoleCommand*> InOrder(const RolePlan& plan) {
  std::vector<const RoleCommand*> roles;
  for (const auto* part : {&plan.learners, &plan.simulators}) {
    for (const RoleCommand& role : *part) roles.push_back(&role);
  }
  return roles;
}

int DryRun(const LaunchArguments& arguments) {
  const LaunchEngine engine = EngineOf(arguments.engine);
  const Target target = FindTarget(arguments.train);
  DescribeTask(target.config);
  const bool slurm = engine == LaunchEngine::kSlurm;
  const std::string run_dir = target.config.run.dir.empty() ? "runs/NAME-TIME" : target.config.run.dir;
  const std::string folder = slurm ? fs::absolute(run_dir).string() : run_dir;
  const bool by_hand = engine == LaunchEngine::kMpi;
  const RolePlan plan =
      PlanRoles(target.config, by_hand ? target.path : folder, target.learner_arguments,
                by_hand || !arguments.train.resume.empty() ? arguments.train.overrides : std::vector<std::string>(),
                engine == LaunchEngine::kLocal ? VisibleGpus() : std::vector<Gpu>());
  if (slurm) std::printf("%s\n", SlurmScript(target.config, plan, folder).c_str());
  int rank = 0;
  for (const RoleCommand* role : slurm ? std::vector<const RoleCommand*>() : InOrder(plan)) {
    if (by_hand) std::printf("rank %d, ", rank++);
    std::printf("%s%s%s: %s\n", role->name.c_str(), role->gpu.empty() ? "" : " on ", role->gpu.c_str(),
                ShellCommand(*role).c_str());
  }
  return PrintFindings(Preflight(target.config, plan, engine, run_dir)) == 0 ? kExitOk : kExitFailed;
}

int LaunchOnSlurm(const LaunchArguments& arguments) {
  PreparedRun run = PrepareRun(arguments.train, RunsOn::kAnyMachine);
  const std::string folder = fs::absolute(run.config.run.dir).lexically_normal().string();
  const RolePlan plan = PlanRoles(run.config, folder, run.learner_arguments, run.overrides, {});
  const std::string script = folder + "/launch.sbatch";
  WriteFileAtomically(script, SlurmScript(run.config, plan, folder));
  return SubmitSlurmJob(script, folder, arguments.wait);
}

// Fills in what the starter knows and the configuration leaves open.
void TakeFromStarter(const ProcessRank& process, Target& target, std::vector<std::string>& overrides) {
  WireConfig& wire = target.config.wire;
  const bool zmq = wire.transport == "zmq" || wire.transport == "nccl";
  if (wire.address.empty() && zmq && !process.master.empty()) {
    const std::optional<std::string> network = NetworkOf(process.master);
    if (!network) {
      throw InputError("environment", "MASTER_ADDR", process.master,
                       "a host in a network of this machine, or wire.address: tcp://NETWORK/BITS");
    }
    wire.address = "tcp://" + *network;
    overrides.push_back("wire.address=" + wire.address);
  }
  if (process.several_nodes && !wire.address.starts_with("tcp://")) {
    throw InputError(
        "configuration", "wire.address", wire.address,
        "tcp://NETWORK/BITS with wire.transport zmq or nccl: " + process.starter + " uses several machines");
  }
  if (process.several_nodes && target.config.learner.processes > 1 && target.config.learner.trusted_network.empty()) {
    throw InputError("configuration", "learner.trusted_network", "",
                     "the network between the learners: " + process.starter + " uses several machines");
  }
}

// Becomes the role that this process's rank stands for: learners first, then simulators.
int BecomeRoleByRank(const LaunchArguments& arguments) {
  const std::optional<ProcessRank> process = FindProcessRank([](const char* name) { return std::getenv(name); });
  if (!process) {
    throw InputError("command line", "--engine", "mpi",
                     "a start by mpirun, srun or torchrun, which tell each process its rank");
  }
  Target target = FindTarget(arguments.train);
  if (target.config.run.dir.empty()) {
    throw InputError(target.path, "key 'run.dir' is missing; processes that start apart meet through it");
  }
  std::vector<std::string> overrides = arguments.train.overrides;
  TakeFromStarter(*process, target, overrides);
  const RolePlan plan = PlanRoles(target.config, target.path, target.learner_arguments, overrides, {});
  if (process->size != static_cast<int>(plan.Processes())) {
    throw InputError("environment", "number of processes", std::to_string(process->size),
                     std::to_string(plan.learners.size()) + " learners + " + std::to_string(plan.simulators.size()) +
                         " simulators = " + std::to_string(plan.Processes()));
  }
  const RoleCommand& role = *InOrder(plan)[static_cast<size_t>(process->rank)];
  const std::vector<Gpu> gpus = VisibleGpus();
  const Gpu* gpu = gpus.empty() ? nullptr : &gpus[static_cast<size_t>(process->local_rank) % gpus.size()];
  if (gpu) setenv("CUDA_VISIBLE_DEVICES", gpu->visible.c_str(), 1);
  std::printf("rank %d of %d (%s) is %s%s%s\n", process->rank, process->size, process->starter.c_str(),
              role.name.c_str(), gpu ? " on " : "", gpu ? gpu->physical.c_str() : "");
  std::fflush(stdout);
  PrepareRoleEnvironment();
  // mpirun and srun pass SIGTERM on to all at once, but only learners are to take it for a wish.
  if (static_cast<size_t>(process->rank) >= plan.learners.size()) signal(SIGTERM, SIG_IGN);
  std::vector<char*> argv;
  for (const std::string& word : role.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  throw RunError(role.argv[0] + ": " + std::strerror(errno));
}

}  // namespace

int LaunchCommand(const LaunchArguments& arguments) {
  if (arguments.wait && arguments.engine != "slurm") {
    throw InputError("command line", "--wait", "", "--engine slurm; other engines always wait");
  }
  if (arguments.dry_run) return DryRun(arguments);
  if (arguments.engine == "slurm") return LaunchOnSlurm(arguments);
  return arguments.engine == "mpi" ? BecomeRoleByRank(arguments) : TrainCommand(arguments.train);
}

}  // namespace gripstream
