#include "sim_server/render/colour.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim_server/render/shadow_map.h"

namespace gripstream {
namespace {

// World vector to the optical frame.
void ToOptical(const SceneJob& scene, const double v[3], float out[3]) {
  const double* m = scene.optical_from_world;
  for (int i = 0; i < 3; ++i) out[i] = static_cast<float>(m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2]);
}

void Turn(const float turn[9], const double about[3], double v[3]) {
  const double d[3] = {v[0] - about[0], v[1] - about[1], v[2] - about[2]};
  for (int i = 0; i < 3; ++i) {
    v[i] = about[i] + double{turn[3 * i]} * d[0] + double{turn[3 * i + 1]} * d[1] + double{turn[3 * i + 2]} * d[2];
  }
}

// The light's pose in the world, seen from the camera.
void PlaceLight(const mjvLight& light, const SceneJob& scene, const SceneView& view, const double centre[3],
                const LightChange* change, Light* out) {
  if (light.headlight) {
    out->direction[2] = 1;
    return;
  }
  const bool moved = view.light_xpos && view.light_xdir;
  double position[3], direction[3];
  for (int i = 0; i < 3; ++i) {
    position[i] = moved ? view.light_xpos[3 * light.id + i] : double{light.pos[i]};
    direction[i] = moved ? view.light_xdir[3 * light.id + i] : double{light.dir[i]};
  }
  if (change) {
    const double origin[3] = {0, 0, 0};
    Turn(change->turn, centre, position);
    Turn(change->turn, origin, direction);
  }
  for (int i = 0; i < 3; ++i) position[i] -= scene.camera_xpos[i];
  ToOptical(scene, position, out->position);
  mju_normalize3(direction);
  ToOptical(scene, direction, out->direction);
}

Light LightOf(const mjvLight& light, const SceneJob& scene, const SceneView& view, const double centre[3],
              const LightChange* change) {
  Light out = {};
  PlaceLight(light, scene, view, centre, change, &out);
  out.casts_shadow = CastsShadow(light);
  out.directional = light.type == mjLIGHT_DIRECTIONAL;
  out.cone = light.type == mjLIGHT_SPOT && !light.headlight && light.cutoff < 180;
  out.cos_cutoff = static_cast<float>(std::max(0.0, std::cos(light.cutoff * std::numbers::pi / 180)));
  out.fall_off = light.exponent < 0.5f ? Lobe{0, 0} : LobeOf(light.exponent);
  out.attenuated = light.attenuation[0] != 1 || light.attenuation[1] != 0 || light.attenuation[2] != 0;
  for (int i = 0; i < 3; ++i) {
    out.attenuation[i] = light.attenuation[i];
    out.ambient[i] = light.ambient[i] * (change ? change->ambient[i] : 1);
    out.diffuse[i] = light.diffuse[i] * (change ? change->diffuse[i] : 1);
    out.specular[i] = light.specular[i] * (change ? change->specular[i] : 1);
    out.has_ambient = out.has_ambient || out.ambient[i] > 0;
    out.has_specular = out.has_specular || out.specular[i] > 0;
  }
  return out;
}

}  // namespace

ShadeJob ColourShader::Job(const SceneJob& job, const SceneView& scene, const View& view, uint8_t* rgb,
                           const ShadeScratch& scratch) const {
  const Appearance own = scene.appearance ? *scene.appearance : Appearance{};
  const size_t count = look_.lights.size();
  for (size_t i = 0; i < count; ++i) {
    scratch.lights[i] = LightOf(look_.lights[i], job, scene, look_.centre, own.lights ? own.lights + i : nullptr);
  }
  ShadeJob shade = {};
  shade.materials = look_.materials.data();
  shade.own_materials = own.materials, shade.own_slot = own.slot_of_geom;
  shade.lights = scratch.lights, shade.light_count = static_cast<int>(count);
  shade.backdrop = own.backdrop, shade.sky = look_.sky;
  shade.frames = scratch.frames, shade.local_lights = scratch.local_lights;
  shade.per_fx = 1.0f / view.fx, shade.per_fy = 1.0f / view.fy;
  shade.rgb = rgb;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      shade.world_from_optical[3 * i + j] = static_cast<float>(job.optical_from_world[3 * j + i]);
  }
  return shade;
}

}  // namespace gripstream
