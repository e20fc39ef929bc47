// Colour of a drawn image: a model's materials, textures and lights, made ready for the kernels.
//
// The lighting model is the one of MuJoCo's classic renderer (ambient, diffuse and Blinn-Phong specular light, spot
// cones, attenuation, the headlight), but per pixel instead of per vertex and without shadows and reflections. Pixels
// that show nothing get the sky texture, or black where there is none; haze is left out. Lights on moving bodies need
// their poses in the SceneView. Translucent geoms are shown opaque. Flat textures are projected along the geom's z
// axis, as MuJoCo does on planes; meshes are shaded with the normals of their faces.
//
// Immutable after construction; Job is safe from several threads and allocates nothing; nothing throws.
#pragma once

#include <mujoco/mujoco.h>

#include <vector>

#include "sim_server/render/shade.h"
#include "sim_server/render/texture.h"

namespace gripstream {

class ColourShader {
 public:
  // Textures are kept in the library, which must outlive the shader.
  ColourShader(const mjModel& model, TextureLibrary* library);

  // `light_xpos`, `light_xdir` [nlight, 3] world frame, or null for where they are at qpos0. `lights` [mjMAXLIGHT] is
  // where the lights are put; it, `rgb` and the shader must outlive the job.
  ShadeJob Job(const SceneJob& scene, const double* light_xpos, const double* light_xdir, uint8_t* rgb,
               Light* lights) const;

 private:
  void AddMaterial(const mjModel& model, const mjvGeom& geom, TextureLibrary* library);

  std::vector<Material> materials_;  // by geom id
  std::vector<mjvLight> lights_;     // poses at qpos0
  const TextureView* sky_ = nullptr;
};

}  // namespace gripstream
