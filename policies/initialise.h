// Initial weights from our own counter-based stream: the same seed gives the same parameters, whatever was drawn
// before. Pure functions.
#pragma once

#include <torch/types.h>

#include "core/rng.h"

namespace gripstream {

// [rows, columns] with orthonormal rows (or columns, where there are fewer of them), times `gain`.
torch::Tensor OrthogonalMatrix(Rng rng, int64_t rows, int64_t columns, double gain);

// Independent normal draws with standard deviation `std`.
torch::Tensor NormalTensor(Rng rng, at::IntArrayRef shape, double std);

}  // namespace gripstream
