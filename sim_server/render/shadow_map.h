// Hard shadows: what each light that casts them sees, drawn as a depth image by the renderer's own kernels.
//
// Spot lights see as wide as their cone, at most 75 degrees to each side; what lies outside is lit. Directional lights
// stand far off, so that their rays are parallel to one part in twenty. Translucent geoms cast no shadow. Not
// thread-safe; allocates at construction only; nothing throws.
#pragma once

#include <vector>

#include "sim_server/render/kernels.h"
#include "sim_server/render/model_look.h"
#include "sim_server/render/shade.h"

namespace gripstream {

// Whether a light casts shadows: never the headlight.
bool CastsShadow(const mjvLight& light);

// The scene as a light sees it, and its map over an image of `pixels` squared.
struct LightSight {
  SceneJob scene;
  View view;
  ShadowMap map;
};
LightSight SightOf(const Light& light, const SceneJob& scene, const ModelLook& look, const float* image, int pixels,
                   int stride);

class ShadowMaps {
 public:
  // For up to `most_lights` that cast shadows, images of `pixels` squared.
  ShadowMaps(int pixels, size_t most_lights);

  // Draws the scene from every light that casts shadows and gives it its map, which stays until the next call. `canvas`
  // lends its scratch memory: vertices and surfaces.
  void Draw(const RenderKernels& kernels, const SceneJob& scene, const ModelLook& look, const Canvas& canvas,
            Light* lights);

 private:
  int pixels_, stride_;
  std::vector<std::vector<float>> images_;  // [light][pixels, stride]
  std::vector<ShadowMap> maps_;
};

}  // namespace gripstream
