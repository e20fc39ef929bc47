// The evaluations that judge a policy: the fixed set as it is, with a contact sheet, and with the image blanked.
//
// One thread. Throws what Evaluate throws.
#pragma once

#include <string>
#include <vector>

#include "learner/evaluator.h"
#include "learner/report.h"
#include "learner/train_config.h"

namespace gripstream {

struct EvaluationPlan {
  EvalConfig eval;
  std::vector<TensorSpec> specs;  // of the record
  std::string sheet_path;         // PNG; empty: no sheet
};

EvaluationResult EvaluateOnce(Fleet& fleet, const LearnerGroup& group, const EvaluationPlan& plan, const Policy& policy,
                              bool blank_image, bool with_sheet);
// Fills in results.final_evaluation and, for a policy that sees, results.blank_image.
void EvaluateForResults(Fleet& fleet, const LearnerGroup& group, const EvaluationPlan& plan, const Policy& policy,
                        RunResults& results);

}  // namespace gripstream
