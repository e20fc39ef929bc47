// What a person sees of a run: the live line, the evaluation's table, results.json. Formatting only; no state.
#pragma once

#include <string>
#include <vector>

#include "core/metrics.h"
#include "learner/evaluator.h"
#include "learner/rollout_source.h"

namespace gripstream {

// Where an iteration's time went, in seconds.
struct IterationTimes {
  Rollout rollout;  // its times; the store may be another rollout's by now
  double update_s = 0;
  double total_s = 0;
  Metrics AsMetrics() const;
};

struct ProgressFigures {
  int64_t iteration = 0, iterations = 0;  // done, wanted
  double env_steps = 0, env_steps_per_s = 0;
  bool any_episode = false;  // whether return and success say anything yet
  double episode_return = 0, success = 0;
  double eta_s = 0;
};

std::string FormatProgress(const ProgressFigures& figures, const IterationTimes& times);

// "success 83.2 % (95 % interval 79.8 to 86.2, 512 episodes)"
std::string FormatSuccess(const EvaluationResult& result);
// That, a line per object, the metrics at the end of the episodes, and a line for each kind of failure.
std::string FormatEvaluation(const EvaluationResult& result, const std::vector<std::string>& names);

// A finished (or ended) run's figures. Evaluations that were not made have no episodes and are written as null.
struct RunResults {
  std::string parameters_sha256;
  int64_t env_steps = 0, iterations = 0;
  double wall_s = 0;
  int64_t faults = 0;  // environment steps of this process that were quarantined
  // Of this process: simulators lost and replaced, and samples that there are not for that reason.
  int64_t lost_simulators = 0, replacements = 0, lost_samples = 0;
  EvaluationResult final_evaluation, at_start, blank_image, held_out;
  std::string status;       // "completed", "interrupted", "evaluated"
  std::string stop_reason;  // why training ended, for example "train.iterations reached"
  std::string sheet;        // the contact sheet's path
};

// What is printed at the end: status, success with its interval, a line per object, the blanked image, the run folder.
std::string FormatOutcome(const RunResults& results, const std::string& run_dir,
                          const std::vector<std::string>& object_names);

void WriteResults(const std::string& path, const RunResults& results, const std::vector<std::string>& object_names);

}  // namespace gripstream
