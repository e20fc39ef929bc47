// An environment as the renderer sees it.
#pragma once

#include "envs/env_batch.h"
#include "sim_server/render/scene_view.h"

namespace gripstream {

// Valid until the batch is reset, stepped or loaded.
inline SceneView ViewOf(const EnvBatch& envs, int env) {
  SceneView view;
  view.model = envs.Model(env);
  view.geom_xpos = envs.GeomXpos(env);
  view.geom_xmat = envs.GeomXmat(env);
  view.cam_xpos = envs.CamXpos(env);
  view.cam_xmat = envs.CamXmat(env);
  view.light_xpos = envs.LightXpos(env);
  view.light_xdir = envs.LightXdir(env);
  return view;
}

}  // namespace gripstream
