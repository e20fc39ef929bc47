// Evaluation on the fixed episode set: every episode played once with the mean action, wherever its environment lives.
//
// The set is named by its seed; episode k of it is the same for any number of environments, simulators and learners,
// who share it out and all have the whole result. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/failure_kind.h"
#include "learner/collector.h"
#include "learner/group.h"

namespace gripstream {

// What the numbers that a task measures say of an episode.
struct EpisodeJudge {
  std::vector<std::string> metrics;   // names of the record's "metrics"
  std::vector<FailureKind> failures;  // told from these
};

struct EvaluationRequest {
  int episodes = 0;
  uint64_t seed = 0;
  bool blank_image = false;
  bool held_out = false;  // held-out objects instead of the training ones
  EpisodeJudge judge{};
  EpisodeRequest pictures;  // only its fields about pictures, of the first round of episodes
};

struct EvaluationResult {
  int episodes = 0;
  int successes = 0;
  double return_mean = 0;  // undiscounted
  struct PerObject {
    int episodes = 0;
    int successes = 0;
  };
  std::map<int, PerObject> objects;  // by catalogue id
  std::vector<std::pair<std::string, double>> metrics_at_end;  // mean over the episodes
  std::vector<std::pair<std::string, int>> failures;           // episodes of each kind, in the judge's order
  double Success() const { return episodes > 0 ? static_cast<double>(successes) / episodes : 0; }
};

// Plays the set; leaves the environments in evaluation episodes, to be reset by the caller. `specs` are the record's.
// An interrupt ends it early: `episodes` says how many were played.
EvaluationResult Evaluate(Fleet& fleet, const LearnerGroup& group, const std::vector<TensorSpec>& specs,
                          const Policy& policy, const EvaluationRequest& request);

}  // namespace gripstream
