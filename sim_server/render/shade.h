// What the colour kernels need besides geometry: materials, textures and lights as plain numbers.
//
// Plain values that point into a ColourShader's tables and a thread's scratch memory; no thread rule; nothing throws.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim_server/render/kernels.h"

namespace gripstream {

// A texture and its halved images, each [face, height + 1, width + 1] texels with red, green and blue in the three low
// bytes. What follows the last row and column is the first of a flat texture, which repeats, the last of a cube's face.
inline constexpr int kMaxTextureLevels = 15;
struct TextureLevel {
  const uint32_t* texels;
  int width, height;
  float columns, rows;  // the same as width and height
  float per_column, per_row;
};
struct TextureView {
  TextureLevel levels[kMaxTextureLevels];
  int level_count;
  int face_count;  // 1, or 6 for a cube: +x -x +y -y +z -z
};

enum class TextureMapping : int32_t {
  kFlat,  // projected along the geom's z axis
  kCube,  // a cube map looked up from the geom's centre
  kBox,   // projected along whichever of the geom's axes the surface faces most
  kMesh,  // by the mesh's own coordinates, which are p and q below
};

// How quickly light falls off about a direction: a whole power of the cosine, and the cosine below which it is less
// than a byte can tell (2^-11), which counts as nothing in highlights.
struct Lobe {
  int32_t power;
  float floor;
};
inline Lobe LobeOf(float exponent) {
  const float power = std::round(exponent < 1 ? 1.0f : exponent > 1024 ? 1024.0f : exponent);
  return {static_cast<int32_t>(power), std::exp2(-11.0f / power)};
}

struct Material {
  float colour[3], alpha;
  float emission, specular;
  Lobe highlight;
  TextureMapping mapping;
  const TextureView* texture;  // or null
  float cube[3];               // cube: direction per metre along the geom's axes
  // Else: from the two coordinates p, q (m) across the projection u = across[0] p + across[1] q + across[2], v =
  // down[0] p + down[1] q + down[2], in units of the image's sides.
  float across[3], down[3];
};

// What a light sees, to tell what lies in its shadow: a square depth image along its direction.
struct ShadowMap {
  const float* inverse;  // [pixels, stride] 1/m
  int pixels, stride;
  float focal_px, middle_px;
  float light_from_optical[3][4];  // to the light's own frame, z along its direction
};

// A light in the camera's optical frame.
struct Light {
  float position[3], direction[3];  // the direction of unit length
  bool directional, attenuated, cone;
  float attenuation[3];
  float cos_cutoff;  // of the cone, at least 0
  Lobe fall_off;     // within it
  bool has_ambient, has_specular, casts_shadow;
  const ShadowMap* shadow;  // or null
  float ambient[3], diffuse[3], specular[3];
};

// A light in a geom's frame: where it is, or for directional ones the unit vector to it; and its direction.
struct LocalLight {
  float place[3], direction[3];
  float shadow[3][4];  // from the geom's frame to the shadow map's
};

// What all pixels of a geom share. A point p of the optical frame has the geom's coordinates eye + axis p.
struct ShadeFrame {
  bool ready;
  const DrawnGeom* geom;
  const MeshJob* mesh;  // of meshes
  const Material* material;
  float per_radius;  // 1 / the first size
  float eye[3];      // the camera in the geom's frame
  float axis[3][3];  // the geom's axes in the optical frame
};

struct ShadeJob {
  const Material* materials;      // by geom id
  const Material* own_materials;  // of this environment, instead of the former
  const int32_t* own_slot;        // by geom id: which of them, -1 none; or null
  const Light* lights;
  int light_count;
  bool has_shadows;
  const TextureView* backdrop;  // an image that fills what shows nothing; or null
  const TextureView* sky;       // else this, or null: black
  ShadeFrame* frames;           // scratch, by geom id
  LocalLight* local_lights;     // scratch, [geom id, light]
  float world_from_optical[9];  // for the sky
  float per_fx, per_fy;         // 1 / focal lengths
  uint8_t* rgb;                 // [H, W, 3]
};

}  // namespace gripstream
