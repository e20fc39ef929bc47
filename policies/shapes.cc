#include "policies/shapes.h"

#include <algorithm>

#include "core/error.h"

namespace gripstream {
namespace {

const TensorSpec* Find(const std::vector<TensorSpec>& specs, const std::string& name, DType dtype, size_t rank) {
  for (const TensorSpec& spec : specs) {
    if (spec.name != name) continue;
    if (spec.dtype == dtype && spec.shape.size() == rank) return &spec;
    throw RunError("the record's " + spec.ToString() + " should be " + NameOf(dtype) + " of rank " +
                   std::to_string(rank));
  }
  return nullptr;
}

int VectorSize(const std::vector<TensorSpec>& specs, const std::string& name) {
  const TensorSpec* spec = Find(specs, name, DType::kFloat32, 1);
  return spec ? spec->shape[0] : 0;
}

}  // namespace

PolicyShapes ShapesFromSpecs(const std::vector<TensorSpec>& specs, int action_size) {
  PolicyShapes shapes;
  shapes.proprio = VectorSize(specs, kProprioTensor);
  shapes.state = VectorSize(specs, kStateTensor);
  shapes.aux = VectorSize(specs, kAuxTensor);
  shapes.action = action_size;
  if (shapes.proprio == 0) throw RunError(std::string("the record has no ") + kProprioTensor);
  if (shapes.state == 0) throw RunError(std::string("the record has no ") + kStateTensor);
  for (const TensorSpec& spec : specs) {
    if (spec.name != kRgbTensor || spec.dtype != DType::kUint8 || spec.shape.size() < 3) continue;
    const size_t first = spec.shape.size() - 3;  // [cameras, H, W, 3], or [H, W, 3] of one
    shapes.cameras = first == 1 ? spec.shape[0] : 1;
    shapes.rgb_height_px = spec.shape[first];
    shapes.rgb_width_px = spec.shape[first + 1];
  }
  // Images of several cameras, [C, H, W], are for other roles: a policy sees one depth image or none.
  const bool several = std::ranges::any_of(
      specs, [](const TensorSpec& spec) { return spec.name == kDepthTensor && spec.shape.size() == 3; });
  if (several) return shapes;
  if (const TensorSpec* depth = Find(specs, kDepthTensor, DType::kUint16, 2)) {
    shapes.height_px = depth->shape[0];
    shapes.width_px = depth->shape[1];
    shapes.depth_scale_m = depth->scale;
  }
  return shapes;
}

}  // namespace gripstream
