#include "sim_server/episode_sheet.h"

#include "core/log.h"
#include "envs/env_batch.h"
#include "sim_server/render/contact_sheet.h"
#include "sim_server/render/image_io.h"
#include "sim_server/render/renderer.h"
#include "sim_server/render/scene_view.h"

namespace gripstream {
namespace {

constexpr char kOverviewCamera[] = "overview";
constexpr int kOverviewWidth_px = 240, kOverviewHeight_px = 180;
constexpr int kColumns = 4;         // what the camera saw, then the start, the middle and the end
constexpr size_t kMostFrames = 64;  // kept per episode; longer ones are thinned

// The overview camera where the model has one, else the policy's own.
std::string ViewCamera(const mjModel* model, const std::string& policy_camera) {
  return mj_name2id(model, mjOBJ_CAMERA, kOverviewCamera) >= 0 ? kOverviewCamera : policy_camera;
}

RenderConfig OverviewConfig(RenderConfig config) {
  config.width = kOverviewWidth_px;
  config.height = kOverviewHeight_px;
  config.far_m = 6.5;  // people want to see the whole scene
  return config;
}

int ZoomToHeight(int height_px) {
  return std::max(1, kOverviewHeight_px / height_px);
}

}  // namespace

struct EpisodeSheet::Impl {
  struct Row {
    std::string object;
    cv::Mat seen;                // depth of the first observation, coloured
    std::vector<cv::Mat> views;  // from the overview camera, oldest first
    int stride = 1, steps = 0;   // every `stride`-th step is kept
    bool open = true, success = false;
  };

  cv::Mat View(const EnvBatch& envs, int env) {
    const size_t pixels = static_cast<size_t>(kOverviewWidth_px * kOverviewHeight_px);
    std::vector<int32_t> segmentation(pixels);
    std::vector<float> normals(3 * pixels);
    RenderTargets targets;
    targets.segmentation = segmentation.data();
    targets.normals = normals.data();
    const SceneView scene{envs.Model(env), envs.GeomXpos(env), envs.GeomXmat(env), envs.CamXpos(env),
                          envs.CamXmat(env)};
    overview->Render({&scene, 1}, targets);
    return ShadedPreview(*scene.model, segmentation.data(), normals.data(), kOverviewWidth_px, kOverviewHeight_px);
  }

  void Begin(Row& row, const EnvBatch& envs, int env, const uint16_t* depth) {
    row.object = envs.Object(env).name;
    row.seen = ColourDepth(depth, camera.width, camera.height, ZoomToHeight(camera.height));
    row.views.push_back(View(envs, env));
  }

  void Extend(Row& row, const EnvBatch& envs, int env) {
    if (++row.steps % row.stride != 0) return;
    row.views.push_back(View(envs, env));
    if (row.views.size() < kMostFrames) return;
    for (size_t i = 1; 2 * i < row.views.size(); ++i) row.views[i] = row.views[2 * i];
    row.views.resize(row.views.size() / 2);
    row.stride *= 2;
  }

  void Write() const {
    ContactSheet sheet(kColumns, "What the policy saw (depth), and what it did");
    for (const Row& row : rows) {
      sheet.Add(row.seen, row.object);
      sheet.Add(row.views.front(), "start");
      sheet.Add(row.views[row.views.size() / 2], "middle");
      sheet.Add(row.views.back(), row.success ? "end: success" : "end: failure");
    }
    sheet.WritePng(path);
    LogInfo("wrote ", path);
  }

  RenderConfig camera;
  std::string path;
  std::unique_ptr<BatchRenderer> overview;
  std::vector<Row> rows;
  bool begun = false;
  int open_rows = 0;
};

EpisodeSheet::EpisodeSheet(const EnvBatch& envs, const RenderConfig& camera_config, const std::string& camera, int rows,
                           const std::string& path)
    : impl_(std::make_unique<Impl>()) {
  impl_->camera = camera_config;
  impl_->path = path;
  const std::vector<const mjModel*> models = envs.DistinctModels();
  impl_->overview = BatchRenderer::Make(OverviewConfig(camera_config), ViewCamera(models.front(), camera), models, 1);
  impl_->rows.resize(static_cast<size_t>(std::min(rows, envs.Envs())));
  impl_->open_rows = static_cast<int>(impl_->rows.size());
}

EpisodeSheet::~EpisodeSheet() = default;

void EpisodeSheet::Observe(const EnvBatch& envs, const uint16_t* depth, const Layout& layout,
                           std::span<const std::byte> record) {
  if (impl_->open_rows == 0) return;
  const std::span<const uint8_t> done = layout.View<uint8_t>(record, "done");
  const std::span<const uint8_t> success = layout.View<uint8_t>(record, "success");
  const size_t image_px = static_cast<size_t>(impl_->camera.width * impl_->camera.height);
  for (size_t i = 0; i < impl_->rows.size(); ++i) {
    Impl::Row& row = impl_->rows[i];
    const int env = static_cast<int>(i);
    if (!impl_->begun) {
      impl_->Begin(row, envs, env, depth + i * image_px);
    } else if (row.open && done[i] == static_cast<uint8_t>(DoneKind::kRunning)) {
      impl_->Extend(row, envs, env);
    } else if (row.open) {
      // What is in the record now is the next episode; the last view of this one is the step before its end.
      row.open = false;
      row.success = success[i] != 0;
      --impl_->open_rows;
    }
  }
  impl_->begun = true;
  if (impl_->open_rows == 0) impl_->Write();
}

}  // namespace gripstream
