#include "sim_server/render/cuda/tile_renderer.h"

#include <algorithm>

#include "core/error.h"
#include "sim_server/render/camera.h"

namespace gripstream {
namespace {

// Device memory that one part may take, environments permitting.
constexpr size_t kPartBytes = size_t{128} << 20;

// Primitives as the CPU renderer draws them, then meshes.
std::vector<DrawnGeom> InDrawingOrder(const ModelAssets& assets) {
  std::vector<DrawnGeom> ordered;
  for (const GeomBatch& batch : assets.batches) {
    for (int i = 0; i < batch.count; ++i) {
      ordered.push_back(
          {batch.shape, batch.id[i], batch.translucent, {batch.size[0][i], batch.size[1][i], batch.size[2][i]}});
    }
  }
  std::copy_if(assets.geoms.begin(), assets.geoms.end(), std::back_inserter(ordered),
               [](const DrawnGeom& geom) { return geom.shape == Shape::kMesh; });
  return ordered;
}

void SetProjection(const Projection& p, View* view) {
  view->fx = static_cast<float>(p.fx_px), view->fy = static_cast<float>(p.fy_px);
  view->cx = static_cast<float>(p.cx_px), view->cy = static_cast<float>(p.cy_px);
}

View ViewOf(const mjModel& model, int camera_id, const RenderConfig& config) {
  View view = {
      config.width, config.height, 0, 0, 0, 0, static_cast<float>(config.near_m), static_cast<float>(config.far_m)};
  SetProjection(ProjectionOf(model, camera_id, config.width, config.height), &view);
  return view;
}

}  // namespace

TileRenderer::TileRenderer(const RenderConfig& config, const std::string& camera,
                           std::span<const mjModel* const> models, int threads, std::shared_ptr<TileDevice> device,
                           int most_environments, std::shared_ptr<RenderAssets> assets)
    : width_(config.width),
      height_(config.height),
      colour_(config.colour),
      device_(std::move(device)),
      assets_(assets ? std::move(assets) : std::make_shared<RenderAssets>()),
      parallel_(threads) {
  if (!assets_->OnDevice()) assets_->OnDevice() = std::make_shared<TileAssets>(device_);
  if (colour_) colour_look_ = std::make_unique<TileColour>(config, assets_->Textures(), *assets_->OnDevice());
  projection_ = ProjectionOf(*models.front(), FindCamera(*models.front(), camera), width_, height_);
  std::vector<TileModel> table;
  for (const mjModel* model : models) {
    const auto [entry, added] = entries_.try_emplace(model);
    if (!added) continue;
    const int camera_id = FindCamera(*model, camera);
    entry->second = {static_cast<int>(table.size()), camera_id, ViewOf(*model, camera_id, config), {}};
    table.push_back(AddModel(*model, &entry->second));
  }
  models_ = Uploaded(*device_, table.data(), table.size());
  const size_t bytes = TileScenes::BytesPerScene(strides_) +
                       static_cast<size_t>(width_) * height_ * (sizeof(uint16_t) + (colour_ ? 3 : 0)) +
                       (colour_ ? colour_look_->BytesPerEnvironment(strides_) : 0);
  capacity_ = static_cast<int>(std::clamp<size_t>(kPartBytes / bytes, 1, most_environments));
  for (Part& part : parts_) part = MakePart();
}

TileRenderer::~TileRenderer() = default;

TileModel TileRenderer::AddModel(const mjModel& model, ModelEntry* entry) {
  const ModelAssets& assets = assets_->Of(model, colour_);
  std::vector<TileGeom> geoms;
  std::vector<MeshJob> meshes;
  TileModel out = {};
  for (const DrawnGeom& geom : InDrawingOrder(assets)) {
    if (geom.shape == Shape::kMesh) {
      meshes.push_back(assets_->OnDevice()->Add(assets.meshes[meshes.size()]));
      meshes.back().geom = static_cast<int>(geoms.size());
    }
    geoms.push_back({geom, model.geom_bodyid[geom.id], out.surface_count});
    entry->geom_ids.push_back(geom.id);
    out.surface_count += SurfacesOf(geom.shape);
    out.layer_count += geom.translucent;
    if (!geom.translucent) out.opaque_surfaces = out.surface_count;
  }
  if (colour_) colour_look_->AddModel(model, assets, entry->geom_ids);
  out.colour_reach_m = static_cast<float>(model.vis.map.zfar * model.stat.extent);
  out.mesh_count = static_cast<int>(meshes.size());
  out.primitive_count = static_cast<int>(geoms.size()) - out.mesh_count;
  model_memory_.push_back(
      {Uploaded(*device_, geoms.data(), geoms.size()), Uploaded(*device_, meshes.data(), meshes.size())});
  out.geoms = model_memory_.back().geoms.data();
  out.meshes = model_memory_.back().meshes.data();
  strides_.geoms = std::max(strides_.geoms, static_cast<int>(geoms.size()));
  strides_.surfaces = std::max(strides_.surfaces, out.surface_count);
  strides_.meshes = std::max(strides_.meshes, out.mesh_count);
  return out;
}

TileRenderer::Part TileRenderer::MakePart() {
  const auto n = static_cast<size_t>(capacity_);
  Part part;
  part.scenes = TileScenes(*device_, n, strides_);
  if (colour_) part.colour = colour_look_->MakePart(n, strides_);
  return part;
}

void TileRenderer::Gather(std::span<const SceneView> scenes, uint8_t* rgb, const Part& part) {
  parallel_(static_cast<int>(scenes.size()), 32, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const ModelEntry& entry = entries_.at(scenes[i].model);
      View view = entry.view;
      if (scenes[i].intrinsics) SetProjection(scenes[i].intrinsics[entry.camera_id], &view);
      SceneJob job = {};
      job.geom_xpos = scenes[i].geom_xpos, job.geom_xmat = scenes[i].geom_xmat;
      PlaceCamera(scenes[i], entry.camera_id, &job);
      const auto at = static_cast<size_t>(i);
      part.scenes.Place(at, entry.index, view, job, entry.geom_ids);
      if (rgb) colour_look_->Gather(scenes[i], entry.index, entry.camera_id, view, rgb, at, part.colour);
    }
  });
}

// Where the kernels write images [first, first + count): the target itself, or memory of our own to copy from.
template <class T>
T* TileRenderer::Target(const ImageTarget<T>& target, size_t first, size_t count, int channels, DeviceArray<T>* own,
                        std::vector<Download>* downloads) {
  if (!target) return nullptr;
  const size_t per_image = static_cast<size_t>(width_) * height_ * channels;
  const auto at = [&](size_t i) { return target.Image(static_cast<int64_t>(first + i), per_image); };
  if (target.stride == 1 && device_->IsDeviceMemory(target.first)) return at(0);
  if (!own->data()) *own = {*device_, MemorySide::kDevice, static_cast<size_t>(capacity_) * per_image};
  if (target.stride == 1) {
    downloads->push_back({at(0), own->data(), count * per_image * sizeof(T)});
  } else {
    for (size_t i = 0; i < count; ++i) {
      downloads->push_back({at(i), own->data() + i * per_image, per_image * sizeof(T)});
    }
  }
  return own->data();
}

bool TileRenderer::TakeDepthNoise(const DepthNoiseConfig& config, uint64_t seed) {
  noise_ = config.enabled ? std::make_unique<NoiseJobs>(config, seed, projection_, width_, height_) : nullptr;
  if (!noise_) return true;
  const auto n = static_cast<size_t>(capacity_);
  for (Part& part : parts_) {
    part.host_moments = {*device_, MemorySide::kHost, n};
    part.moments = {*device_, MemorySide::kDevice, n};
    part.correlated = {*device_, MemorySide::kDevice, n * width_ * height_};
  }
  return true;
}

void TileRenderer::LayNoise(std::span<const SceneView> scenes, const Part& part, uint16_t* depth, int queue) {
  for (size_t i = 0; i < scenes.size(); ++i) {
    part.host_moments.data()[i] = NoiseJobs::Moment(scenes[i].noise_env, scenes[i].noise_step);
  }
  device_->Copy(queue, part.moments.data(), part.host_moments.data(), scenes.size() * sizeof(uint64_t));
  device_->LaunchNoise(queue, {noise_->Shape(0), noise_->Scatter(0), part.moments.data(), depth, part.correlated.data(),
                               static_cast<int>(scenes.size())});
}

void TileRenderer::RenderPart(std::span<const SceneView> scenes, size_t first, const RenderTargets& targets,
                              int queue) {
  Part& part = parts_[queue];
  const size_t n = scenes.size();
  device_->Wait(queue);
  downloads_.clear();
  uint8_t* rgb = Target(targets.rgb, first, n, 3, &part.rgb, &downloads_);
  Gather(scenes, rgb, part);
  part.scenes.Upload(*device_, queue, n);
  TileJob job = part.scenes.Job(models_.data(), n, width_, height_);
  job.depth_u16 = Target(targets.depth_u16, first, n, 1, &part.depth_u16, &downloads_);
  job.depth_f32 = Target(targets.depth_f32, first, n, 1, &part.depth_f32, &downloads_);
  job.segmentation = Target(targets.segmentation, first, n, 1, &part.segmentation, &downloads_);
  job.normals = Target(targets.normals, first, n, 3, &part.normals, &downloads_);
  job.bodies = Target(targets.bodies, first, n, 1, &part.bodies, &downloads_);
  if (rgb) {
    colour_look_->Begin(scenes, models_.data(), part.colour, queue);
    job.shades = part.colour.shades.data();
    job.layers = part.colour.layers.data(), job.layer_stride = colour_look_->LayerStride();
  }
  device_->Launch(queue, job);
  if (noise_ && job.depth_u16) LayNoise(scenes, part, job.depth_u16, queue);
  for (const Download& d : downloads_) device_->Copy(queue, d.to, d.from, d.bytes);
}

void TileRenderer::Render(std::span<const SceneView> scenes, const RenderTargets& targets) {
  GS_CHECK(!targets.rgb || colour_, "colour asked of a renderer made without it");
  for (const SceneView& scene : scenes) {
    GS_CHECK(entries_.contains(scene.model), "a scene of a model that the renderer was not made with");
  }
  if (targets.rgb) colour_look_->Prepare(scenes);
  int queue = 0;
  for (size_t first = 0; first < scenes.size(); first += capacity_) {
    RenderPart(scenes.subspan(first, std::min<size_t>(capacity_, scenes.size() - first)), first, targets, queue);
    queue = (queue + 1) % kTileQueues;
  }
  for (int i = 0; i < kTileQueues; ++i) device_->Wait(i);
}

}  // namespace gripstream
