// An environment as the renderer sees it, and a batch as a record holds it.
#pragma once

#include <span>
#include <vector>

#include "envs/env_batch.h"
#include "sim_server/render/scene_view.h"
#include "wire/layout.h"

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

// Writes the batch's own tensors, which come first in a record; images are EnvImages' part.
inline void WriteTensors(const EnvBatch& envs, const Layout& layout, std::span<std::byte> record) {
  std::vector<std::byte*> tensors;
  for (size_t i = 0; i < envs.RecordSpecs().size(); ++i) {
    tensors.push_back(record.data() + layout.Offset(static_cast<int>(i)));
  }
  envs.Write(tensors);
}

}  // namespace gripstream
