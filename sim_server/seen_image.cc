#include "sim_server/seen_image.h"

#include <algorithm>

namespace gripstream {
namespace {

// Height and width of an image tensor [(C,) H, W(, 3)].
struct Size {
  int height, width;
};
Size SizeOf(const TensorSpec& spec, size_t channels) {
  const size_t width = spec.shape.size() - (channels > 1 ? 2 : 1);
  return {spec.shape[width - 1], spec.shape[width]};
}

}  // namespace

cv::Mat SeenImage(const Layout& layout, std::span<const std::byte> record, int env, int height_px) {
  const auto image_of = [&](const std::vector<TensorSpec>& specs, int index) {
    return static_cast<size_t>(env) * specs[static_cast<size_t>(index)].Elements();
  };
  if (layout.Has("obs.depth")) {
    const int index = layout.Index("obs.depth");
    const auto [height, width] = SizeOf(layout.Specs()[static_cast<size_t>(index)], 1);
    const uint16_t* depth = layout.View<uint16_t>(record, index).data() + image_of(layout.Specs(), index);
    return ColourDepth(depth, width, height, std::max(1, height_px / height));
  }
  if (layout.Has("obs.rgb")) {
    const int index = layout.Index("obs.rgb");
    const auto [height, width] = SizeOf(layout.Specs()[static_cast<size_t>(index)], 3);
    const uint8_t* rgb = layout.View<uint8_t>(record, index).data() + image_of(layout.Specs(), index);
    return FromRgb(rgb, width, height, std::max(1, height_px / height));
  }
  return {};
}

}  // namespace gripstream
