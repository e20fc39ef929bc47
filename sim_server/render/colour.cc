#include "sim_server/render/colour.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gripstream {
namespace {

// World vector to the optical frame.
void ToOptical(const SceneJob& scene, const double v[3], float out[3]) {
  const double* m = scene.optical_from_world;
  for (int i = 0; i < 3; ++i) out[i] = static_cast<float>(m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2]);
}

// The light where it is in the world, seen from the camera.
Light PlaceLight(const mjvLight& light, const SceneJob& scene, const double* light_xpos, const double* light_xdir) {
  Light out = {};
  if (light.headlight) {
    out.direction[2] = 1;
  } else {
    double offset[3], direction[3];
    for (int i = 0; i < 3; ++i) {
      const bool moved = light_xpos && light_xdir;
      offset[i] = (moved ? light_xpos[3 * light.id + i] : double{light.pos[i]}) - scene.camera_xpos[i];
      direction[i] = moved ? light_xdir[3 * light.id + i] : double{light.dir[i]};
    }
    ToOptical(scene, offset, out.position);
    ToOptical(scene, direction, out.direction);
  }
  out.directional = light.type == mjLIGHT_DIRECTIONAL;
  const bool cone = light.type == mjLIGHT_SPOT && !light.headlight && light.cutoff < 180;
  out.cos_cutoff = cone ? static_cast<float>(std::cos(light.cutoff * std::numbers::pi / 180)) : -2.0f;
  out.exponent = light.exponent;
  for (int i = 0; i < 3; ++i) {
    out.attenuation[i] = light.attenuation[i];
    out.ambient[i] = light.ambient[i], out.diffuse[i] = light.diffuse[i], out.specular[i] = light.specular[i];
  }
  return out;
}

}  // namespace

ColourShader::ColourShader(const mjModel& model, TextureLibrary* library) {
  // MuJoCo itself says which colour, material and lights its renderer would use.
  mjvScene scene;
  mjvOption option;
  mjvCamera camera;
  mjv_defaultScene(&scene);
  mjv_defaultOption(&option);
  mjv_defaultCamera(&camera);
  mjv_makeScene(&model, &scene, static_cast<int>(model.ngeom) + 100);
  mjData* data = mj_makeData(&model);
  mj_forward(&model, data);
  mjv_updateScene(&model, data, &option, nullptr, &camera, mjCAT_STATIC | mjCAT_DYNAMIC, &scene);
  materials_.resize(static_cast<size_t>(model.ngeom));
  for (int i = 0; i < scene.ngeom; ++i) {
    if (scene.geoms[i].objtype == mjOBJ_GEOM) AddMaterial(model, scene.geoms[i], library);
  }
  lights_.assign(scene.lights, scene.lights + scene.nlight);
  for (int i = 0; i < model.ntex; ++i) {
    if (model.tex_type[i] == mjTEXTURE_SKYBOX) sky_ = library->Add(model, i);
  }
  mj_deleteData(data);
  mjv_freeScene(&scene);
}

void ColourShader::AddMaterial(const mjModel& model, const mjvGeom& geom, TextureLibrary* library) {
  const int texture = geom.matid >= 0 ? model.mat_texid[geom.matid * mjNTEXROLE + mjTEXROLE_RGB] : -1;
  Material& material = materials_[static_cast<size_t>(geom.objid)];
  std::copy_n(geom.rgba, 3, material.colour);
  material.emission = geom.emission;
  material.specular = geom.specular;
  material.exponent = std::max(1.0f, 128 * geom.shininess);
  material.texture = texture >= 0 ? library->Add(model, texture) : nullptr;
  for (int k = 0; k < 3; ++k) {
    const float size = static_cast<float>(model.geom_size[3 * geom.objid + k]);
    material.scale[k] = geom.texuniform || !(size > 0) ? 1.0f : 1.0f / size;
    const bool flat = material.texture && material.texture->face_count == 1;
    if (flat && k < 2) material.scale[k] *= 0.5f * geom.texrepeat[k];
  }
}

ShadeJob ColourShader::Job(const SceneJob& scene, const double* light_xpos, const double* light_xdir, uint8_t* rgb,
                           Light* lights) const {
  ShadeJob job = {materials_.data(), lights, static_cast<int>(lights_.size()), sky_, {}, rgb};
  for (size_t i = 0; i < lights_.size(); ++i) lights[i] = PlaceLight(lights_[i], scene, light_xpos, light_xdir);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      job.world_from_optical[3 * i + j] = static_cast<float>(scene.optical_from_world[3 * j + i]);
  }
  return job;
}

}  // namespace gripstream
