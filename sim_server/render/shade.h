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

enum class TextureMapping : int32_t {
  kFlat,  // projected along the geom's z axis
  kCube,  // a cube map looked up from the geom's centre
  kBox,   // projected along whichever of the geom's axes the surface faces most
};

struct Material {
  float colour[3], alpha;
  float emission, specular, exponent;  // exponent of the highlight
  TextureMapping mapping;
  const TextureView* texture;  // or null
  float cube[3];               // cube: direction per metre along the geom's axes
  // Else: from the two coordinates p, q (m) across the projection u = across[0] p + across[1] q + across[2], v =
  // down[0] p + down[1] q + down[2], in units of the image's sides.
  float across[3], down[3];
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
  const Material* materials;      // by geom id
  const Material* own_materials;  // of this environment, instead of the former
  const int32_t* own_slot;        // by geom id: which of them, -1 none; or null
  const Light* lights;
  int light_count;
  const TextureView* backdrop;  // an image that fills what shows nothing; or null
  const TextureView* sky;       // else this, or null: black
  float world_from_optical[9];  // for the sky
  uint8_t* rgb;                 // [H, W, 3]
};

}  // namespace gripstream
