// What a learner's process takes, measured on instances so small that measuring them costs next to nothing: the same
// code that later runs with the real numbers, so plan and run cannot drift apart.
//
//   MeasureLearner (networks, optimiser, updates of a few samples, a few actions) -> LearnerFootprint -> LearnerBudget
//
// What grows, grows in straight lines: with the samples of a rollout, the rows of one forward and backward pass, the
// environments acted for together. Two sizes of each give the line. Measuring sets LibTorch's thread count as Ppo does.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor_spec.h"
#include "learner/config.h"
#include "learner/learner_budget.h"
#include "policies/config.h"

namespace gripstream {

// Throws InputError when the networks do not fit the record.
LearnerFootprint MeasureLearner(const PpoConfig& ppo, const PolicyConfig& policy, const std::vector<TensorSpec>& specs,
                                int action_size);

}  // namespace gripstream
