#include "sim_server/render/normals.h"

#include "sim_server/render/surface_point.h"

namespace gripstream {

void WriteNormals(const View& view, const SceneJob& scene, const Canvas& canvas, float* normals) {
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      SurfacePoint point;
      Point n = {0, 0, 0};
      if (PointAt(view, scene, canvas, x, y, &point)) n = Times(scene.optical_from_world, point.normal);
      float* out = normals + 3 * (static_cast<int64_t>(y) * view.width + x);
      out[0] = static_cast<float>(n.x), out[1] = static_cast<float>(n.y), out[2] = static_cast<float>(n.z);
    }
  }
}

}  // namespace gripstream
