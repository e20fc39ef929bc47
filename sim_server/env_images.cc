#include "sim_server/env_images.h"

#include <algorithm>
#include <cstring>

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
  const ModalityConfig* kinds[] = {&config.rgb, &config.depth, &config.segmentation, &config.bodies, &config.normals};
  for (const ModalityConfig* kind : kinds) {
    std::vector<std::string> rig;
    for (const std::string& name : NamesOf(*kind, task_camera)) {
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
      seen.push_back(name);
      rig.push_back(name);
    }
    const std::string& right = config.matcher.right;
    const bool matched = kind == &config.depth && config.depth.source == "stereo_matcher";
    if (matched && std::find(seen.begin(), seen.end(), right) == seen.end()) {
      seen.push_back(right);
      rig.push_back(right);
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

bool Gives(const auto& pass, const std::string& tensor) {
  return std::ranges::any_of(pass.outputs, [&](const auto& out) { return out.tensor == tensor; });
}

}  // namespace

EnvImages::EnvImages(const CamerasConfig& config, const TaskConfig& task, uint64_t seed,
                     std::span<const mjModel* const> models, int envs, int batch, int threads)
    : config_(config),
      task_camera_(task.camera),
      step_s_(static_cast<double>(task.decimation) / task.physics_hz),
      outages_(seed, "camera outage"),
      models_(models.begin(), models.end()) {
  if (config.backend == "mujoco" && !config.normals.cameras.empty()) {
    throw InputError("configuration", KeyOf("normals"), config.normals.cameras.front(),
                     "none with render.backend mujoco, which has no normals");
  }
  if (config.backend == "mujoco" && config.randomise.enabled && !config.rgb.cameras.empty()) {
    throw InputError("configuration", "render.randomise.enabled", "true",
                     "false with render.backend mujoco, which shows models as they are");
  }
  AddKind("depth", config.depth, {kDepth, DType::kUint16, {}, "m", kDepthQuantum_m});
  AddKind("rgb", config.rgb, {kRgb, DType::kUint8, {3}, "", 1.0});
  AddKind("segmentation", config.segmentation, {kSegmentation, DType::kInt32, {}, "", 1.0});
  AddKind("bodies", config.bodies, {kBodies, DType::kInt32, {}, "", 1.0});
  AddKind("normals", config.normals, {kNormals, DType::kFloat32, {3}, "", 1.0});
  if (config.depth.source == "stereo_matcher" && !config.depth.cameras.empty()) AddStereoDepth(batch, threads);
  assets_ = std::make_shared<RenderAssets>();
  looks_ = std::make_unique<EpisodeLooks>(config, task, seed, RigsOf(config, task_camera_), models_, envs, *assets_);
  for (Pass& pass : passes_) Prepare(pass, seed, batch, threads);
}

// The depth camera and the one to its right are drawn in colour instead; the record's tensor is matched from them.
void EnvImages::AddStereoDepth(int batch, int threads) {
  const std::vector<std::string> cameras = NamesOf(config_.depth, task_camera_);
  if (cameras.size() != 1) {
    throw InputError("configuration", KeyOf("depth"), std::to_string(cameras.size()) + " cameras",
                     "one, the left of the pair, with render.depth.source stereo_matcher");
  }
  const std::string &left = cameras.front(), &right = config_.matcher.right;
  for (const mjModel* model : models_) CheckRectified(*model, left, right);
  const TensorSpec& spec = specs_.front();
  RenderConfig image = config_;
  image.height = spec.shape[0];
  image.width = spec.shape[1];
  const mjModel& model = *models_.front();
  const int left_id = FindCamera(model, left), right_id = FindCamera(model, right);
  const double focal_px = ProjectionOf(model, left_id, image.width, image.height).fx_px;
  const size_t left_pass = PassOf(left, image.width, image.height),
               right_pass = PassOf(right, image.width, image.height);
  stereo_.emplace(Stereo{left_pass,
                         right_pass,
                         left_id,
                         right_id,
                         focal_px,
                         std::make_unique<StereoMatcher>(config_.matcher, image, threads),
                         {}});
  for (const size_t index : {left_pass, right_pass}) {
    Pass& pass = passes_[index];
    pass.config.colour = true;
    std::erase_if(pass.outputs, [](const Output& out) { return out.tensor == kDepth; });
    if (!Gives(pass, kRgb)) pass.own_rgb.resize(size_t{3} * batch * image.width * image.height);
  }
}

void EnvImages::Prepare(Pass& pass, uint64_t seed, int batch, int threads) {
  pass.renderer = BatchRenderer::Make(pass.config, pass.camera, models_, threads, assets_);
  pass.seen = looks_->Add(pass.camera, pass.config.width, pass.config.height);
  if (config_.augment.enabled && Gives(pass, kRgb)) {
    pass.augmenter = AugmenterFor(pass.config, seed, threads);
    const bool wants_ids = pass.augmenter->NeedsSegmentation() && !Gives(pass, kSegmentation);
    if (wants_ids) pass.own_ids.resize(size_t{1} * batch * pass.config.width * pass.config.height);
  }
  const bool matched = stereo_ && &pass == &passes_[stereo_->left];
  if (!config_.noise.enabled || !(matched || Gives(pass, kDepth))) return;
  const mjModel& model = *models_.front();
  const Projection projection =
      ProjectionOf(model, FindCamera(model, pass.camera), pass.config.width, pass.config.height);
  const uint64_t noise_seed = MixBits(seed ^ HashName(pass.camera));
  if (!matched && pass.renderer->TakeDepthNoise(config_.noise, noise_seed)) return;
  pass.noise = std::make_unique<DepthNoise>(config_.noise, noise_seed, projection, pass.config.width,
                                            pass.config.height, threads);
}

EnvImages::~EnvImages() = default;

// Cameras of one size share it: what it draws depends on the environment alone.
Augmenter* EnvImages::AugmenterFor(const RenderConfig& image, uint64_t seed, int threads) {
  std::unique_ptr<Augmenter>& augmenter = augmenters_[{image.width, image.height}];
  if (!augmenter) {
    augmenter = std::make_unique<Augmenter>(config_.augment, seed, models_, image.width, image.height, threads,
                                            &assets_->Textures());
  }
  return augmenter.get();
}

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
    Pass& pass = passes_[PassOf(cameras[static_cast<size_t>(i)], width, height)];
    pass.config.colour |= spec.name == kRgb;
    pass.outputs.push_back({spec.name, i, count});
  }
}

// The number of the pass, which is made where there is none.
size_t EnvImages::PassOf(const std::string& camera, int width, int height) {
  for (size_t i = 0; i < passes_.size(); ++i) {
    const Pass& pass = passes_[i];
    if (pass.camera == camera && pass.config.width == width && pass.config.height == height) return i;
  }
  Pass pass;
  pass.camera = camera;
  pass.config = config_;
  pass.config.width = width;
  pass.config.height = height;
  passes_.push_back(std::move(pass));
  return passes_.size() - 1;
}

RenderTargets EnvImages::TargetsOf(Pass& pass, const Layout& layout, std::span<std::byte> record) const {
  RenderTargets targets;
  for (const Output& out : pass.outputs) {
    if (out.tensor == kDepth) targets.depth_u16 = TargetIn<uint16_t>(layout, record, kDepth, out.index, out.count);
    if (out.tensor == kRgb) targets.rgb = TargetIn<uint8_t>(layout, record, kRgb, out.index, out.count);
    if (out.tensor == kSegmentation)
      targets.segmentation = TargetIn<int32_t>(layout, record, kSegmentation, out.index, out.count);
    if (out.tensor == kBodies) targets.bodies = TargetIn<int32_t>(layout, record, kBodies, out.index, out.count);
    if (out.tensor == kNormals) targets.normals = TargetIn<float>(layout, record, kNormals, out.index, out.count);
  }
  if (!pass.own_rgb.empty()) targets.rgb = pass.own_rgb.data();
  if (!pass.own_ids.empty()) targets.segmentation = pass.own_ids.data();
  return targets;
}

// The moment of every environment: its episode and the step within it.
void EnvImages::NoteMoments(const EnvBatch& envs) {
  moment_envs_.clear();
  moment_steps_.clear();
  augment_moments_.clear();
  for (int i = 0; i < envs.Envs(); ++i) {
    const EpisodeKey key = envs.Episode(i);
    moment_envs_.push_back(key.index);
    moment_steps_.push_back(MixBits(key.episode) ^ MixBits(~uint64_t{envs.EpisodeStep(i)}));
    augment_moments_.push_back({envs.Model(i), key.index, key.episode, envs.EpisodeStep(i)});
  }
}

void EnvImages::Render(const EnvBatch& envs, int first, const Layout& layout, std::span<std::byte> record) {
  for (int i = 0; i < envs.Envs(); ++i) looks_->Follow(first + i, envs.Episode(i), envs.Model(i));
  NoteMoments(envs);
  for (Pass& pass : passes_) {
    views_.clear();
    for (int i = 0; i < envs.Envs(); ++i) {
      views_.push_back(looks_->Of(first + i, pass.seen, ViewOf(envs, i)));
      views_.back().noise_env = moment_envs_[static_cast<size_t>(i)];
      views_.back().noise_step = moment_steps_[static_cast<size_t>(i)];
    }
    pass.renderer->Render(views_, TargetsOf(pass, layout, record));
  }
  if (stereo_) MatchStereo(envs, first, layout, record);
  for (Pass& pass : passes_) {
    const RenderTargets targets = TargetsOf(pass, layout, record);
    if (pass.augmenter) pass.augmenter->Apply(targets.rgb, targets.segmentation, augment_moments_);
    if (!pass.noise) continue;
    pass.noise->Apply(stereo_ ? TargetIn<uint16_t>(layout, record, kDepth, 0, 1) : targets.depth_u16, moment_envs_,
                      moment_steps_);
  }
  if (config_.outage.Enabled()) BlackOut(envs, layout, record);
}

bool EnvImages::IsOut(const EnvBatch& envs, int env) const {
  const OutageConfig& outage = config_.outage;
  if (outage.after_s > 0 && envs.EpisodeStep(env) * step_s_ >= outage.after_s) return true;
  const auto i = static_cast<size_t>(env);
  return static_cast<double>(outages_.At(moment_envs_[i], moment_steps_[i]).Uniform()) < outage.share;
}

void EnvImages::BlackOut(const EnvBatch& envs, const Layout& layout, std::span<std::byte> record) const {
  for (int env = 0; env < envs.Envs(); ++env) {
    if (!IsOut(envs, env)) continue;
    for (const char* name : {kDepth, kRgb}) {
      const auto spec = std::ranges::find(specs_, name, &TensorSpec::name);
      if (spec == specs_.end()) continue;
      std::byte* images = record.data() + layout.Offset(layout.Index(name));
      std::memset(images + static_cast<size_t>(env) * spec->Bytes(), 0, spec->Bytes());
    }
  }
}

// With the lenses and the distance that the pair has in each environment's episode.
void EnvImages::MatchStereo(const EnvBatch& envs, int first, const Layout& layout, std::span<std::byte> record) {
  Pass &left = passes_[stereo_->left], &right = passes_[stereo_->right];
  stereo_->pairs.clear();
  for (int i = 0; i < envs.Envs(); ++i) {
    const SceneView view = looks_->Of(first + i, left.seen, ViewOf(envs, i));
    const double focal_px = view.intrinsics ? view.intrinsics[stereo_->left_id].fx_px : stereo_->focal_px;
    stereo_->pairs.push_back(
        {focal_px, mju_dist3(view.cam_xpos + 3 * stereo_->left_id, view.cam_xpos + 3 * stereo_->right_id)});
  }
  stereo_->matcher->Match(TargetsOf(left, layout, record).rgb, TargetsOf(right, layout, record).rgb, stereo_->pairs,
                          TargetIn<uint16_t>(layout, record, kDepth, 0, 1));
}

}  // namespace gripstream
