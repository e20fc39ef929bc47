// One environment's scene at one instant, as the renderer needs it: borrowed pointers, read only.
//
// The arrays are MuJoCo's own (mjData or a batch's fields) after kinematics; they must stay valid and unchanged while
// BatchRenderer::Render runs. A plain value; no thread rule; nothing throws.
#pragma once

#include <mujoco/mujoco.h>

#include <cstdint>

namespace gripstream {

struct Appearance;  // appearance.h
struct Projection;  // camera.h

struct SceneView {
  const mjModel* model = nullptr;      // one of the models the renderer was made with
  const mjtNum* geom_xpos = nullptr;   // [ngeom, 3] centre, world frame, m
  const mjtNum* geom_xmat = nullptr;   // [ngeom, 9] rotation, world from geom, row-major
  const mjtNum* cam_xpos = nullptr;    // [ncam, 3] world frame, m
  const mjtNum* cam_xmat = nullptr;    // [ncam, 9] rotation, world from camera (x right, y up, looking along -z)
  const mjtNum* light_xpos = nullptr;  // [nlight, 3] world frame, m; null (with light_xdir): where they are at qpos0
  const mjtNum* light_xdir = nullptr;  // [nlight, 3] for colour only
  const Projection* intrinsics = nullptr;  // [ncam] for this size of image; null: the model's
  const Appearance* appearance = nullptr;  // for colour only; null: the model's own look
  uint32_t noise_env = 0;                  // for a renderer that lays depth noise itself: the environment and step
  uint64_t noise_step = 0;                 // that its draws depend on
};

inline SceneView ViewOf(const mjModel* model, const mjData* data) {
  return {model,
          data->geom_xpos,
          data->geom_xmat,
          data->cam_xpos,
          data->cam_xmat,
          data->light_xpos,
          data->light_xdir,
          nullptr,
          nullptr,
          0,
          0};
}

}  // namespace gripstream
