#include "sim_server/render/shadow_map.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gripstream {
namespace {

constexpr double kWidest_rad = 75 * std::numbers::pi / 180;
constexpr double kFarOff = 20;  // a directional light's distance, in extents of the model

// A camera at the light, in the optical frame of the image's camera: place, and axes right, down, forward.
struct LightCamera {
  double place[3];
  double axes[3][3];
  double half_width;  // of what it sees, over the distance
};

LightCamera CameraAt(const Light& light, const SceneJob& scene, const ModelLook& look) {
  LightCamera camera;
  const mjtNum forward[3] = {double{light.direction[0]}, double{light.direction[1]}, double{light.direction[2]}};
  const mjtNum other[3] = {std::abs(forward[0]) < 0.7 ? 1.0 : 0.0, std::abs(forward[0]) < 0.7 ? 0.0 : 1.0, 0};
  mju_copy3(camera.axes[2], forward);
  mju_cross(camera.axes[1], forward, other);
  mju_normalize3(camera.axes[1]);
  mju_cross(camera.axes[0], camera.axes[1], forward);
  if (!light.directional) {
    for (int i = 0; i < 3; ++i) camera.place[i] = double{light.position[i]};
    const double cutoff_rad = light.cone ? std::acos(double{light.cos_cutoff}) : kWidest_rad;
    camera.half_width = std::tan(std::min(1.02 * cutoff_rad, kWidest_rad));
    return camera;
  }
  mjtNum apart[3], middle[3];
  mju_sub3(apart, look.centre, scene.camera_xpos);
  mju_mulMatVec3(middle, scene.optical_from_world, apart);
  mju_addScl3(camera.place, middle, forward, -kFarOff * look.extent_m);
  camera.half_width = 1.1 / kFarOff;
  return camera;
}

// The scene as the light sees it.
SceneJob SeenFrom(const LightCamera& camera, const SceneJob& scene) {
  SceneJob seen = scene;
  mjtNum offset[3];
  mju_mulMatTVec3(offset, scene.optical_from_world, camera.place);
  mju_add3(seen.camera_xpos, scene.camera_xpos, offset);
  mju_mulMatMat(seen.optical_from_world, &camera.axes[0][0], scene.optical_from_world, 3, 3, 3);
  return seen;
}

ShadowMap MapOf(const LightCamera& camera, const float* image, int pixels, int stride) {
  ShadowMap map = {};
  map.inverse = image;
  map.pixels = pixels, map.stride = stride;
  map.focal_px = static_cast<float>(0.5 * pixels / camera.half_width);
  map.middle_px = 0.5f * static_cast<float>(pixels);
  for (int row = 0; row < 3; ++row) {
    for (int k = 0; k < 3; ++k) map.light_from_optical[row][k] = static_cast<float>(camera.axes[row][k]);
    map.light_from_optical[row][3] = static_cast<float>(-mju_dot3(camera.axes[row], camera.place));
  }
  return map;
}

}  // namespace

bool CastsShadow(const mjvLight& light) {
  return light.castshadow && !light.headlight;
}

LightSight SightOf(const Light& light, const SceneJob& scene, const ModelLook& look, const float* image, int pixels,
                   int stride) {
  const LightCamera camera = CameraAt(light, scene, look);
  const ShadowMap map = MapOf(camera, image, pixels, stride);
  const float reach_m = static_cast<float>(2 * kFarOff * look.extent_m);
  const View view = {pixels, pixels, map.focal_px, map.focal_px, map.middle_px, map.middle_px, 0.01f, reach_m};
  return {SeenFrom(camera, scene), view, map};
}

ShadowMaps::ShadowMaps(int pixels, size_t most_lights)
    : pixels_(pixels), stride_((pixels + 15) / 16 * 16 + kRowPadding), maps_(most_lights) {
  for (size_t i = 0; i < most_lights; ++i) images_.emplace_back(static_cast<size_t>(pixels) * stride_);
}

void ShadowMaps::Draw(const RenderKernels& kernels, const SceneJob& scene, const ModelLook& look, const Canvas& canvas,
                      Light* lights) {
  for (size_t i = 0; i < look.lights.size(); ++i) {
    if (!lights[i].casts_shadow) continue;
    const LightSight sight = SightOf(lights[i], scene, look, images_[i].data(), pixels_, stride_);
    maps_[i] = sight.map;
    Canvas depth = {};
    depth.inverse_depth = images_[i].data();
    depth.vertices = canvas.vertices, depth.surfaces = canvas.surfaces;
    depth.stride = stride_, depth.band_rows = pixels_, depth.reach_m = sight.view.far_m;
    kernels.render(sight.view, sight.scene, depth, nullptr);
    lights[i].shadow = &maps_[i];
  }
}

}  // namespace gripstream
