// What MuJoCo's renderer would make of a model's materials, textures and lights, as plain numbers.
//
// A plain value; textures belong to the library. Thread-safe for different libraries; nothing throws.
#pragma once

#include <mujoco/mujoco.h>

#include <vector>

#include "sim_server/render/shade.h"
#include "sim_server/render/texture.h"

namespace gripstream {

struct ModelLook {
  std::vector<Material> materials;  // by geom id
  std::vector<mjvLight> lights;     // the headlight first where it is on; poses at qpos0
  const TextureView* sky = nullptr;
  double centre[3], extent_m;  // of the model, world frame
};

ModelLook LookOf(const mjModel& model, TextureLibrary* library);

}  // namespace gripstream
