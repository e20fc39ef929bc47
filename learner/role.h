// The learner role: trains a policy from what the simulators send, and evaluates it.
//
//   resume or start -> (evaluate) -> iterations of { collect, update, log, checkpoint } -> evaluate -> results.json
//
// Several learners of one run each do this with simulators of their own, as one group; the leading one writes and
// speaks. Everything runs on the calling thread, but for LibTorch's own threads, the wire's heartbeat and asynchronous
// collection. Throws InputError for a
// checkpoint that does not fit, RunError when the disk refuses, or a simulator is lost that shall not be replaced or is
// not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/failure_kind.h"
#include "core/memory_budget.h"
#include "core/tensor_spec.h"
#include "learner/algorithm.h"
#include "learner/collector.h"
#include "learner/config.h"
#include "learner/curriculum_gate.h"
#include "learner/group.h"
#include "learner/train_config.h"
#include "policies/config.h"
#include "replay/rollout_size.h"
#include "wire/transport.h"

namespace gripstream {

// How collection and updates take turns.
struct TurnOptions {
  bool asynchronous = false;   // collection goes on while the learner updates
  int max_staleness = 0;       // versions; of asynchronous collection
  bool deterministic = false;  // same bits in every run, asynchronous ones included
  double close_fraction = 1;   // of asynchronous collection: environments that a rollout waits for
};

struct LearnerRoleOptions {
  std::string run_dir;
  uint64_t seed = 1;
  TrainConfig train;
  EvalConfig eval;
  PolicyConfig policy;
  PpoConfig ppo;
  MakeAlgorithm make_algorithm;  // empty: PPO
  GradientDelay gradient_delay = GradientDelay::kNone;
  TurnOptions turns;
  double patience_s = 900;
  LossRule losses;
  std::vector<TensorSpec> specs;  // of the record, images included
  int action_size = 0;
  std::vector<std::string> reward_terms, metric_names;
  std::vector<FailureKind> failures;  // by these metrics
  bool held_out_objects = false;      // whether the task has some
  CurriculumRule curriculum;  // judged by the metric "in_region"
  // What a level means, for the log; empty: nothing to say.
  std::function<std::vector<std::pair<std::string, double>>(int level)> describe_level;
  std::vector<std::string> object_names;  // by catalogue id, for the per-object table
  std::string config_text;                // resolved; goes into every checkpoint
  MemoryBudget memory;                    // as planned, to log beside what is real
  ImageStorage images = ImageStorage::kAsRecorded;
  std::string checkpoint;  // to resume or evaluate; empty: a new run
  int resume_envs = 0;     // environments over all simulators when a run is resumed, else 0
};

// Throws InputError, before anything is started, when the networks do not fit the task, or options.checkpoint does not
// fit the networks or, to resume, the number of environments.
void CheckOptions(const LearnerRoleOptions& options);

// Trains up to train.iterations and writes RUN/results.json. Returns the process exit code.
int Train(LearnerEnd& wire, const LearnerGroup& group, const LearnerRoleOptions& options);
// Plays the evaluation set with options.checkpoint and prints the result as JSON too, into `json_path` unless empty.
int EvaluateCheckpoint(LearnerEnd& wire, const LearnerGroup& group, const LearnerRoleOptions& options,
                       const std::string& json_path);

// A film of the evaluation set's first episodes.
struct FilmOptions {
  std::string path;  // MP4, absolute; empty: none
  int episodes = 0;
  std::string camera;  // empty: the model's overview
  int width_px = 640, height_px = 480;
};
// Plays them with options.checkpoint's mean actions; the first simulator writes the film.
int PlayCheckpoint(LearnerEnd& wire, const LearnerGroup& group, const LearnerRoleOptions& options,
                   const FilmOptions& film);

}  // namespace gripstream
