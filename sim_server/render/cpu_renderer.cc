#include "sim_server/render/cpu_renderer.h"

#include <algorithm>

#include "core/error.h"
#include "sim_server/render/normals.h"

namespace gripstream {
namespace {

// Bytes of working image that stay in the nearest cache beside everything else.
constexpr int kBandBytes = 24 * 1024;

int BandRows(int height, int stride) {
  const int most = std::max(1, kBandBytes / (stride * static_cast<int>(sizeof(float))));
  const int bands = (height + most - 1) / most;
  return (height + bands - 1) / bands;
}

View WithProjection(View view, const Projection& p) {
  view.fx = static_cast<float>(p.fx_px), view.fy = static_cast<float>(p.fy_px);
  view.cx = static_cast<float>(p.cx_px), view.cy = static_cast<float>(p.cy_px);
  return view;
}

// Forgets whose a pixel is where that is beyond far_m.
void DropBeyond(const View& view, const Canvas& canvas) {
  const float far = 1.0f / view.far_m;
  const int64_t count = static_cast<int64_t>(view.height) * canvas.stride;
  for (int64_t i = 0; i < count; ++i) canvas.geom[i] = canvas.inverse_depth[i] > far ? canvas.geom[i] : -1;
}

SceneJob JobOf(const SceneView& scene, int camera_id, const ModelAssets& assets) {
  SceneJob job;
  job.batches = assets.batches.data();
  job.batch_count = static_cast<int>(assets.batches.size());
  job.geoms = assets.geoms.data();
  job.geom_count = static_cast<int>(assets.geoms.size());
  job.meshes = assets.meshes.data();
  job.mesh_count = static_cast<int>(assets.meshes.size());
  job.geom_xpos = scene.geom_xpos;
  job.geom_xmat = scene.geom_xmat;
  PlaceCamera(scene, camera_id, &job);
  return job;
}

}  // namespace

CpuRenderer::CpuRenderer(const RenderConfig& config, const std::string& camera, std::span<const mjModel* const> models,
                         int threads, const RenderKernels& kernels, std::shared_ptr<RenderAssets> assets)
    : width_(config.width),
      height_(config.height),
      stride_((config.width + 15) / 16 * 16 + kRowPadding),
      band_rows_(BandRows(config.height, stride_)),
      kernels_(kernels),
      assets_(assets ? std::move(assets) : std::make_shared<RenderAssets>()),
      workspaces_(std::make_unique<Workspace[]>(static_cast<size_t>(threads))),
      parallel_(threads) {
  size_t most_geoms = 0, most_ids = 0, most_lights = 0;
  bool layers = false;
  for (const mjModel* model : models) {
    ModelTable table;
    table.camera_id = FindCamera(*model, camera);
    const View view = {
        width_, height_, 0, 0, 0, 0, static_cast<float>(config.near_m), static_cast<float>(config.far_m)};
    table.view = WithProjection(view, ProjectionOf(*model, table.camera_id, width_, height_));
    table.assets = &assets_->Of(*model, config.colour);
    most_geoms = std::max(most_geoms, table.assets->geoms.size());
    if (config.colour) {
      table.colour_reach_m = static_cast<float>(model->vis.map.zfar * model->stat.extent);
      most_ids = std::max(most_ids, static_cast<size_t>(model->ngeom));
      most_lights = std::max(most_lights, table.assets->shader->Lights());
      for (const DrawnGeom& geom : table.assets->geoms) table.has_translucent |= geom.translucent;
      layers = layers || table.has_translucent;
    }
    tables_[model] = table;
  }
  for (int i = 0; i < threads; ++i) {
    workspaces_[i].inverse_depth.resize(static_cast<size_t>(stride_) * height_);
    workspaces_[i].geom.resize(static_cast<size_t>(stride_) * height_);
    workspaces_[i].triangle.resize(static_cast<size_t>(stride_) * height_);
    workspaces_[i].vertices.resize(size_t{5} * assets_->Meshes().LargestVertexCount());
    workspaces_[i].surfaces.resize(kMaxSurfacesPerGeom * most_geoms);
    workspaces_[i].lights.resize(most_lights);
    workspaces_[i].frames.resize(most_ids);
    workspaces_[i].local_lights.resize(most_ids * most_lights);
    if (config.shadows && config.colour) {
      workspaces_[i].shadows = std::make_unique<ShadowMaps>(config.shadow_px, most_lights);
    }
    if (!layers) continue;
    workspaces_[i].layer_inverse.resize(static_cast<size_t>(stride_) * height_);
    workspaces_[i].layer_geom.resize(static_cast<size_t>(stride_) * height_);
    workspaces_[i].layer_triangle.resize(static_cast<size_t>(stride_) * height_);
    workspaces_[i].layer_order.resize(most_geoms);
  }
}

CpuRenderer::Workspace& CpuRenderer::TakeWorkspace() {
  // At most `threads` bodies run at once, so one of as many workspaces is free.
  for (int i = 0;; i = (i + 1) % parallel_.Threads()) {
    if (!workspaces_[i].taken.test_and_set(std::memory_order_acquire)) return workspaces_[i];
  }
}

void CpuRenderer::Render(std::span<const SceneView> scenes, const RenderTargets& targets) {
  for (const SceneView& scene : scenes) {
    GS_CHECK(tables_.contains(scene.model), "a scene of a model that the renderer was not made with");
    GS_CHECK(!targets.rgb || tables_.at(scene.model).assets->shader, "colour asked of a renderer made without it");
  }
  const int count = static_cast<int>(scenes.size());
  // Small ranges even out the load; the split cannot change a pixel.
  const int grain = std::clamp(count / (8 * parallel_.Threads()), 1, 16);
  parallel_(count, grain, [&](int begin, int end) {
    Workspace& workspace = TakeWorkspace();
    for (int i = begin; i < end; ++i) RenderOne(scenes[i], i, targets, workspace);
    workspace.taken.clear(std::memory_order_release);
  });
}

void CpuRenderer::RenderOne(const SceneView& scene, int64_t image, const RenderTargets& targets,
                            Workspace& workspace) const {
  const ModelTable& table = tables_.at(scene.model);
  const SceneJob job = JobOf(scene, table.camera_id, *table.assets);
  const View view = scene.intrinsics ? WithProjection(table.view, scene.intrinsics[table.camera_id]) : table.view;
  const bool keeps_ids = targets.segmentation || targets.bodies || targets.normals;
  const bool wants_ids = keeps_ids || targets.rgb, meshes = job.mesh_count > 0;
  const bool layers = targets.rgb && workspace.layer_inverse.size() > 0 && table.has_translucent;
  const int64_t pixels = int64_t{width_} * height_;
  Canvas canvas = {};
  canvas.inverse_depth = workspace.inverse_depth.data();
  canvas.geom = wants_ids ? workspace.geom.data() : nullptr;
  canvas.triangle = (targets.normals || targets.rgb) && meshes ? workspace.triangle.data() : nullptr;
  canvas.vertices = workspace.vertices.data();
  canvas.stride = stride_;
  canvas.band_rows = keeps_ids || meshes ? height_ : targets.rgb ? (band_rows_ + 1) / 2 : band_rows_;
  canvas.reach_m = targets.rgb ? std::max(view.far_m, table.colour_reach_m) : view.far_m;
  canvas.surfaces = workspace.surfaces.data();
  canvas.depth_u16 = targets.depth_u16.Image(image, pixels);
  canvas.depth_f32 = targets.depth_f32.Image(image, pixels);
  canvas.keeps_ids = keeps_ids;
  if (layers) {
    canvas.layer_inverse = workspace.layer_inverse.data();
    canvas.layer_geom = workspace.layer_geom.data();
    canvas.layer_triangle = workspace.layer_triangle.data();
    canvas.layer_order = workspace.layer_order.data();
  }
  if (targets.rgb) {
    const ShadeScratch scratch = {workspace.lights.data(), workspace.frames.data(), workspace.local_lights.data()};
    ShadeJob shade = table.assets->shader->Job(job, scene, view, targets.rgb.Image(image, 3 * pixels), scratch);
    shade.has_shadows = workspace.shadows != nullptr;
    if (workspace.shadows) {
      workspace.shadows->Draw(kernels_, job, table.assets->shader->Look(), canvas, scratch.lights);
    }
    kernels_.render(view, job, canvas, &shade);
  } else {
    kernels_.render(view, job, canvas, nullptr);
  }
  // Colour is drawn farther than ids reach.
  if (canvas.reach_m > view.far_m && keeps_ids) DropBeyond(view, canvas);
  const auto copy_ids = [&](int32_t* out, auto id_of) {
    for (int y = 0; out && y < height_; ++y) {
      const int32_t* row = canvas.geom + static_cast<int64_t>(y) * stride_;
      std::transform(row, row + width_, out + static_cast<int64_t>(y) * width_, id_of);
    }
  };
  copy_ids(targets.segmentation.Image(image, pixels), [](int32_t geom) { return geom; });
  copy_ids(targets.bodies.Image(image, pixels),
           [&](int32_t geom) { return geom < 0 ? -1 : scene.model->geom_bodyid[geom]; });
  if (targets.normals) WriteNormals(view, job, canvas, targets.normals.Image(image, 3 * pixels));
}

}  // namespace gripstream
