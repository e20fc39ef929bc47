// What the colour kernels need besides geometry: materials, textures and lights as plain numbers.
//
// Plain values that point into a ColourShader's tables; no thread rule; nothing throws.
#pragma once

#include <cstdint>

#include "sim_server/render/kernels.h"

namespace gripstream {

// A texture and its halved images, each [face, height, width] texels with red, green and blue in the three low bytes.
inline constexpr int kMaxTextureLevels = 15;
struct TextureView {
  const uint32_t* texels[kMaxTextureLevels];
  int width[kMaxTextureLevels], height[kMaxTextureLevels];
  int level_count;
  int face_count;  // 1, or 6 for a cube: +x -x +y -y +z -z
};

struct Material {
  float colour[3];
  float emission, specular, exponent;  // exponent of the highlight
  const TextureView* texture;          // or null
  float scale[3];                      // texture coordinate, or cube direction, per metre along the geom's axes
};

// A light in the camera's optical frame.
struct Light {
  float position[3], direction[3];
  bool directional;
  float attenuation[3];
  float cos_cutoff, exponent;  // of the cone; cos_cutoff below -1: no cone
  float ambient[3], diffuse[3], specular[3];
};

struct ShadeJob {
  const Material* materials;  // by geom id
  const Light* lights;
  int light_count;
  const TextureView* sky;       // or null: black
  float world_from_optical[9];  // for the sky
  uint8_t* rgb;                 // [H, W, 3]
};

}  // namespace gripstream
