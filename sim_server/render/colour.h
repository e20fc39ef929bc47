// Colour of a drawn image: materials, textures and lights, worked out afterwards for every pixel once.
//
// The lighting model is the one of MuJoCo's classic renderer (ambient, diffuse and Blinn-Phong specular light, spot
// cones, attenuation, the headlight), but per pixel instead of per vertex and without shadows and reflections. Pixels
// that show nothing get the sky texture, or the fog colour where there is none. Lights on moving bodies need their
// poses in the SceneView. Translucent geoms are shown opaque.
//
// Immutable after construction; Shade is safe from several threads on different images; nothing throws.
#pragma once

#include <mujoco/mujoco.h>

#include <vector>

#include "sim_server/render/kernels.h"
#include "sim_server/render/surface_point.h"
#include "sim_server/render/texture.h"

namespace gripstream {

class ColourShader {
 public:
  // Textures are kept in the library, which must outlive the shader.
  ColourShader(const mjModel& model, TextureLibrary* library);

  // rgb [H, W, 3]. `light_xpos`, `light_xdir` [nlight, 3] world frame, or null for where they are at qpos0.
  void Shade(const View& view, const SceneJob& scene, const Canvas& canvas, const double* light_xpos,
             const double* light_xdir, uint8_t* rgb) const;

 private:
  struct Material {
    Rgb colour;
    float emission, specular, shininess;
    const Texture* texture;  // or null
    float scale[3];          // texture coordinates of flat textures, directions of cubes, per metre of the geom's frame
  };
  struct PlacedLight {
    Point position, direction;
    bool directional;
    const mjvLight* light;
  };

  Rgb TextureOf(const Material& material, const SurfacePoint& point, const View& view, double depth_m) const;
  void AddMaterial(const mjModel& model, const mjvGeom& geom, TextureLibrary* library);
  // Where the lights are now; returns their number.
  int Place(const SceneJob& scene, const double* light_xpos, const double* light_xdir, PlacedLight* placed) const;
  Rgb Sky(const View& view, const SceneJob& scene, int x, int y) const;
  static void AddLight(const PlacedLight& light, const Material& material, const SurfacePoint& point, Point to_eye,
                       Rgb* sum);

  std::vector<Material> materials_;  // by geom id
  std::vector<mjvLight> lights_;
  const Texture* sky_ = nullptr;
};

}  // namespace gripstream
