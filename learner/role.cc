#include "learner/role.h"

#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "core/interrupt.h"
#include "learner/run_checkpoint.h"
#include "learner/training_run.h"

namespace gripstream {

void CheckOptions(const LearnerRoleOptions& options) {
  Policy policy(options.policy, ShapesFromSpecs(options.specs, options.action_size), options.seed);
  if (options.checkpoint.empty()) {
    policy.Network().LoadTrunk(options.policy);
    return;
  }
  const Checkpoint checkpoint = LoadCheckpoint(options.checkpoint);
  RestorePolicy(checkpoint, options.checkpoint, policy);
  if (options.resume_envs > 0) {
    CountersOf(checkpoint, options.checkpoint);
    EnvStatesOf(checkpoint, options.checkpoint, options.resume_envs, 0, 0);
  }
}

int Train(LearnerEnd& wire, const LearnerGroup& group, const LearnerRoleOptions& options) {
  return TrainingRun(wire, group, options).Run();
}

int EvaluateCheckpoint(LearnerEnd& wire, const LearnerGroup& group, const LearnerRoleOptions& options,
                       const std::string& json_path) {
  Policy policy(options.policy, ShapesFromSpecs(options.specs, options.action_size), options.seed);
  const Checkpoint checkpoint = LoadCheckpoint(options.checkpoint);
  RestorePolicy(checkpoint, options.checkpoint, policy);
  Fleet fleet(wire, options.patience_s, options.losses);
  // Beside the run's own results, which stay as they are.
  const std::filesystem::path folder = std::filesystem::path(options.run_dir) / "evaluations";
  std::filesystem::create_directories(folder);
  const std::string stem = (folder / std::filesystem::path(options.checkpoint).stem()).string();
  const EvaluationPlan plan = PlanOf(options, stem + ".png");
  const RunCounters counters = CountersOf(checkpoint, options.checkpoint);
  if (counters.curriculum_level >= 0) fleet.SetCurriculumLevel(counters.curriculum_level);
  RunResults results;
  results.status = "evaluated";
  results.iterations = checkpoint.Counter("iteration", options.checkpoint);
  results.env_steps = checkpoint.Counter("env_steps", options.checkpoint);
  results.parameters_sha256 = ParametersSha256(policy.Network().Parameters());
  EvaluateForResults(fleet, group, plan, policy, results);
  if (!group.Leads()) return kExitOk;
  std::printf("%s", FormatOutcome(results, options.run_dir, options.object_names).c_str());
  WriteResults(stem + ".json", results, options.object_names);
  if (!json_path.empty()) WriteResults(json_path, results, options.object_names);
  return kExitOk;
}

int PlayCheckpoint(LearnerEnd& wire, const LearnerGroup& group, const LearnerRoleOptions& options,
                   const FilmOptions& film) {
  Policy policy(options.policy, ShapesFromSpecs(options.specs, options.action_size), options.seed);
  RestorePolicy(LoadCheckpoint(options.checkpoint), options.checkpoint, policy);
  Fleet fleet(wire, options.patience_s);
  EvaluationRequest request;
  request.episodes = film.episodes;
  request.seed = options.eval.seed;
  request.pictures.shown = static_cast<uint32_t>(film.episodes);
  request.pictures.picture_path = film.path;
  request.pictures.camera = film.camera;
  request.pictures.width_px = static_cast<uint32_t>(film.width_px);
  request.pictures.height_px = static_cast<uint32_t>(film.height_px);
  const EvaluationResult result = Evaluate(fleet, group, options.specs, policy, request);
  if (Interrupted()) throw RunError("interrupted before the end: no film was written");
  if (group.Leads()) std::printf("%s\n%s\n", FormatSuccess(result).c_str(), film.path.c_str());
  return kExitOk;
}

}  // namespace gripstream
