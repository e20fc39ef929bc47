#include "sim_server/render/model_look.h"

#include <algorithm>

namespace gripstream {
namespace {

// Flat textures are projected along z: they start in the corner at -x, +y of bounded geoms, and have their middle at
// the centre of unbounded ones.
void PlaceTexture(const mjModel& model, const mjvGeom& geom, Material* material) {
  float* rows[2] = {material->across, material->down};
  for (int k = 0; k < 3; ++k) {
    const float size = static_cast<float>(model.geom_size[3 * geom.objid + k]);
    const bool bounded = size > 0;
    material->cube[k] = geom.texuniform || !bounded ? 1.0f : 1.0f / size;
    if (k == 2) break;
    const float per_m = 0.5f * geom.texrepeat[k] * material->cube[k];
    rows[k][k] = k == 0 ? per_m : -per_m;
    rows[k][2] = bounded ? per_m * size : -0.5f;
  }
}

Material MaterialOf(const mjModel& model, const mjvGeom& geom, TextureLibrary* library) {
  const int texture = geom.matid >= 0 ? model.mat_texid[geom.matid * mjNTEXROLE + mjTEXROLE_RGB] : -1;
  Material material = {};
  std::copy_n(geom.rgba, 3, material.colour);
  material.alpha = geom.rgba[3];
  material.emission = geom.emission;
  material.specular = geom.specular;
  material.highlight = LobeOf(128 * geom.shininess);
  if (texture < 0) return material;
  material.texture = library->Add(model, texture);
  material.mapping = material.texture->face_count == 6 ? TextureMapping::kCube : TextureMapping::kFlat;
  PlaceTexture(model, geom, &material);
  if (geom.texcoord && material.mapping == TextureMapping::kFlat) {
    material.mapping = TextureMapping::kMesh;
    material.across[0] = geom.texrepeat[0], material.down[1] = geom.texrepeat[1];
    material.across[2] = material.down[2] = 0;
  }
  return material;
}

}  // namespace

ModelLook LookOf(const mjModel& model, TextureLibrary* library) {
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
  ModelLook look;
  look.materials.resize(static_cast<size_t>(model.ngeom));
  for (int i = 0; i < scene.ngeom; ++i) {
    const mjvGeom& geom = scene.geoms[i];
    if (geom.objtype == mjOBJ_GEOM) look.materials[static_cast<size_t>(geom.objid)] = MaterialOf(model, geom, library);
  }
  look.lights.assign(scene.lights, scene.lights + scene.nlight);
  std::copy_n(model.stat.center, 3, look.centre);
  look.extent_m = model.stat.extent;
  for (int i = 0; i < model.ntex; ++i) {
    if (model.tex_type[i] == mjTEXTURE_SKYBOX) look.sky = library->Add(model, i);
  }
  mj_deleteData(data);
  mjv_freeScene(&scene);
  return look;
}

}  // namespace gripstream
