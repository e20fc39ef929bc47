// What a training run puts into its checkpoints beyond the file format: which state is whose.
//
//   policy.*, normalizer.*: Policy      optimiser.*: the algorithm      env_state: every simulator's environments
//   env_memory: what the policy remembers in each of them
//   env_lost: only when some of these were lost
//
// Throws InputError when a checkpoint does not fit the run. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "learner/algorithm.h"
#include "learner/collector.h"
#include "learner/evaluator.h"
#include "learner/role.h"
#include "policies/checkpoint.h"
#include "policies/inference.h"

namespace gripstream {

// Counters and figures of a run that are no tensors.
struct RunCounters {
  int64_t iteration = 0;
  int64_t env_steps = 0;
  double wall_s = 0;
  double best_success = -1;
  int curriculum_level = -1;  // -1: from before there was a curriculum
  int64_t curriculum_steps = 0;
  EvaluationResult at_start;  // of the untrained policy; no episodes: not evaluated
};

// Of all learners' environments.
struct EnvTensors {
  torch::Tensor state{};   // [N, bytes of one environment]
  torch::Tensor lost{};    // [N] uint8, 1 where there is no state
  torch::Tensor memory{};  // [N, numbers] of policy and algorithm; undefined where neither remembers
};
Checkpoint MakeCheckpoint(const LearnerRoleOptions& options, const RunCounters& counters, const Policy& policy,
                          const Algorithm& algorithm, const EnvTensors& envs);

// Parameters and normalisers; refuses a checkpoint of another network by name.
void RestorePolicy(const Checkpoint& checkpoint, const std::string& path, Policy& policy);
// The same, and what the algorithm keeps, which trains `policy`.
void RestoreTraining(const Checkpoint& checkpoint, const std::string& path, Policy& policy, Algorithm& algorithm);
RunCounters CountersOf(const Checkpoint& checkpoint, const std::string& path);
// Of environments [first, first + envs) of `all`; refuses another number of all. Splits over simulators and learners do
// not matter.
EnvStates EnvStatesOf(const Checkpoint& checkpoint, const std::string& path, int all, int first, int envs);

// What is remembered of the same environments, [envs, size].
torch::Tensor MemoriesOf(const Checkpoint& checkpoint, const std::string& path, int all, int first, int envs,
                         int64_t size);

}  // namespace gripstream
