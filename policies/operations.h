// How many floating-point operations the networks take, counted from their parameters: what measured times are held
// against. Multiplications and additions of convolutions and matrices; the rest is small beside them.
//
// Pure functions.
#pragma once

#include "policies/config.h"
#include "policies/parameters.h"
#include "policies/shapes.h"

namespace gripstream {

// One sample forward through actor and critic of depth_cnn or state_mlp. Convolutions are the tensors of four
// dimensions, in the encoder's order.
inline double ForwardOperations(const ParameterSet& parameters, const EncoderConfig& encoder,
                                const PolicyShapes& shapes) {
  double operations = 0;
  size_t convolution = 0;
  int height = shapes.height_px, width = shapes.width_px;
  for (const NamedTensor& parameter : parameters.All()) {
    const auto numbers = static_cast<double>(parameter.value.numel());
    if (parameter.value.dim() == 2) operations += 2 * numbers;
    if (parameter.value.dim() != 4) continue;
    const int kernel = encoder.kernels[convolution], stride = encoder.strides[convolution];
    height = (height - kernel) / stride + 1;
    width = (width - kernel) / stride + 1;
    operations += 2 * numbers * height * width;
    ++convolution;
  }
  return operations;
}

// One sample forward and backward: the gradients with respect to inputs and weights take as much as the pass each.
inline double TrainingOperations(const ParameterSet& parameters, const EncoderConfig& encoder,
                                 const PolicyShapes& shapes) {
  return 3 * ForwardOperations(parameters, encoder, shapes);
}

}  // namespace gripstream
