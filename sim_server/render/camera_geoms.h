// Brings poses from MuJoCo's world frame into the camera's optical frame.
//
// Included by kernel files only (see lanes.h).
#pragma once

#include "sim_server/render/kernels.h"
#include "sim_server/render/surface_setup.h"

namespace gripstream::GS_RENDER_ISA {

// Poses of kLanes geoms in the camera's frame; sizes are left at 0.
inline CameraGeoms ToCamera(const SceneJob& scene, const int* ids) {
  float centre[3][kLanes], axes[9][kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const double* x = scene.geom_xpos + 3 * ids[lane];
    const double* r = scene.geom_xmat + 9 * ids[lane];
    for (int i = 0; i < 3; ++i) centre[i][lane] = static_cast<float>(x[i] - scene.camera_xpos[i]);
    for (int i = 0; i < 9; ++i) axes[i][lane] = static_cast<float>(r[i]);
  }
  const double* m = scene.optical_from_world;
  const auto rotate = [m](Vec3 v) {
    const auto row = [&](int i) {
      return Lanes(static_cast<float>(m[3 * i])) * v.x + Lanes(static_cast<float>(m[3 * i + 1])) * v.y +
             Lanes(static_cast<float>(m[3 * i + 2])) * v.z;
    };
    return Vec3{row(0), row(1), row(2)};
  };
  const auto axis = [&](int j) {
    return rotate({Lanes::Load(axes[j]), Lanes::Load(axes[3 + j]), Lanes::Load(axes[6 + j])});
  };
  return {rotate({Lanes::Load(centre[0]), Lanes::Load(centre[1]), Lanes::Load(centre[2])}),
          {axis(0), axis(1), axis(2)},
          {0.0f, 0.0f, 0.0f}};
}

}  // namespace gripstream::GS_RENDER_ISA
