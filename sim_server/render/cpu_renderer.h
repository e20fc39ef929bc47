// Our renderer on the CPU: threads over environments, SIMD within an image (kernels.h). See renderer.h for the
// contract.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/parallel.h"
#include "sim_server/render/assets.h"
#include "sim_server/render/camera.h"
#include "sim_server/render/kernels.h"
#include "sim_server/render/renderer.h"
#include "sim_server/render/shadow_map.h"

namespace gripstream {

class CpuRenderer : public BatchRenderer {
 public:
  CpuRenderer(const RenderConfig& config, const std::string& camera, std::span<const mjModel* const> models,
              int threads, const RenderKernels& kernels, std::shared_ptr<RenderAssets> assets = nullptr);
  void Render(std::span<const SceneView> scenes, const RenderTargets& targets) override;

 private:
  // What is known of a model before its first pose.
  struct ModelTable {
    int camera_id;
    View view;
    const ModelAssets* assets;
    bool has_translucent = false;
    float colour_reach_m = 0;  // how far MuJoCo draws
  };
  // One thread's working image.
  struct Workspace {
    std::vector<float> inverse_depth;
    std::vector<int32_t> geom;
    std::vector<int32_t> triangle;
    std::vector<float> vertices;
    std::vector<Surface> surfaces;
    std::vector<Light> lights;
    std::vector<ShadeFrame> frames;
    std::vector<LocalLight> local_lights;
    std::unique_ptr<ShadowMaps> shadows;  // where they are asked for
    std::vector<float> layer_inverse;
    std::vector<int32_t> layer_geom, layer_triangle, layer_order;
    std::atomic_flag taken = ATOMIC_FLAG_INIT;
  };

  Workspace& TakeWorkspace();
  void RenderOne(const SceneView& scene, int64_t image, const RenderTargets& targets, Workspace& workspace) const;

  int width_, height_, stride_, band_rows_;
  RenderKernels kernels_;
  std::shared_ptr<RenderAssets> assets_;
  std::unordered_map<const mjModel*, ModelTable> tables_;
  std::unique_ptr<Workspace[]> workspaces_;  // one per thread
  ParallelFor parallel_;
};

}  // namespace gripstream
