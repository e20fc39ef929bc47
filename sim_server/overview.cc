#include "sim_server/overview.h"

#include "sim_server/env_view.h"

namespace gripstream {
namespace {

constexpr char kOverviewCamera[] = "overview";

std::string CameraOf(const mjModel& model, const std::string& camera) {
  if (!camera.empty()) return camera;
  if (mj_name2id(&model, mjOBJ_CAMERA, kOverviewCamera) >= 0) return kOverviewCamera;
  const char* first = model.ncam > 0 ? mj_id2name(&model, mjOBJ_CAMERA, 0) : nullptr;
  return first ? first : "";
}

}  // namespace

Overview::Overview(std::span<const mjModel* const> models, const std::string& camera, int width_px, int height_px)
    : width_px_(width_px), height_px_(height_px), rgb_(size_t{3} * width_px * height_px) {
  RenderConfig config;
  config.width = width_px;
  config.height = height_px;
  config.far_m = 6.5;
  config.colour = true;
  renderer_ = BatchRenderer::Make(config, CameraOf(*models.front(), camera), models, 1);
}

cv::Mat Overview::Picture(const EnvBatch& envs, int env) {
  const SceneView scene = ViewOf(envs, env);
  renderer_->Render({&scene, 1}, {.rgb = rgb_.data()});
  return FromRgb(rgb_.data(), width_px_, height_px_);
}

}  // namespace gripstream
