// Noise of a structured-light or stereo depth camera, laid over rendered depth: deterministic, the same on CPU and GPU.
//
//   clean depth -> jittered, quantised disparity, edges lost -> shifted along normals, dropout -> speckle, sticks ->
//   range
//
// The model of Barron and Malik (CVPR 2013) and Handa et al. (ICRA 2014) for the first step: depth is looked up at a
// jittered pixel and its disparity, 35130 / z eighths of a pixel for z in centimetres, rounded after Gaussian noise of
// 1/6. (Published training code uses the constant with metres, where it has no effect.) The shift along the normal has
// a standard deviation in metres. Draws come from a RandomStream and depend on (seed, environment, step, pixel) alone.
// Gaussians are sums of four uniforms, bounded at 3.5 standard deviations: no library call can then differ.
//
// Apply is to be called by one thread at a time; it allocates nothing. Depth is uint16 in multiples of kDepthQuantum_m.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "core/rng.h"
#include "sim_server/render/camera.h"
#include "sim_server/render/depth_noise_config.h"
#include "sim_server/render/renderer.h"

namespace gripstream {

class DepthNoise {
 public:
  // InputError when the range is empty.
  DepthNoise(const DepthNoiseConfig& config, uint64_t seed, const Projection& projection, int width, int height,
             int threads);

  // Changes images [H, W] in place; image i belongs to the global environment env_ids[i] at its step steps[i].
  void Apply(ImageTarget<uint16_t> depth, std::span<const uint32_t> env_ids, std::span<const uint64_t> steps);

 private:
  // One thread's images between the stages, in metres.
  struct Workspace {
    std::vector<float> before, after;
    std::atomic_flag taken = ATOMIC_FLAG_INIT;
  };

  void ApplyOne(uint16_t* depth, uint64_t moment, Workspace& workspace) const;

  DepthNoiseConfig config_;
  RandomStream stream_;
  Projection projection_;
  int width_, height_;
  std::unique_ptr<Workspace[]> workspaces_;
  ParallelFor parallel_;
};

}  // namespace gripstream
