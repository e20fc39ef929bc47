// What a policy must know of a task: the sizes of what it sees and of what it answers. Plain values, no LibTorch.
#pragma once

#include <string>
#include <vector>

#include "core/tensor_spec.h"

namespace gripstream {

// Names of the record tensors that policies read.
inline constexpr const char* kProprioTensor = "obs.proprio";
inline constexpr const char* kDepthTensor = "obs.depth";
inline constexpr const char* kRgbTensor = "obs.rgb";
inline constexpr const char* kStateTensor = "state";
inline constexpr const char* kAuxTensor = "aux.object_position";

struct PolicyShapes {
  int proprio = 0;           // P
  int state = 0;             // S
  int height_px = 0;         // H, 0 without an image
  int width_px = 0;          // W
  double depth_scale_m = 0;  // metres per unit of the stored depth
  int cameras = 0;           // of colour images, 0 without
  int rgb_height_px = 0, rgb_width_px = 0;
  int aux = 0;     // length of the auxiliary target, 0 without
  int action = 0;  // A

  bool operator==(const PolicyShapes&) const = default;
};

// Reads the sizes off a record's specs. Throws RunError when a tensor that policies need is missing or of another type.
PolicyShapes ShapesFromSpecs(const std::vector<TensorSpec>& specs, int action_size);

}  // namespace gripstream
