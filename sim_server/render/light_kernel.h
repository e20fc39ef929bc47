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
    case Shape::kMesh: {
      const MeshJob& mesh = *frame.mesh;
      return {Lanes::Gather(mesh.normal[0], triangle), Lanes::Gather(mesh.normal[1], triangle),
              Lanes::Gather(mesh.normal[2], triangle)};
    }
  }
  return {zero, zero, one};
}

// Diffuse (ambient included) and specular light that reaches a strip.
struct Lighting {
  Colour diffuse, specular;
};

GS_HOST_DEVICE inline void AddLight(const Facet& f, const Light& light, const LocalLight& local, const Material& m,
                                    Lighting* sum) {
  const Lanes zero(0.0f);
  Vec3 to_light = ToVec(local.place);
  Lanes reach(1.0f);
  if (!light.directional) {
    const Vec3 away = to_light - f.point;
    const Lanes squared = Dot(away, away), per_distance = FastReciprocalRoot(squared);
    to_light = per_distance * away;
    if (light.attenuated) {
      const float* a = light.attenuation;
      const Lanes distance = squared * per_distance;
      reach = FastReciprocal(Max(Lanes(a[0]) + distance * (Lanes(a[1]) + distance * Lanes(a[2])), Lanes(1e-6f)));
    }
    if (light.cone) {
      const Lanes cosine = zero - Dot(to_light, ToVec(local.direction));
      const LaneMask inside = Lanes(light.cos_cutoff) <= cosine;
      if (!Bits(inside)) return;
      reach = Keep(inside, reach * FallOff(cosine, light.fall_off));
    }
  }
  if (light.has_ambient) sum->diffuse = sum->diffuse + reach * ToColour(light.ambient);
  const Lanes facing = Dot(f.normal, to_light);
  const LaneMask lit = zero < facing;
  if (!Bits(lit)) return;
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
