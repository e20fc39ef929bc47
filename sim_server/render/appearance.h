// What one environment looks like where it differs from its model: materials, lights, background.
//
// Plain values that borrow everything (usually from a VisualRandomiser); they must stay as they are while
// BatchRenderer::Render runs. Changes colour images only. Nothing throws.
#pragma once

#include <cstdint>

#include "sim_server/render/shade.h"

namespace gripstream {

// How a light differs from the model's.
struct LightChange {
  float turn[9];  // rotation of its position and direction about the model's centre, world frame; not of the headlight
  float ambient[3], diffuse[3], specular[3];  // factors
};

struct Appearance {
  const int32_t* slot_of_geom = nullptr;  // [ngeom] index in materials, -1: the model's own look; null: all its own
  const Material* materials = nullptr;    // whole materials, used instead of the model's
  const LightChange* lights = nullptr;    // for every light of the ModelLook, in its order; null: the model's own
  const TextureView* backdrop = nullptr;  // flat image stretched over what shows nothing; null: the model's sky
};

}  // namespace gripstream
