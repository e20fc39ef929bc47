// Which part of the networks pulls how hard: the norm of the gradient by module, for the log. Pure.
#pragma once

#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

#include "policies/parameters.h"

namespace gripstream {

// Modules are the first parts of the parameters' names ("encoder", "actor", "critic", ...), in declared order.
// `gradients` [Count()] as ParameterSet::Flatten lays them out.
std::vector<std::pair<std::string, double>> GradientNorms(const ParameterSet& parameters,
                                                          const torch::Tensor& gradients);

}  // namespace gripstream
