#include "learner/role.h"

#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "learner/run_checkpoint.h"
#include "learner/training_run.h"

namespace gripstream {

void CheckOptions(const LearnerRoleOptions& options) {
  Policy policy(options.policy, ShapesFromSpecs(options.specs, options.action_size), options.seed);
  if (options.checkpoint.empty()) return;
  const Checkpoint checkpoint = LoadCheckpoint(options.checkpoint);
  RestorePolicy(checkpoint, options.checkpoint, policy);
  if (options.resume_envs > 0) {
    CountersOf(checkpoint, options.checkpoint);
    EnvStatesOf(checkpoint, options.checkpoint, options.resume_envs);
  }
}

int Train(LearnerEnd& wire, const LearnerRoleOptions& options) {
  return TrainingRun(wire, options).Run();
}

int EvaluateCheckpoint(LearnerEnd& wire, const LearnerRoleOptions& options, const std::string& json_path) {
  Policy policy(options.policy, ShapesFromSpecs(options.specs, options.action_size), options.seed);
  const Checkpoint checkpoint = LoadCheckpoint(options.checkpoint);
  RestorePolicy(checkpoint, options.checkpoint, policy);
  Fleet fleet(wire, options.patience_s);
  // Beside the run's own results, which stay as they are.
  const std::filesystem::path folder = std::filesystem::path(options.run_dir) / "evaluations";
  std::filesystem::create_directories(folder);
  const std::string stem = (folder / std::filesystem::path(options.checkpoint).stem()).string();
  const EvaluationPlan plan{options.eval, options.specs, stem + ".png"};
  RunResults results;
  results.status = "evaluated";
  results.iterations = checkpoint.Counter("iteration", options.checkpoint);
  results.env_steps = checkpoint.Counter("env_steps", options.checkpoint);
  results.parameters_sha256 = ParametersSha256(policy.Network().Parameters());
  EvaluateForResults(fleet, plan, policy, results);
  std::printf("%s", FormatOutcome(results, options.run_dir, options.object_names).c_str());
  WriteResults(stem + ".json", results, options.object_names);
  if (!json_path.empty()) WriteResults(json_path, results, options.object_names);
  return kExitOk;
}

}  // namespace gripstream
