// Colour of a drawn image: a model's look, and an environment's own, made ready for the kernels.
//
// The lighting model is the one of MuJoCo's classic renderer (ambient, diffuse and Blinn-Phong specular light, spot
// cones, attenuation, the headlight), but per pixel instead of per vertex, without reflections, and with hard shadows
// where they are asked for (shadow_map.h); translucent geoms are laid over in order of distance. See docs/rendering.md.
// Lights on moving bodies need their poses in the SceneView.
//
// Immutable after construction; Job is safe from several threads and allocates nothing; nothing throws.
#pragma once

#include <mujoco/mujoco.h>

#include "sim_server/render/appearance.h"
#include "sim_server/render/model_look.h"
#include "sim_server/render/scene_view.h"
#include "sim_server/render/shade.h"
#include "sim_server/render/texture.h"

namespace gripstream {

// A thread's memory for shading.
struct ShadeScratch {
  Light* lights;             // [Lights()]
  ShadeFrame* frames;        // [ngeom]
  LocalLight* local_lights;  // [ngeom, Lights()]
};

class ColourShader {
 public:
  // Textures are kept in the library, which must outlive the shader.
  ColourShader(const mjModel& model, TextureLibrary* library) : look_(LookOf(model, library)) {}

  // Of the scene view its lights' poses and its appearance count. Scratch, `rgb` and the shader must outlive the job.
  ShadeJob Job(const SceneJob& job, const SceneView& scene, const View& view, uint8_t* rgb,
               const ShadeScratch& scratch) const;
  size_t Lights() const { return look_.lights.size(); }
  const ModelLook& Look() const { return look_; }

 private:
  ModelLook look_;
};

}  // namespace gripstream
