// The evaluations that judge a policy: the fixed set as it is, with a contact sheet, with the image blanked, and with
// held-out objects.
//
// One thread. Throws what Evaluate throws.
#pragma once

#include <string>
#include <vector>

#include "learner/evaluator.h"
#include "learner/report.h"
#include "learner/role.h"
#include "learner/train_config.h"

namespace gripstream {

struct EvaluationPlan {
  EvalConfig eval;
  std::vector<TensorSpec> specs;  // of the record
  EpisodeJudge judge;
  bool held_out_objects = false;  // whether the task has some
  std::string sheet_path;         // PNG; empty: no sheet
};

// `options` of a run or an evaluation.
EvaluationPlan PlanOf(const LearnerRoleOptions& options, const std::string& sheet_path);

// One play of the set. The picture sheet is made of the policy as it is on the training objects.
enum class Play { kAsItIs, kWithSheet, kBlankImage, kHeldOut };
EvaluationResult EvaluateOnce(Fleet& fleet, const LearnerGroup& group, const EvaluationPlan& plan, const Policy& policy,
                              Play play);
// Fills in results.final_evaluation and, where they apply and are wanted, results.blank_image and results.held_out.
void EvaluateForResults(Fleet& fleet, const LearnerGroup& group, const EvaluationPlan& plan, const Policy& policy,
                        RunResults& results);

}  // namespace gripstream
