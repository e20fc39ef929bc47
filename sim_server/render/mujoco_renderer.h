// MuJoCo's own renderer through OSMesa (software OpenGL without a window), for checks, benchmarks and videos.
//
// Same contract as renderer.h, one thread, geoms only (no sites, tendons or other decoration). libOSMesa is loaded at
// run time; RunError names the package when it is missing. Lights fixed to moving bodies stay where they are at qpos0.
// Normals are not available.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "sim_server/render/renderer.h"

namespace gripstream {

class MujocoRenderer : public BatchRenderer {
 public:
  enum class Shadows { kNone, kOfLights };  // in colour images
  MujocoRenderer(const RenderConfig& config, const std::string& camera, std::span<const mjModel* const> models,
                 Shadows shadows = Shadows::kOfLights);
  ~MujocoRenderer() override;
  void Render(std::span<const SceneView> scenes, const RenderTargets& targets) override;

 private:
  class GlContext;      // OSMesa's
  struct ModelContext;  // one model's scene, textures and meshes
  class ImageWriter;

  RenderConfig config_;
  Shadows shadows_;
  std::unique_ptr<GlContext> gl_;
  std::unordered_map<const mjModel*, std::unique_ptr<ModelContext>> contexts_;
};

}  // namespace gripstream
