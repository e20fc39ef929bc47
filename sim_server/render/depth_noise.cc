#include "sim_server/render/depth_noise.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "sim_server/render/config.h"

namespace gripstream {
namespace {

// Bounds of a sum of four uniforms, in standard deviations.
constexpr double kMostDeviations = 3.5;
// What a strip of pixels may be read and written beyond a row.
constexpr int kStrip = 16;

float F(double x) {
  return static_cast<float>(x);
}

float Quanta(double depth_m) {
  return F(std::rint(depth_m / kDepthQuantum_m));
}

NoiseJob ShapeOf(const DepthNoiseConfig& c, uint64_t seed, const Projection& p, int width, int height) {
  NoiseJob job = {};
  job.width = width, job.height = height;
  job.jitter_px = F(c.jitter_px);
  job.disparity_sigma = F(c.disparity_sigma), job.disparity_step = F(c.disparity_step);
  job.per_disparity_step = c.disparity_step > 0 ? F(1 / c.disparity_step) : 0;
  job.normal_sigma = F(c.normal_sigma_m / kDepthQuantum_m);
  job.edge = F(c.edge_m / kDepthQuantum_m);
  job.dropout = F(c.dropout), job.stick = F(c.stick), job.speckle_from = F(1 - c.speckle);
  job.edge_dropout_per_quantum = F(c.edge_dropout * kDepthQuantum_m / c.max_range_m);
  job.min_depth = Quanta(c.min_range_m), job.max_depth = Quanta(c.max_range_m);
  job.ray_x = F((0.5 - p.cx_px) / p.fx_px), job.ray_y = F((0.5 - p.cy_px) / p.fy_px);
  job.ray_du = F(1 / p.fx_px), job.ray_dv = F(1 / p.fy_px);
  job.border_px = F(std::ceil(kMostDeviations * c.jitter_px) + 1);
  const uint64_t key = RandomStream(seed, "depth_noise").Key();
  job.key[0] = static_cast<uint32_t>(key), job.key[1] = static_cast<uint32_t>(key >> 32);
  return job;
}

noise::ScatterJob ScatterOf(const DepthNoiseConfig& c, uint64_t seed, int width, int height) {
  return {width,
          height,
          Quanta(c.min_range_m),
          Quanta(c.max_range_m),
          F(c.speckle_spread),
          F(c.stick_length_px),
          F(c.stick_width_px),
          RandomStream(seed, "depth_noise_scatter").Key(),
          0};
}

}  // namespace

NoiseJobs::NoiseJobs(const DepthNoiseConfig& config, uint64_t seed, const Projection& projection, int width, int height)
    : shape_(ShapeOf(config, seed, projection, width, height)), scatter_(ScatterOf(config, seed, width, height)) {
  if (!(config.min_range_m < config.max_range_m)) {
    throw InputError("depth noise", "min_range_m", std::to_string(config.min_range_m), "less than max_range_m");
  }
}

uint64_t NoiseJobs::Moment(uint32_t env_id, uint64_t step) {
  return uint64_t{env_id} << 40 | (step & 0xFF'FFFF'FFFFu);
}

NoiseJob NoiseJobs::Shape(uint64_t moment) const {
  NoiseJob job = shape_;
  job.moment[0] = static_cast<uint32_t>(moment), job.moment[1] = static_cast<uint32_t>(moment >> 32);
  return job;
}

noise::ScatterJob NoiseJobs::Scatter(uint64_t moment) const {
  noise::ScatterJob job = scatter_;
  job.moment = moment;
  return job;
}

DepthNoise::DepthNoise(const DepthNoiseConfig& config, uint64_t seed, const Projection& projection, int width,
                       int height, int threads, const RenderKernels& kernels)
    : enabled_(config.enabled),
      jobs_(config, seed, projection, width, height),
      kernels_(kernels),
      pixels_(static_cast<int64_t>(width) * height),
      workspaces_(std::make_unique<Workspace[]>(static_cast<size_t>(threads))),
      parallel_(threads) {
  const int border = static_cast<int>(jobs_.Shape(0).border_px);
  clean_stride_ = width + 2 * border + kStrip;
  row_stride_ = width + 2 * kStrip;
  for (int i = 0; i < threads; ++i) {
    workspaces_[i].clean.resize(static_cast<size_t>(clean_stride_) * (height + 2 * border) + kStrip);
    workspaces_[i].rows.resize(size_t{kNoiseRows} * row_stride_);
    workspaces_[i].sources.resize(static_cast<size_t>(2 * pixels_));
  }
}

void DepthNoise::Apply(ImageTarget<uint16_t> depth, std::span<const uint32_t> env_ids,
                       std::span<const uint64_t> steps) {
  GS_CHECK(env_ids.size() == steps.size(), "as many environments as steps");
  if (!enabled_) return;
  parallel_(static_cast<int>(env_ids.size()), 1, [&](int begin, int end) {
    int mine = 0;  // at most as many bodies run as there are workspaces
    while (workspaces_[mine].taken.test_and_set(std::memory_order_acquire)) mine = (mine + 1) % parallel_.Threads();
    for (int i = begin; i < end; ++i) {
      ApplyOne(depth.Image(i, pixels_), NoiseJobs::Moment(env_ids[i], steps[i]), workspaces_[mine]);
    }
    workspaces_[mine].taken.clear(std::memory_order_release);
  });
}

void DepthNoise::ApplyOne(uint16_t* depth, uint64_t moment, Workspace& workspace) const {
  const NoiseCanvas canvas = {workspace.clean.data(),   clean_stride_, workspace.rows.data(), row_stride_,
                              workspace.sources.data(), depth};
  const int sources = kernels_.noise(jobs_.Shape(moment), canvas);
  const noise::ScatterJob job = jobs_.Scatter(moment);
  const noise::Scatter scatter = {job, depth};
  for (int i = 0; i < sources; ++i) scatter.Draw(canvas.sources[i]);
}

}  // namespace gripstream
