#include "sim_server/env_images.h"

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"
#include "envs/env_batch.h"
#include "sim_server/env_view.h"
#include "sim_server/episode_looks.h"
#include "sim_server/render/assets.h"
#include "sim_server/render/camera.h"

namespace gripstream {
namespace {

constexpr char kDepth[] = "obs.depth", kRgb[] = "obs.rgb", kSegmentation[] = "obs.segmentation",
               kBodies[] = "obs.bodies", kNormals[] = "obs.normals";

std::string KeyOf(const std::string& kind) {
  return "render." + kind + ".cameras";
}

// The cameras by their own names.
std::vector<std::string> NamesOf(const ModalityConfig& kind, const std::string& task_camera) {
  std::vector<std::string> names;
  for (const std::string& name : kind.cameras) names.push_back(name == kTaskCamera ? task_camera : name);
  return names;
}

void CheckCameras(const std::vector<std::string>& names, const std::string& key,
                  std::span<const mjModel* const> models) {
  for (size_t i = 0; i < names.size(); ++i) {
    for (const mjModel* model : models) FindCamera(*model, names[i], key);
    if (std::find(names.begin(), names.begin() + static_cast<long>(i), names[i]) !=
        names.begin() + static_cast<long>(i))
      throw InputError("configuration", key, names[i], "every camera once");
  }
}

// Lists of cameras that move together, each led by its first. A camera belongs to the first list that names it.
std::vector<std::vector<std::string>> RigsOf(const CamerasConfig& config, const std::string& task_camera) {
  std::vector<std::vector<std::string>> rigs;
  std::vector<std::string> seen;
  for (const ModalityConfig* kind :
       {&config.rgb, &config.depth, &config.segmentation, &config.bodies, &config.normals}) {
    std::vector<std::string> rig;
    for (const std::string& name : NamesOf(*kind, task_camera)) {
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
      seen.push_back(name);
      rig.push_back(name);
    }
    if (!rig.empty()) rigs.push_back(rig);
  }
  return rigs;
}

template <class T>
ImageTarget<T> TargetIn(const Layout& layout, std::span<std::byte> record, const std::string& tensor, int index,
                        int count) {
  const int at = layout.Index(tensor);
  const std::span<T> images = layout.View<T>(record, at);
  const size_t elements = layout.Specs()[static_cast<size_t>(at)].Elements() / static_cast<size_t>(count);
  return {images.data() + static_cast<size_t>(index) * elements, count};
}

}  // namespace

EnvImages::EnvImages(const CamerasConfig& config, const TaskConfig& task, uint64_t seed,
                     std::span<const mjModel* const> models, int envs, int threads)
    : config_(config), task_camera_(task.camera), models_(models.begin(), models.end()) {
  if (config.backend == "mujoco" && !config.normals.cameras.empty()) {
    throw InputError("configuration", KeyOf("normals"), config.normals.cameras.front(),
                     "none with render.backend mujoco, which has no normals");
  }
  AddKind("depth", config.depth, {kDepth, DType::kUint16, {}, "m", kDepthQuantum_m});
  AddKind("rgb", config.rgb, {kRgb, DType::kUint8, {3}, "", 1.0});
  AddKind("segmentation", config.segmentation, {kSegmentation, DType::kInt32, {}, "", 1.0});
  AddKind("bodies", config.bodies, {kBodies, DType::kInt32, {}, "", 1.0});
  AddKind("normals", config.normals, {kNormals, DType::kFloat32, {3}, "", 1.0});
  assets_ = std::make_shared<RenderAssets>();
  looks_ = std::make_unique<EpisodeLooks>(config, task, seed, RigsOf(config, task_camera_), models_, envs, *assets_);
  for (Pass& pass : passes_) Prepare(pass, seed, threads);
}

void EnvImages::Prepare(Pass& pass, uint64_t seed, int threads) {
  pass.renderer = BatchRenderer::Make(pass.config, pass.camera, models_, threads, assets_);
  pass.seen = looks_->Add(pass.camera, pass.config.width, pass.config.height);
  const bool depth = std::ranges::any_of(pass.outputs, [](const Output& o) { return o.tensor == kDepth; });
  if (!depth || !config_.noise.enabled) return;
  const mjModel& model = *models_.front();
  const Projection projection =
      ProjectionOf(model, FindCamera(model, pass.camera), pass.config.width, pass.config.height);
  const uint64_t noise_seed = MixBits(seed ^ HashName(pass.camera));
  if (pass.renderer->TakeDepthNoise(config_.noise, noise_seed)) return;
  pass.noise = std::make_unique<DepthNoise>(config_.noise, noise_seed, projection, pass.config.width,
                                            pass.config.height, threads);
}

EnvImages::~EnvImages() = default;

// `pixel`: the tensor of one pixel.
void EnvImages::AddKind(const std::string& name, const ModalityConfig& kind, const TensorSpec& pixel) {
  const std::vector<std::string> cameras = NamesOf(kind, task_camera_);
  if (cameras.empty()) return;
  CheckCameras(cameras, KeyOf(name), models_);
  const int width = kind.width > 0 ? kind.width : config_.width,
            height = kind.height > 0 ? kind.height : config_.height;
  const int count = static_cast<int>(cameras.size());
  TensorSpec spec = pixel;
  spec.shape = {height, width};
  if (count > 1) spec.shape.insert(spec.shape.begin(), count);
  spec.shape.insert(spec.shape.end(), pixel.shape.begin(), pixel.shape.end());
  specs_.push_back(spec);
  for (int i = 0; i < count; ++i) {
    Pass& pass = PassOf(cameras[static_cast<size_t>(i)], width, height);
    pass.config.colour |= spec.name == kRgb;
    pass.outputs.push_back({spec.name, i, count});
  }
}

EnvImages::Pass& EnvImages::PassOf(const std::string& camera, int width, int height) {
  for (Pass& pass : passes_) {
    if (pass.camera == camera && pass.config.width == width && pass.config.height == height) return pass;
  }
  Pass pass;
  pass.camera = camera;
  pass.config = config_;
  pass.config.width = width;
  pass.config.height = height;
  passes_.push_back(std::move(pass));
  return passes_.back();
}

RenderTargets EnvImages::TargetsOf(const Pass& pass, const Layout& layout, std::span<std::byte> record) const {
  RenderTargets targets;
  for (const Output& out : pass.outputs) {
    if (out.tensor == kDepth) targets.depth_u16 = TargetIn<uint16_t>(layout, record, kDepth, out.index, out.count);
    if (out.tensor == kRgb) targets.rgb = TargetIn<uint8_t>(layout, record, kRgb, out.index, out.count);
    if (out.tensor == kSegmentation)
      targets.segmentation = TargetIn<int32_t>(layout, record, kSegmentation, out.index, out.count);
    if (out.tensor == kBodies) targets.bodies = TargetIn<int32_t>(layout, record, kBodies, out.index, out.count);
    if (out.tensor == kNormals) targets.normals = TargetIn<float>(layout, record, kNormals, out.index, out.count);
  }
  return targets;
}

// The moment of every environment: its episode and the step within it.
void EnvImages::NoteMoments(const EnvBatch& envs) {
  moment_envs_.clear();
  moment_steps_.clear();
  for (int i = 0; i < envs.Envs(); ++i) {
    const EpisodeKey key = envs.Episode(i);
    moment_envs_.push_back(key.index);
    moment_steps_.push_back(MixBits(key.episode) ^ MixBits(~uint64_t{envs.EpisodeStep(i)}));
  }
}

void EnvImages::Render(const EnvBatch& envs, int first, const Layout& layout, std::span<std::byte> record) {
  for (int i = 0; i < envs.Envs(); ++i) looks_->Follow(first + i, envs.Episode(i), envs.Model(i));
  NoteMoments(envs);
  for (const Pass& pass : passes_) {
    views_.clear();
    for (int i = 0; i < envs.Envs(); ++i) {
      views_.push_back(looks_->Of(first + i, pass.seen, ViewOf(envs, i)));
      views_.back().noise_env = moment_envs_[static_cast<size_t>(i)];
      views_.back().noise_step = moment_steps_[static_cast<size_t>(i)];
    }
    const RenderTargets targets = TargetsOf(pass, layout, record);
    pass.renderer->Render(views_, targets);
    if (pass.noise) pass.noise->Apply(targets.depth_u16, moment_envs_, moment_steps_);
  }
}

}  // namespace gripstream
