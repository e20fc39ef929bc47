#include "learner/role.h"

#include <cstdio>

#include "core/error.h"
#include "learner/run_checkpoint.h"
#include "learner/training_run.h"

namespace gripstream {

void CheckCheckpoint(const LearnerRoleOptions& options) {
  if (options.checkpoint.empty()) return;
  Policy policy(options.policy, ShapesFromSpecs(options.specs, options.action_size), options.seed);
  RestorePolicy(LoadCheckpoint(options.checkpoint), options.checkpoint, policy);
}

int Train(LearnerEnd& wire, const LearnerRoleOptions& options) {
  return TrainingRun(wire, options).Run();
}

int EvaluateCheckpoint(LearnerEnd& wire, const LearnerRoleOptions& options, const std::string& json_path) {
  Policy policy(options.policy, ShapesFromSpecs(options.specs, options.action_size), options.seed);
  const Checkpoint checkpoint = LoadCheckpoint(options.checkpoint);
  RestorePolicy(checkpoint, options.checkpoint, policy);
  Fleet fleet(wire, options.patience_s);
  const EvaluationPlan plan{options.eval, options.specs, options.run_dir};
  RunResults results;
  results.status = "evaluated";
  results.iterations = checkpoint.Counter("iteration", options.checkpoint);
  results.env_steps = checkpoint.Counter("env_steps", options.checkpoint);
  results.parameters_sha256 = ParametersSha256(policy.Network().Parameters());
  EvaluateForResults(fleet, plan, policy, results);
  std::printf("%s", FormatOutcome(results, options.run_dir, options.object_names).c_str());
  if (!json_path.empty()) WriteResults(json_path, results, options.object_names);
  return kExitOk;
}

}  // namespace gripstream
