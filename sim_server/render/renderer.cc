#include "sim_server/render/renderer.h"

#include "core/error.h"
#include "sim_server/render/assets.h"
#include "sim_server/render/cpu_renderer.h"
#include "sim_server/render/cuda/tile_assets.h"
#include "sim_server/render/cuda/tile_renderer.h"
#include "sim_server/render/mujoco_renderer.h"

namespace gripstream {

std::unique_ptr<BatchRenderer> BatchRenderer::Make(const RenderConfig& config, const std::string& camera,
                                                   std::span<const mjModel* const> models, int threads,
                                                   std::shared_ptr<RenderAssets> assets) {
  GS_CHECK(!models.empty(), "a renderer needs at least one model");
  if (!(config.near_m < config.far_m)) {
    throw InputError("configuration", "render.near_m", std::to_string(config.near_m), "less than far_m");
  }
  if (config.backend == "cuda") {
    const bool known = assets && assets->OnDevice();
    std::shared_ptr<TileDevice> device = known ? assets->OnDevice()->Device() : MakeCudaDevice();
    return std::make_unique<TileRenderer>(config, camera, models, threads, std::move(device),
                                          TileRenderer::kMostEnvironments, std::move(assets));
  }
  if (config.backend == "mujoco") return std::make_unique<MujocoRenderer>(config, camera, models);
  return std::make_unique<CpuRenderer>(config, camera, models, threads, AvailableKernels().front(), std::move(assets));
}

bool BatchRenderer::TakeDepthNoise(const DepthNoiseConfig&, uint64_t) {
  return false;
}

}  // namespace gripstream
