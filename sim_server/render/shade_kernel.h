// Colours a drawn image: strips of kLanes pixels, each geom's share of a strip at once, in the geom's own frame.
//
// What a geom's pixels share is worked out when the geom is first seen. See colour.h for the lighting model. Included
// by kernel files only (see lanes.h).
#pragma once

#include <math.h>
#include <string.h>

#include "sim_server/render/light_kernel.h"
#include "sim_server/render/texture_kernel.h"

namespace gripstream::GS_RENDER_ISA {

GS_HOST_DEVICE inline const DrawnGeom& GeomOf(const SceneJob& scene, int32_t id) {
  int low = 0, high = scene.geom_count - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    scene.geoms[middle].id < id ? low = middle + 1 : high = middle;
  }
  return scene.geoms[low];
}

GS_HOST_DEVICE inline const Material& MaterialOf(const ShadeJob& job, int32_t geom) {
  const int32_t slot = job.own_slot ? job.own_slot[geom] : -1;
  return slot >= 0 ? job.own_materials[slot] : job.materials[geom];
}

// Optical frame to the geom's.
GS_HOST_DEVICE inline void TurnInto(const ShadeFrame& frame, const float v[3], const float offset[3], float out[3]) {
  for (int i = 0; i < 3; ++i) {
    out[i] = offset[i] + frame.axis[i][0] * v[0] + frame.axis[i][1] * v[1] + frame.axis[i][2] * v[2];
  }
}

// From the geom's frame over the optical one to the light's.
GS_HOST_DEVICE inline void SetShadowMatrix(const ShadeFrame& frame, const ShadowMap& map, LocalLight* local) {
  for (int i = 0; i < 3; ++i) {
    const float* m = map.light_from_optical[i];
    local->shadow[i][3] = m[3];
    for (int k = 0; k < 3; ++k) {
      const float* axis = frame.axis[k];
      local->shadow[i][k] = m[0] * axis[0] + m[1] * axis[1] + m[2] * axis[2];
      local->shadow[i][3] -= local->shadow[i][k] * frame.eye[k];
    }
  }
}

// Where the lights are as a geom sees them.
GS_HOST_DEVICE inline void SetLocalLights(const ShadeJob& job, const ShadeFrame& frame, LocalLight* lights) {
  const float none[3] = {0, 0, 0};
  for (int i = 0; i < job.light_count; ++i) {
    const Light& light = job.lights[i];
    LocalLight& local = lights[i];
    const float back[3] = {-light.direction[0], -light.direction[1], -light.direction[2]};
    TurnInto(frame, light.direction, none, local.direction);
    light.directional ? TurnInto(frame, back, none, local.place)
                      : TurnInto(frame, light.position, frame.eye, local.place);
    if (light.shadow) SetShadowMatrix(frame, *light.shadow, &local);
  }
}

GS_HOST_DEVICE inline void SetFrame(const SceneJob& scene, const ShadeJob& job, int32_t id) {
  ShadeFrame& frame = job.frames[id];
  frame.ready = true;
  frame.geom = &GeomOf(scene, id);
  frame.material = &MaterialOf(job, id);
  frame.per_radius = 1.0f / frame.geom->size[0];
  frame.mesh = scene.meshes;
  if (frame.geom->shape == Shape::kMesh) {
    while (frame.mesh->geom != id) ++frame.mesh;
  }
  const double* x = scene.geom_xpos + 3 * id;
  const double* r = scene.geom_xmat + 9 * id;
  const double* m = scene.optical_from_world;
  for (int i = 0; i < 3; ++i) {
    double eye = 0;
    for (int w = 0; w < 3; ++w) eye += r[3 * w + i] * (scene.camera_xpos[w] - x[w]);
    frame.eye[i] = static_cast<float>(eye);
    for (int k = 0; k < 3; ++k) {
      frame.axis[i][k] = static_cast<float>(r[i] * m[3 * k] + r[3 + i] * m[3 * k + 1] + r[6 + i] * m[3 * k + 2]);
    }
  }
  SetLocalLights(job, frame, job.local_lights + id * job.light_count);
}

// Directions of a strip's rays, z = 1.
GS_HOST_DEVICE inline Vec3 RaysOf(const View& view, const ShadeJob& job, int x, int y) {
  return {(Lanes::Iota() + Lanes(static_cast<float>(x) + 0.5f - view.cx)) * Lanes(job.per_fx),
          Lanes((static_cast<float>(y) + 0.5f - view.cy) * job.per_fy), 1.0f};
}

// The backdrop at a strip of pixels.
GS_HOST_DEVICE inline Colour BackdropAt(const TextureView& t, const View& view, int x, int y) {
  int i = 0;
  while (i + 1 < t.level_count && t.levels[i].width >= 2 * view.width) ++i;
  const TextureLevel& level = t.levels[i];
  const float across = level.columns / static_cast<float>(view.width);
  const float down = level.rows / static_cast<float>(view.height);
  return LookFace(level, 0.0f, (Lanes::Iota() + Lanes(static_cast<float>(x) + 0.5f)) * Lanes(across) - Lanes(0.5f),
                  (static_cast<float>(y) + 0.5f) * down - 0.5f, false);
}

GS_HOST_DEVICE inline Colour SkyAt(const View& view, const ShadeJob& job, int x, int y) {
  if (job.backdrop) return BackdropAt(*job.backdrop, view, x, y);
  if (!job.sky) return {0.0f, 0.0f, 0.0f};
  const Vec3 ray = RaysOf(view, job, x, y);
  const float* m = job.world_from_optical;
  const auto row = [&](int i) { return Lanes(m[i]) * ray.x + (Lanes(m[i + 1]) * ray.y + Lanes(m[i + 2])); };
  // MuJoCo's sky has its top at +z of the world, a cube map's at +y.
  return LookCube(CubeLevel(*job.sky, job.per_fx), {row(0), row(6), Lanes(0.0f) - row(3)});
}

// One row of a band.
struct PixelRow {
  int y;
  const float* inverse;
  const int32_t* geom;
  const int32_t* triangle;  // or null
};

// Level of detail is chosen per this many pixels, whatever kLanes is.
inline constexpr int kDetailPixels = 16;

// How many units of a mesh's own texture coordinates a metre of its triangle is wide, by the narrower one.
GS_HOST_DEVICE inline float CoordinatesPerMetre(const ShadeFrame& frame, int32_t triangle) {
  const float* f = frame.mesh->facets + kFacetFloats * triangle;
  float squared[2] = {0, 0};
  for (int axis = 0; axis < 2; ++axis) {
    for (int k = 0; k < 3; ++k) {
      const float slope = f[19 + axis] * f[k] + f[21 + axis] * f[4 + k];
      squared[axis] += slope * slope;
    }
  }
  return sqrtf(squared[0] < squared[1] ? squared[0] : squared[1]);
}

// How wide a pixel that shows a geom is: m, in the mesh's own texture coordinates, or of cube maps in half-sides of the
// geom.
GS_HOST_DEVICE inline float PixelWidth(const ShadeJob& job, const ShadeFrame& frame, float inverse_depth,
                                       int32_t triangle) {
  const float width_m = job.per_fx / inverse_depth;
  if (frame.material->mapping == TextureMapping::kCube) return width_m * frame.per_radius;
  if (frame.material->mapping != TextureMapping::kMesh) return width_m;
  return width_m * CoordinatesPerMetre(frame, triangle);
}

// The colour of a geom over the strip at (x, y), at these inverse depths and triangles; pixel_width() is that of the
// group of pixels.
template <class Width>
GS_HOST_DEVICE Colour ColourOn(const View& view, const ShadeJob& job, const ShadeFrame& frame, const LocalLight* lights,
                               int x, int y, Lanes inverse, const int32_t* triangle, const Width& pixel_width) {
  const Vec3 ray = RaysOf(view, job, x, y);
  const Lanes depth = Lanes(1.0f) / inverse;
  const auto along = [&](int i) {
    return Lanes(frame.axis[i][0]) * ray.x + (Lanes(frame.axis[i][1]) * ray.y + Lanes(frame.axis[i][2]));
  };
  const Vec3 sight = {along(0), along(1), along(2)};  // from the camera, to depth 1
  const Lanes per_length = QuickReciprocalRoot(ray.x * ray.x + (ray.y * ray.y + Lanes(1.0f)));
  Facet facet = {ToVec(frame.eye) + depth * sight, sight, (Lanes(0.0f) - per_length) * sight};
  facet.normal = LocalNormal(frame, triangle, facet.point);
  const Material& m = *frame.material;
  const Colour lit = LightOn(facet, job, lights, m);
  if (!m.texture) return lit;
  Vec3 at = facet.point;
  if (m.mapping == TextureMapping::kMesh) {
    at = {OnFacet(frame, triangle, at, 17, 2), OnFacet(frame, triangle, at, 18, 2), 0.0f};
  }
  // MuJoCo limits light before texture, but with shadows, which it draws light by light, not the sum.
  return (job.has_shadows ? lit : AtMostOne(lit)) * TextureAt(m, at, facet.normal, pixel_width());
}

// The colour of geom `id` over the strip at x.
GS_HOST_DEVICE inline Colour GeomColour(const View& view, const SceneJob& scene, const ShadeJob& job,
                                        const PixelRow& row, int x, int32_t id) {
  if (!job.frames[id].ready) SetFrame(scene, job, id);
  const ShadeFrame& frame = job.frames[id];
  int32_t triangle[kLanes] = {};
  if (frame.geom->shape == Shape::kMesh) {
    // Other lanes' triangles are not this mesh's.
    for (int i = 0; i < kLanes; ++i) triangle[i] = row.geom[x + i] == id ? row.triangle[x + i] : 0;
  }
  return ColourOn(view, job, frame, job.local_lights + id * job.light_count, x, row.y, Lanes::Load(row.inverse + x),
                  triangle, [&] {
                    // By the first pixel of the group that shows the geom.
                    int first = x / kDetailPixels * kDetailPixels;
                    while (row.geom[first] != id) ++first;
                    return PixelWidth(job, frame, row.inverse[first], row.triangle ? row.triangle[first] : 0);
                  });
}

GS_HOST_DEVICE inline Colour ToBytes(Colour c) {
  const Lanes half(0.5f);
  return Lanes(255.0f) * AtMostOne(c) + Colour{half, half, half};
}

// Writes the first `count` lanes.
GS_HOST_DEVICE inline void StoreStrip(uint8_t* out, Colour c, int count) {
  const Colour bytes = ToBytes(c);
  if (count >= kLanes) return StoreRgb(out, bytes.r, bytes.g, bytes.b);
  uint8_t part[3 * kLanes];
  StoreRgb(part, bytes.r, bytes.g, bytes.b);
  memcpy(out, part, static_cast<size_t>(3 * count));
}

inline void ShadeRow(const View& view, const SceneJob& scene, const ShadeJob& job, const PixelRow& row) {
  uint8_t* out = job.rgb + int64_t{3} * row.y * view.width;
  for (int x = 0; x < view.width; x += kLanes) {
    uint32_t left = Bits(FirstLanes(view.width - x));
    Colour strip = {0.0f, 0.0f, 0.0f};
    while (left) {
      const int32_t id = row.geom[x + FirstOf(left)];
      const LaneMask mine = Equal(row.geom + x, id);
      const Colour colour = id < 0 ? SkyAt(view, job, x, row.y) : GeomColour(view, scene, job, row, x, id);
      strip = Select(mine, colour, strip);
      left &= ~Bits(mine);
    }
    StoreStrip(out + int64_t{3} * x, strip, view.width - x);
  }
}

// A strip of what was written, 0 to 1.
GS_HOST_DEVICE inline Colour LoadStrip(const uint8_t* rgb, int count) {
  float channel[3][kLanes] = {};
  for (int i = 0; i < kLanes && i < count; ++i) {
    for (int c = 0; c < 3; ++c) channel[c][i] = static_cast<float>(rgb[3 * i + c]);
  }
  return Lanes(1.0f / 255) * Colour{Lanes::Load(channel[0]), Lanes::Load(channel[1]), Lanes::Load(channel[2])};
}

// How much of what is behind a translucent geom it covers. Of closed shapes MuJoCo shows the far side through the near
// one, lit from the same side: two layers of nearly the same colour.
GS_HOST_DEVICE inline float CoverOf(const Material& material, Shape shape) {
  return shape == Shape::kPlane ? material.alpha : material.alpha * (2 - material.alpha);
}

GS_HOST_DEVICE inline Colour Blended(float cover, Colour above, Colour below) {
  return Lanes(cover) * AtMostOne(above) + Lanes(1.0f - cover) * below;
}

// Lays the translucent geom `id` over a row, where the row shows it.
inline void BlendRow(const View& view, const SceneJob& scene, const ShadeJob& job, const PixelRow& row, int32_t id) {
  const float cover = CoverOf(MaterialOf(job, id), GeomOf(scene, id).shape);
  uint8_t* out = job.rgb + int64_t{3} * row.y * view.width;
  for (int x = 0; x < view.width; x += kLanes) {
    const LaneMask mine = Equal(row.geom + x, id) & FirstLanes(view.width - x);
    if (!Bits(mine)) continue;
    const Colour above = GeomColour(view, scene, job, row, x, id);
    const Colour below = LoadStrip(out + int64_t{3} * x, view.width - x);
    StoreStrip(out + int64_t{3} * x, Select(mine, Blended(cover, above, below), below), view.width - x);
  }
}

}  // namespace gripstream::GS_RENDER_ISA
