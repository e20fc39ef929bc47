// Lights a strip of one geom's pixels, in the geom's own frame.
//
// Ambient, diffuse and Blinn-Phong specular light per pixel; see colour.h for the model. Included by kernel files only
// (see lanes.h).
#pragma once

#include "sim_server/render/colour_lanes.h"

namespace gripstream::GS_RENDER_ISA {

// A strip's surface: a point, the unit normal outwards and the unit vector to the camera.
struct Facet {
  Vec3 point, normal, to_eye;
};

// A value that changes linearly over a mesh's triangle, at a point of it. Of the triangle's numbers (MeshFacet) `at` is
// the one at the first corner, `apart` and twice that further are the others' differences.
GS_HOST_DEVICE inline Lanes OnFacet(const ShadeFrame& frame, const int32_t* triangle, Vec3 p, int at, int apart) {
  int32_t index[kLanes];
  for (int i = 0; i < kLanes; ++i) index[i] = kFacetFloats * triangle[i];
  const auto number = [&](int i) { return Lanes::Gather(frame.mesh->facets + i, index); };
  const auto weight = [&](int i) {
    const Lanes w = number(i) * p.x + number(i + 1) * p.y + (number(i + 2) * p.z + number(i + 3));
    return Min(Max(w, Lanes(0.0f)), Lanes(1.0f));
  };
  return number(at) + weight(0) * number(at + apart) + weight(4) * number(at + 2 * apart);
}

// Unit normal outwards at a point of the geom's surface.
GS_HOST_DEVICE inline Vec3 LocalNormal(const ShadeFrame& frame, const int32_t* triangle, Vec3 p) {
  const float* size = frame.geom->size;
  const Lanes sx(size[0]), sy(size[1]), sz(size[2]), zero(0.0f), one(1.0f);
  const Lanes per_radius(frame.per_radius);
  const auto sign = [&](Lanes x) { return Select(x < zero, Lanes(-1.0f), one); };
  switch (frame.geom->shape) {
    case Shape::kPlane:
      return {zero, zero, one};
    case Shape::kEllipsoid:
      if (size[0] == size[1] && size[1] == size[2]) return per_radius * p;
      return Unit({p.x / (sx * sx), p.y / (sy * sy), p.z / (sz * sz)});
    case Shape::kCapsule:
      return {per_radius * p.x, per_radius * p.y, per_radius * (p.z - Max(Min(p.z, sy), zero - sy))};
    case Shape::kCylinder: {
      // Whichever boundary the point is nearest to: the side or a flat end.
      const Lanes across = p.x * p.x + p.y * p.y;
      const LaneMask side = Abs(across * FastReciprocalRoot(across) - sx) < Abs(Abs(p.z) - sy);
      return {Keep(side, per_radius * p.x), Keep(side, per_radius * p.y), Select(side, zero, sign(p.z))};
    }
    case Shape::kBox: {
      const Lanes x = Abs(Abs(p.x) - sx), y = Abs(Abs(p.y) - sy), z = Abs(Abs(p.z) - sz);
      const LaneMask on_x = (x <= y) & (x <= z), on_y = y <= z;
      return {Keep(on_x, sign(p.x)), Select(on_x, zero, Keep(on_y, sign(p.y))),
              Select(on_x, zero, Select(on_y, zero, sign(p.z)))};
    }
    case Shape::kMesh:
      return Unit(
          {OnFacet(frame, triangle, p, 8, 3), OnFacet(frame, triangle, p, 9, 3), OnFacet(frame, triangle, p, 10, 3)});
  }
  return {zero, zero, one};
}

// Where nothing lies between the light and a point. The point is taken off its surface by the width of a map's pixel,
// so that the surface does not shade itself.
[[gnu::noinline]] GS_HOST_DEVICE inline LaneMask OutOfShadow(const Facet& f, const ShadowMap& map,
                                                             const float matrix[3][4]) {
  const auto row = [&](int i, Vec3 p) {
    const float* m = matrix[i];
    return Lanes(m[0]) * p.x + Lanes(m[1]) * p.y + (Lanes(m[2]) * p.z + Lanes(m[3]));
  };
  const Lanes pixel_m = Lanes(2.0f / map.focal_px) * Max(row(2, f.point), Lanes(0.0f));
  const Vec3 p = f.point + Vec3{pixel_m * f.normal.x, pixel_m * f.normal.y, pixel_m * f.normal.z};
  const Lanes inverse = Lanes(1.0f) / Max(row(2, p), Lanes(1e-6f)), last(static_cast<float>(map.pixels - 1));
  const Lanes middle(map.middle_px), focal = Lanes(map.focal_px) * inverse, zero(0.0f);
  const Lanes x = row(0, p) * focal + middle, y = row(1, p) * focal + middle;
  const Lanes column = Trunc(Min(Max(x, zero), last)), line = Trunc(Min(Max(y, zero), last));
  const Lanes seen = GatherAt(map.inverse, line * Lanes(static_cast<float>(map.stride)) + column);
  // What the map does not show is lit.
  const LaneMask shown = (zero <= x) & (x <= last) & (zero <= y) & (y <= last);
  return Keep(shown, seen) <= Lanes(1.002f) * inverse;
}

// Diffuse (ambient included) and specular light that reaches a strip.
struct Lighting {
  Colour diffuse, specular;
};

[[gnu::always_inline]] GS_HOST_DEVICE inline void AddLight(const Facet& f, const Light& light, const LocalLight& local,
                                                           const Material& m, Lighting* sum) {
  const Lanes zero(0.0f);
  Vec3 to_light = ToVec(local.place);
  Lanes reach(1.0f);
  if (!light.directional) {
    const Vec3 away = to_light - f.point;
    const Lanes squared = Dot(away, away), toward = zero - Dot(away, ToVec(local.direction));
    LaneMask inside = zero <= squared;
    if (light.cone) {
      const float c = light.cos_cutoff;
      inside = Lanes(c * c) * squared <= toward * Max(toward, zero);
      if (!Bits(inside)) return;
    }
    const Lanes per_distance = QuickReciprocalRoot(squared);
    to_light = per_distance * away;
    if (light.attenuated) {
      const float* a = light.attenuation;
      const Lanes distance = squared * per_distance;
      reach = FastReciprocal(Max(Lanes(a[0]) + distance * (Lanes(a[1]) + distance * Lanes(a[2])), Lanes(1e-6f)));
    }
    if (light.cone) reach = Keep(inside, reach * FallOff(toward * per_distance, light.fall_off));
  }
  if (light.has_ambient) sum->diffuse = sum->diffuse + reach * ToColour(light.ambient);
  const Lanes facing = Dot(f.normal, to_light);
  LaneMask lit = zero < facing;
  if (!Bits(lit)) return;
  if (light.shadow) lit = lit & OutOfShadow(f, *light.shadow, local.shadow);
  sum->diffuse = sum->diffuse + (reach * Keep(lit, facing)) * ToColour(light.diffuse);
  if (!light.has_specular || !(m.specular > 0)) return;
  const Vec3 half = to_light + f.to_eye;
  const Lanes cosine = Dot(f.normal, half) * FastReciprocalRoot(Dot(half, half));
  const LaneMask shines = lit & (Lanes(m.highlight.floor) < cosine);
  if (!Bits(shines)) return;
  sum->specular = sum->specular + Keep(shines, reach * FallOff(cosine, m.highlight)) * ToColour(light.specular);
}

// The colour of an untextured surface.
GS_HOST_DEVICE inline Colour LightOn(const Facet& f, const ShadeJob& job, const LocalLight* local, const Material& m) {
  const Lanes glow(m.emission);
  Lighting sum = {{glow, glow, glow}, {0.0f, 0.0f, 0.0f}};
  for (int i = 0; i < job.light_count; ++i) AddLight(f, job.lights[i], local[i], m, &sum);
  return ToColour(m.colour) * sum.diffuse + Lanes(m.specular) * sum.specular;
}

}  // namespace gripstream::GS_RENDER_ISA
