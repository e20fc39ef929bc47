// A run as one Slurm job: a batch script with a step (srun) per role, and its submission.
//
// The learner's end is the job's end, with its exit code; a role that refuses its input ends the job at once.
// Everything else that befalls a role is the learner's to notice: it names whoever does not come within wire.join_s, or
// is lost. scancel and time limits reach the learner as SIGTERM, so that it writes a checkpoint first. Plain functions.
#pragma once

#include <string>

#include "launch/role_plan.h"
#include "launch/run_config.h"

namespace gripstream {

// `run_dir` is absolute and on a file system that the job's machines share.
std::string SlurmScript(const RunConfig& config, const RolePlan& plan, const std::string& run_dir);

// Hands the script to sbatch; with `wait` returns when the job has ended, with its exit code, otherwise at once with
// kExitOk. Throws RunError with what sbatch says when it refuses.
int SubmitSlurmJob(const std::string& script_path, const std::string& run_dir, bool wait);

}  // namespace gripstream
