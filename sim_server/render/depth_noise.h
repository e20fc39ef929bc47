// Noise of a structured-light or stereo depth camera, laid over rendered depth: deterministic, the same on CPU and GPU.
//
//   clean depth -> jittered, quantised disparity, edges lost -> shifted along normals, dropout, range -> speckles,
//   sticks
//
// The model of Barron and Malik (CVPR 2013) and Handa et al. (ICRA 2014) for the first step: depth is looked up at a
// jittered pixel and its disparity, 35130 / z eighths of a pixel for z in centimetres, rounded after Gaussian noise of
// 1/6. (Published training code uses the constant with metres, where it has no effect.) The shift along the normal has
// a standard deviation in metres. Draws depend on (seed, environment, step, pixel) alone. Gaussians are sums of four
// uniforms, bounded at 3.5 standard deviations: no library call can then differ.
//
// One source for CPU and GPU (noise_kernel.h); all instruction sets and any number of threads give the same bits. Apply
// is to be called by one thread at a time; it allocates nothing. Depth is uint16 in multiples of kDepthQuantum_m.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "sim_server/render/camera.h"
#include "sim_server/render/depth_noise_config.h"
#include "sim_server/render/kernels.h"
#include "sim_server/render/noise_job.h"
#include "sim_server/render/noise_scatter.h"
#include "sim_server/render/renderer.h"

namespace gripstream {

// The settings as the kernels take them.
class NoiseJobs {
 public:
  // InputError when the range is empty.
  NoiseJobs(const DepthNoiseConfig& config, uint64_t seed, const Projection& projection, int width, int height);
  // Environment and step in one number, as the jobs take them.
  static uint64_t Moment(uint32_t env_id, uint64_t step);
  NoiseJob Shape(uint64_t moment) const;
  noise::ScatterJob Scatter(uint64_t moment) const;

 private:
  NoiseJob shape_;
  noise::ScatterJob scatter_;
};

class DepthNoise {
 public:
  // InputError when the range is empty.
  DepthNoise(const DepthNoiseConfig& config, uint64_t seed, const Projection& projection, int width, int height,
             int threads, const RenderKernels& kernels = AvailableKernels().front());

  // Changes images [H, W] in place; image i belongs to the global environment env_ids[i] at its step steps[i].
  void Apply(ImageTarget<uint16_t> depth, std::span<const uint32_t> env_ids, std::span<const uint64_t> steps);

 private:
  // One thread's scratch memory.
  struct Workspace {
    std::vector<uint16_t> clean;
    std::vector<float> rows;
    std::vector<int32_t> sources;
    std::atomic_flag taken = ATOMIC_FLAG_INIT;
  };

  void ApplyOne(uint16_t* depth, uint64_t moment, Workspace& workspace) const;

  bool enabled_;
  NoiseJobs jobs_;
  RenderKernels kernels_;
  int64_t pixels_;  // of an image
  int clean_stride_, row_stride_;
  std::unique_ptr<Workspace[]> workspaces_;  // one per thread
  ParallelFor parallel_;
};

}  // namespace gripstream
