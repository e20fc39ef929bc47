// Colours a drawn image: runs of pixels that show one geom, kLanes at a time, in the camera's optical frame.
//
// Blinn-Phong lighting per pixel with the geom's analytic normal; see colour.h for the model. Included by kernel files
// only (see lanes.h).
#pragma once

#include <string.h>

#include "sim_server/render/camera_geoms.h"
#include "sim_server/render/shade.h"
#include "sim_server/render/surface_setup.h"

namespace gripstream::GS_RENDER_ISA {

struct Colour {
  Lanes r, g, b;
};
GS_HOST_DEVICE inline Colour operator+(Colour a, Colour b) {
  return {a.r + b.r, a.g + b.g, a.b + b.b};
}
GS_HOST_DEVICE inline Colour operator*(Colour a, Colour b) {
  return {a.r * b.r, a.g * b.g, a.b * b.b};
}
GS_HOST_DEVICE inline Colour operator*(Lanes k, Colour a) {
  return {k * a.r, k * a.g, k * a.b};
}
GS_HOST_DEVICE inline Colour ToColour(const float v[3]) {
  return {v[0], v[1], v[2]};
}
GS_HOST_DEVICE inline Vec3 ToVec(const float v[3]) {
  return {v[0], v[1], v[2]};
}

GS_HOST_DEVICE inline Vec3 Unit(Vec3 a) {
  return (Lanes(1.0f) / Sqrt(Max(Dot(a, a), Lanes(1e-30f)))) * a;
}
GS_HOST_DEVICE inline Lanes Floor(Lanes x) {
  const Lanes whole = Trunc(x);
  return whole - Keep(x < whole, Lanes(1.0f));
}

// x^n for x in [0, 1] and n >= 1, to about 1 % where it matters: a series for the logarithm, squarings for the power.
GS_HOST_DEVICE inline Lanes Power(Lanes x, Lanes n) {
  x = Max(x, Lanes(1e-3f));
  const Lanes w = (x - Lanes(1.0f)) / (x + Lanes(1.0f)), ww = w * w;
  const Lanes log =
      Lanes(2.0f) * w * (Lanes(1.0f) + ww * (Lanes(1.0f / 3) + ww * (Lanes(0.2f) + ww * Lanes(1.0f / 7))));
  Lanes power = Max(Lanes(1.0f) + n * log * Lanes(1.0f / 256), Lanes(0.0f));
  for (int i = 0; i < 8; ++i) power = power * power;
  return power;
}

// Bilinear look-up at texel coordinates (x, y) of one face; repeating, or held at the border.
inline Colour LookFace(const TextureView& t, int level, Lanes face, Lanes x, Lanes y, bool repeat) {
  const Lanes width(static_cast<float>(t.width[level])), height(static_cast<float>(t.height[level]));
  const Lanes x0 = Floor(x), y0 = Floor(y), zero(0.0f), one(1.0f);
  const auto wrap = [&](Lanes i, Lanes n) {
    if (!repeat) return Min(Max(i, zero), n - one);
    const Lanes wrapped = i - n * Floor(i / n);
    return Min(Max(wrapped, zero), n - one);
  };
  const Lanes fx = x - x0, fy = y - y0;
  const Lanes column[2] = {wrap(x0, width), wrap(x0 + one, width)};
  const Lanes row[2] = {wrap(y0, height), wrap(y0 + one, height)};
  Colour sum = {0.0f, 0.0f, 0.0f};
  for (int k = 0; k < 4; ++k) {
    const Lanes weight = (k % 2 ? fx : one - fx) * (k / 2 ? fy : one - fy);
    int32_t index[kLanes];
    StoreInt(index, (face * height + row[k / 2]) * width + column[k % 2]);
    Colour texel = {0.0f, 0.0f, 0.0f};
    GatherBytes(t.texels[level], index, &texel.r, &texel.g, &texel.b);
    sum = sum + weight * texel;
  }
  return Lanes(1.0f / 255) * sum;
}

// The usual convention of cube maps: the face of the largest coordinate, then the two others over it.
inline Colour LookCube(const TextureView& t, Vec3 d) {
  const Lanes ax = Abs(d.x), ay = Abs(d.y), az = Abs(d.z), zero(0.0f);
  const LaneMask px = zero < d.x, py = zero < d.y, pz = zero < d.z;
  const LaneMask x_largest = (ay <= ax) & (az <= ax), y_over_z = az <= ay;
  const auto pick = [&](Lanes x, Lanes y, Lanes z) { return Select(x_largest, x, Select(y_over_z, y, z)); };
  const Lanes face = pick(Select(px, 0.0f, 1.0f), Select(py, 2.0f, 3.0f), Select(pz, 4.0f, 5.0f));
  const Lanes s = pick(Select(px, zero - d.z, d.z), d.x, Select(pz, d.x, zero - d.x));
  const Lanes v = pick(zero - d.y, Select(py, d.z, zero - d.z), zero - d.y);
  const Lanes scale = Lanes(0.5f) / Max(pick(ax, ay, az), Lanes(1e-30f));
  const Lanes size(static_cast<float>(t.width[0])), half(0.5f);
  return LookFace(t, 0, face, (s * scale + half) * size - half, (v * scale + half) * size - half, false);
}

// Texture at a point of the geom's surface, both in its frame. The level of detail is that of the strip's first pixel:
// texels across a pixel by the side that a slant does not stretch, which is as sharp as anisotropic filters make it.
inline Colour TextureAt(const Material& m, Vec3 local, Vec3 normal, float pixel_m) {
  const TextureView& t = *m.texture;
  if (m.mapping == TextureMapping::kCube) {
    return LookCube(t, {Lanes(m.cube[0]) * local.x, Lanes(m.cube[1]) * local.y, Lanes(m.cube[2]) * local.z});
  }
  Lanes p = local.x, q = local.y;
  if (m.mapping == TextureMapping::kBox) {
    const Lanes ax = Abs(normal.x), ay = Abs(normal.y), az = Abs(normal.z);
    const LaneMask x_most = (ay <= ax) & (az <= ax), y_over_z = az <= ay;
    p = Select(x_most, local.y, local.x);
    q = Select(x_most, local.z, Select(y_over_z, local.z, local.y));
  }
  const auto texels = [&](const float row[3], int size) {
    return (row[0] * row[0] + row[1] * row[1]) * static_cast<float>(size) * static_cast<float>(size);
  };
  const float across = texels(m.across, t.width[0]), down = texels(m.down, t.height[0]);
  float squared = pixel_m * pixel_m * (across < down ? across : down);
  int level = 0;
  for (; squared > 2.0f && level + 1 < t.level_count; squared *= 0.25f) ++level;
  const Lanes u = Lanes(m.across[0]) * p + Lanes(m.across[1]) * q + Lanes(m.across[2]);
  const Lanes v = Lanes(m.down[0]) * p + Lanes(m.down[1]) * q + Lanes(m.down[2]);
  return LookFace(t, level, 0.0f, u * Lanes(static_cast<float>(t.width[level])) - Lanes(0.5f),
                  v * Lanes(static_cast<float>(t.height[level])) - Lanes(0.5f), true);
}

// Outward normal at a point of the geom's surface, both in its frame; not of unit length.
inline Vec3 LocalNormal(const DrawnGeom& geom, const SceneJob& scene, const int32_t* triangle, Vec3 p) {
  const Lanes sx(geom.size[0]), sy(geom.size[1]), sz(geom.size[2]), zero(0.0f), one(1.0f);
  switch (geom.shape) {
    case Shape::kPlane:
      return {zero, zero, one};
    case Shape::kEllipsoid:
      return {p.x / (sx * sx), p.y / (sy * sy), p.z / (sz * sz)};
    case Shape::kCapsule:
      return {p.x, p.y, p.z - Max(Min(p.z, sy), zero - sy)};
    case Shape::kCylinder: {
      // Whichever boundary the point is nearest to: the side or a flat end.
      const LaneMask side = Abs(Sqrt(p.x * p.x + p.y * p.y) - sx) < Abs(Abs(p.z) - sy);
      return {Keep(side, p.x), Keep(side, p.y), Select(side, zero, p.z)};
    }
    case Shape::kBox: {
      const Lanes x = Abs(Abs(p.x) - sx), y = Abs(Abs(p.y) - sy), z = Abs(Abs(p.z) - sz);
      const LaneMask on_x = (x <= y) & (x <= z), on_y = y <= z;
      return {Keep(on_x, p.x), Select(on_x, zero, Keep(on_y, p.y)), Select(on_x, zero, Select(on_y, zero, p.z))};
    }
    case Shape::kMesh: {
      const MeshJob* mesh = scene.meshes;
      while (mesh->geom != geom.id) ++mesh;
      return {Lanes::Gather(mesh->normal[0], triangle), Lanes::Gather(mesh->normal[1], triangle),
              Lanes::Gather(mesh->normal[2], triangle)};
    }
  }
  return {zero, zero, one};
}

// A pixel's surface in the optical frame.
struct Facet {
  Vec3 point, normal, to_eye;
};

inline Colour LightOn(const Facet& f, const Light& light, const Material& m, Colour colour) {
  const Lanes zero(0.0f);
  const Vec3 away = ToVec(light.position) - f.point;
  Vec3 to_light = (Lanes(-1.0f)) * ToVec(light.direction);
  Lanes reach(1.0f);
  if (!light.directional) {
    const Lanes distance = Sqrt(Dot(away, away));
    to_light = Unit(away);
    const float* a = light.attenuation;
    reach = Lanes(1.0f) / Max(Lanes(a[0]) + distance * (Lanes(a[1]) + distance * Lanes(a[2])), Lanes(1e-6f));
    if (light.cos_cutoff >= -1) {
      const Lanes cosine = zero - Dot(to_light, ToVec(light.direction));
      reach = Keep(Lanes(light.cos_cutoff) <= cosine, reach * Power(cosine, light.exponent));
    }
  }
  const Lanes facing = Max(Dot(f.normal, to_light), zero);
  Colour sum = colour * (ToColour(light.ambient) + facing * ToColour(light.diffuse));
  if (m.specular > 0) {
    const Lanes half = Max(Dot(f.normal, Unit(to_light + f.to_eye)), zero);
    const Lanes highlight = Keep(zero < facing, Lanes(m.specular) * Power(half, m.exponent));
    sum = sum + highlight * ToColour(light.specular);
  }
  return reach * sum;
}

// Writes the first `count` lanes as bytes. A pixel is written as four bytes where the next one writes over the fourth.
inline void StoreRgb(uint8_t* out, Colour c, int count) {
  const auto to_byte = [](Lanes x) {
    return Trunc(Min(Max(x, Lanes(0.0f)), Lanes(1.0f)) * Lanes(255.0f) + Lanes(0.5f));
  };
  int32_t packed[kLanes];  // exact: below 2^24
  StoreInt(packed, to_byte(c.r) + Lanes(256.0f) * to_byte(c.g) + Lanes(65536.0f) * to_byte(c.b));
  const int last = (count < kLanes ? count : kLanes) - 1;
  for (int i = 0; i < last; ++i) memcpy(out + 3 * i, packed + i, 4);
  memcpy(out + 3 * last, packed + last, 3);
}

// Directions of a strip's rays, z = 1.
inline Vec3 RaysOf(const View& view, int x, int y) {
  return {(Lanes::Iota() + Lanes(static_cast<float>(x) + 0.5f - view.cx)) * Lanes(1.0f / view.fx),
          Lanes((static_cast<float>(y) + 0.5f - view.cy) / view.fy), 1.0f};
}

// The backdrop at a strip of pixels.
inline Colour BackdropAt(const TextureView& t, const View& view, int x, int y) {
  int level = 0;
  while (level + 1 < t.level_count && t.width[level] >= 2 * view.width) ++level;
  const float across = static_cast<float>(t.width[level]) / static_cast<float>(view.width);
  const float down = static_cast<float>(t.height[level]) / static_cast<float>(view.height);
  return LookFace(t, level, 0.0f, (Lanes::Iota() + Lanes(static_cast<float>(x) + 0.5f)) * Lanes(across) - Lanes(0.5f),
                  (static_cast<float>(y) + 0.5f) * down - 0.5f, false);
}

inline Colour SkyAt(const View& view, const ShadeJob& job, int x, int y) {
  if (job.backdrop) return BackdropAt(*job.backdrop, view, x, y);
  const Vec3 ray = RaysOf(view, x, y);
  if (!job.sky) return {0.0f, 0.0f, 0.0f};
  const float* m = job.world_from_optical;
  const auto row = [&](int i) { return Lanes(m[i]) * ray.x + Lanes(m[i + 1]) * ray.y + Lanes(m[i + 2]) * ray.z; };
  // MuJoCo's sky has its top at +z of the world, a cube map's at +y.
  return LookCube(*job.sky, {row(0), row(6), Lanes(0.0f) - row(3)});
}

inline const Material& MaterialOf(const ShadeJob& job, int32_t geom) {
  const int32_t slot = job.own_slot ? job.own_slot[geom] : -1;
  return slot >= 0 ? job.own_materials[slot] : job.materials[geom];
}

inline Colour SurfaceColour(const View& view, const SceneJob& scene, const ShadeJob& job, const CameraGeoms& pose,
                            const DrawnGeom& geom, Vec3 ray, const float* inverse, const int32_t* triangle) {
  const Lanes depth = Lanes(1.0f) / Lanes::Load(inverse);
  const Vec3 point = depth * ray, rel = point - pose.centre;
  const Vec3 local = {Dot(pose.axis[0], rel), Dot(pose.axis[1], rel), Dot(pose.axis[2], rel)};
  const Vec3 n = LocalNormal(geom, scene, triangle, local);
  const Facet facet = {point, Unit(n.x * pose.axis[0] + n.y * pose.axis[1] + n.z * pose.axis[2]),
                       Unit(Lanes(-1.0f) * point)};
  const Material& m = MaterialOf(job, geom.id);
  const Colour colour = ToColour(m.colour);
  Colour sum = Lanes(m.emission) * colour;
  for (int i = 0; i < job.light_count; ++i) sum = sum + LightOn(facet, job.lights[i], m, colour);
  return m.texture ? sum * TextureAt(m, local, n, 1.0f / (*inverse * view.fx)) : sum;
}

inline const DrawnGeom& GeomOf(const SceneJob& scene, int32_t id) {
  int low = 0, high = scene.geom_count - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    scene.geoms[middle].id < id ? low = middle + 1 : high = middle;
  }
  return scene.geoms[low];
}

inline void ShadeRow(const View& view, const SceneJob& scene, const Canvas& canvas, const ShadeJob& job, int y) {
  const int64_t row = int64_t{y} * canvas.stride;
  uint8_t* out = job.rgb + int64_t{3} * y * view.width;
  for (int x = 0; x < view.width;) {
    const int32_t id = canvas.geom[row + x];
    int end = x + 1;
    while (end < view.width && canvas.geom[row + end] == id) ++end;
    if (id < 0) {
      for (; x < end; x += kLanes) StoreRgb(out + int64_t{3} * x, SkyAt(view, job, x, y), end - x);
    } else {
      int ids[kLanes];
      for (int& same : ids) same = id;
      const CameraGeoms pose = ToCamera(scene, ids);
      const DrawnGeom& geom = GeomOf(scene, id);
      for (; x < end; x += kLanes) {
        // Lanes beyond the run may belong to other geoms: their triangles are not this mesh's.
        int32_t triangle[kLanes];
        for (int i = 0; i < kLanes; ++i) triangle[i] = x + i < end ? canvas.triangle[row + x + i] : 0;
        StoreRgb(
            out + int64_t{3} * x,
            SurfaceColour(view, scene, job, pose, geom, RaysOf(view, x, y), canvas.inverse_depth + row + x, triangle),
            end - x);
      }
    }
    x = end;
  }
}

}  // namespace gripstream::GS_RENDER_ISA
