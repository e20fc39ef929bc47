#include "launch/slurm_job.h"

#include <cstdio>
#include <sstream>

#include "core/error.h"
#include "launch/child.h"
#include "launch/program_output.h"

namespace gripstream {
namespace {

constexpr double kAnswer_s = 60;
constexpr double kLongestJob_s = 366.0 * 86400;

// What the script does once all steps are on their way; its end ends those that are left. Compute nodes may have an old
// bash.
constexpr char kWatch[] = R"(
leader=${pids[0]}
while kill -0 "$leader" 2>/dev/null; do
  for i in "${!pids[@]}"; do
    kill -0 "${pids[i]}" 2>/dev/null && continue
    [[ ${pids[i]} == "$leader" ]] && continue
    wait "${pids[i]}"
    code=$?
    ((code == 0)) || echo "gripstream: ${names[i]} ended with exit code $code" >&2
    ((code == 2)) && exit 2
    unset 'pids[i]'
  done
  sleep 1
done
wait "$leader"
)";

// Whether roles on different machines find each other with this configuration.
bool CrossesMachines(const WireConfig& wire) {
  const bool loopback = wire.address.starts_with("tcp://127.") || wire.address.starts_with("tcp://localhost");
  return wire.address.starts_with("tcp://") && !loopback;
}

// scancel tells all steps at once, but only the learner is to take it for a wish.
constexpr char kDeaf[] = R"(bash -c 'trap "" TERM; exec "$@"' simulator )";

void AddStep(std::ostringstream& out, const RoleCommand& role, const std::vector<std::string>& options,
             const std::string& wrapper) {
  out << "begin " << ShellWord(role.name) << " srun --ntasks=1 --nodes=1 --exact --job-name=" << ShellWord(role.name);
  for (const std::string& option : options) out << " " << ShellWord(option);
  out << " " << wrapper << ShellCommand(role) << "\n";
}

}  // namespace

std::string SlurmScript(const RunConfig& config, const RolePlan& plan, const std::string& run_dir) {
  std::ostringstream out;
  out << "#!/bin/bash\n# A step per role; written by gripstream launch.\n#SBATCH --job-name=gripstream\n#SBATCH "
         "--ntasks="
      << plan.Processes() << "\n#SBATCH --output=" << run_dir << "/logs/slurm-%j.log\n";
  for (const std::string& option : config.launch.slurm.job) out << "#SBATCH " << option << "\n";
  out << "set -u\ntrap '' TERM  # the learner hears it\nexport OMP_WAIT_POLICY=PASSIVE\n";
  if (!CrossesMachines(config.wire)) {
    out << "if ((SLURM_JOB_NUM_NODES > 1)); then\n  echo \"gripstream: the job has $SLURM_JOB_NUM_NODES nodes, but "
           "wire.address does not lead beyond one; expected tcp://NETWORK/BITS, or --nodes=1 in launch.slurm.job\" "
           ">&2\n"
           "  exit 2\nfi\n";
  }
  out << "pids=() names=()\nbegin() {\n  names+=(\"$1\")\n  shift\n  \"$@\" &\n  pids+=($!)\n}\n";
  for (const RoleCommand& role : plan.learners) AddStep(out, role, config.launch.slurm.learner, "");
  for (const RoleCommand& role : plan.simulators) AddStep(out, role, config.launch.slurm.simulator, kDeaf);
  out << kWatch + 1;  // without its first line break
  return out.str();
}

int SubmitSlurmJob(const std::string& script_path, const std::string& run_dir, bool wait) {
  const std::string log = run_dir + "/logs/slurm-";
  if (wait) {
    std::printf("waiting for the job that follows; what it says: %sJOB.log\n", log.c_str());
    std::fflush(stdout);
    return Child("sbatch", {"/usr/bin/env", "sbatch", "--parsable", "--wait", script_path})
        .EndBy(Deadline::After(kLongestJob_s));
  }
  const ProgramOutput submitted = RunProgram({"sbatch", "--parsable", script_path}, Deadline::After(kAnswer_s));
  if (submitted.code == 127)
    throw RunError("there is no sbatch in PATH: launch from a machine that submits Slurm jobs");
  if (submitted.code == kNeverEnded) throw RunError("sbatch did not answer within 60 s; does slurmctld run (sinfo)?");
  if (submitted.code != 0) throw RunError("Slurm refuses the job: " + submitted.LastLine());
  const std::string job = submitted.LastLine().substr(0, submitted.LastLine().find(';'));
  std::printf("job %s; what it says: %s%s.log; to end it: scancel %s\n", job.c_str(), log.c_str(), job.c_str(),
              job.c_str());
  return kExitOk;
}

}  // namespace gripstream
