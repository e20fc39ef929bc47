#include "learner/final_evaluation.h"

#include <filesystem>

namespace gripstream {

EvaluationPlan PlanOf(const LearnerRoleOptions& options, const std::string& sheet_path) {
  return {.eval = options.eval,
          .specs = options.specs,
          .judge = {options.metric_names, options.failures},
          .held_out_objects = options.held_out_objects,
          .sheet_path = sheet_path};
}

EvaluationResult EvaluateOnce(Fleet& fleet, const LearnerGroup& group, const EvaluationPlan& plan, const Policy& policy,
                              Play play) {
  EvaluationRequest request;
  request.episodes = plan.eval.episodes;
  request.seed = plan.eval.seed;
  request.blank_image = play == Play::kBlankImage;
  request.held_out = play == Play::kHeldOut;
  request.judge = plan.judge;
  if (play == Play::kWithSheet && !plan.sheet_path.empty()) {
    request.pictures.shown = static_cast<uint32_t>(plan.eval.sheet_rows);
    // Absolute: the simulator that writes it may have another working directory.
    request.pictures.picture_path = std::filesystem::absolute(plan.sheet_path).string();
  }
  return Evaluate(fleet, group, plan.specs, policy, request);
}

void EvaluateForResults(Fleet& fleet, const LearnerGroup& group, const EvaluationPlan& plan, const Policy& policy,
                        RunResults& results) {
  results.final_evaluation = EvaluateOnce(fleet, group, plan, policy, Play::kWithSheet);
  if (plan.eval.sheet_rows > 0) results.sheet = plan.sheet_path;
  if (plan.eval.blank_image && policy.Network().UsesImage())
    results.blank_image = EvaluateOnce(fleet, group, plan, policy, Play::kBlankImage);
  if (plan.eval.held_out && plan.held_out_objects)
    results.held_out = EvaluateOnce(fleet, group, plan, policy, Play::kHeldOut);
}

}  // namespace gripstream
