#include "learner/final_evaluation.h"

#include <filesystem>

namespace gripstream {

EvaluationResult EvaluateOnce(Fleet& fleet, const LearnerGroup& group, const EvaluationPlan& plan, const Policy& policy,
                              bool blank_image, bool with_sheet) {
  EvaluationRequest request;
  request.episodes = plan.eval.episodes;
  request.seed = plan.eval.seed;
  request.blank_image = blank_image;
  if (with_sheet && !plan.sheet_path.empty()) {
    request.pictures.shown = static_cast<uint32_t>(plan.eval.sheet_rows);
    // Absolute: the simulator that writes it may have another working directory.
    request.pictures.picture_path = std::filesystem::absolute(plan.sheet_path).string();
  }
  return Evaluate(fleet, group, plan.specs, policy, request);
}

void EvaluateForResults(Fleet& fleet, const LearnerGroup& group, const EvaluationPlan& plan, const Policy& policy,
                        RunResults& results) {
  results.final_evaluation = EvaluateOnce(fleet, group, plan, policy, false, true);
  if (plan.eval.sheet_rows > 0) results.sheet = plan.sheet_path;
  if (plan.eval.blank_image && policy.Network().UsesImage()) {
    results.blank_image = EvaluateOnce(fleet, group, plan, policy, true, false);
  }
}

}  // namespace gripstream
