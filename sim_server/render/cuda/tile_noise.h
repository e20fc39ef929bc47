// Depth noise as kernels' bodies: the CPU's per-pixel functions (noise_kernel.h) with one lane per thread.
//
//   depth -> Correlate, a thread per pixel -> Shift, a thread per pixel -> depth -> ScatterImage, a block per image
//
// Three launches, in this order: a pixel needs its neighbours of the stage before. Included by the files that
// instantiate the kernels (see lanes.h, with GS_RENDER_ONE_LANE).
#pragma once

#include "sim_server/render/cuda/block.h"
#include "sim_server/render/cuda/tile_job.h"
#include "sim_server/render/noise_kernel.h"

namespace gripstream::GS_RENDER_ISA {

// The clean image about a pixel, its outermost pixels repeated beyond its edges.
struct CleanPixel {
  const uint16_t* depth;
  int width, height, x, y, border;

  GS_HOST_DEVICE static int Clamp(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
  GS_HOST_DEVICE Lanes At(int dx, int dy) const {
    return static_cast<float>(depth[static_cast<int64_t>(Clamp(y + dy, height)) * width + Clamp(x + dx, width)]);
  }
  GS_HOST_DEVICE void Pair(Lanes column, Lanes row, Lanes* left, Lanes* right) const {
    const int dx = static_cast<int>(column.v) - border, dy = static_cast<int>(row.v) - border;
    *left = At(dx, dy), *right = At(dx + 1, dy);
  }
};

// A pixel of the job: its image, where it is in it, and how its image draws.
struct NoisePixel {
  NoiseJob job;
  int64_t env;
  int index, x, y;  // in its image
};
GS_HOST_DEVICE inline NoisePixel NoisePixelAt(const TileNoise& noise, int64_t i) {
  NoisePixel p = {noise.shape, 0, 0, 0, 0};
  const int pixels = p.job.width * p.job.height;
  p.env = i / pixels, p.index = static_cast<int>(i % pixels);
  p.x = p.index % p.job.width, p.y = p.index / p.job.width;
  const uint64_t moment = noise.moments[p.env];
  p.job.moment[0] = static_cast<uint32_t>(moment), p.job.moment[1] = static_cast<uint32_t>(moment >> 32);
  return p;
}

// `i` counts pixels over all images, here and below.
GS_HOST_DEVICE inline void CorrelatePixel(const TileNoise& noise, int64_t i) {
  const NoisePixel p = NoisePixelAt(noise, i);
  const CleanPixel image = {noise.depth + (i - p.index),      p.job.width, p.job.height, p.x, p.y,
                            static_cast<int>(p.job.border_px)};
  const NoiseDraws draws = DrawsAt(p.job, p.index);
  const Lanes z = DisturbDisparity(p.job, Jitter(p.job, image, draws.jitter_x, draws.jitter_y), draws.disparity);
  noise.correlated[i] = LoseEdge(p.job, image, z, draws.event).v;
}

GS_HOST_DEVICE inline void ShiftPixel(const TileNoise& noise, int64_t i) {
  const NoisePixel p = NoisePixelAt(noise, i);
  const NoiseDraws draws = DrawsAt(p.job, p.index);
  const float* z = noise.correlated + i;
  const float right = z[p.x + 1 < p.job.width ? 1 : 0], down = z[p.y + 1 < p.job.height ? p.job.width : 0];
  StoreUint16(noise.depth + i, ShiftAndDrop(p.job, draws.shift, draws.event, *z, right, down, p.x, p.y));
}

// Which of a chunk of pixels speckles and sticks start at, 32 to a thread.
struct ScatterShared {
  uint32_t speckles[kTileThreads], sticks[kTileThreads];
};

GS_HOST_DEVICE inline void FindSources(const NoisePixel& image, int first, uint32_t* speckles, uint32_t* sticks) {
  *speckles = *sticks = 0;
  const int pixels = image.job.width * image.job.height;
  for (int k = 0; k < 32 && first + k < pixels; ++k) {
    const Lanes event = DrawsAt(image.job, first + k).event;
    if (Bits(StartsSpeckle(image.job, event))) *speckles |= 1u << k;
    if (Bits(StartsStick(image.job, event))) *sticks |= 1u << k;
  }
}

// All threads look for sources; one draws what there is, in the images' order, for the last must stay.
template <class Block>
GS_HOST_DEVICE void ScatterImage(const Block& block, const TileNoise& noise, int env, ScatterShared& shared) {
  const int pixels = noise.shape.width * noise.shape.height;
  const NoisePixel image = NoisePixelAt(noise, static_cast<int64_t>(env) * pixels);
  noise::ScatterJob job = noise.scatter;
  job.moment = noise.moments[env];
  const noise::Scatter scatter = {job, noise.depth + static_cast<int64_t>(env) * pixels};
  for (int first = 0; first < pixels; first += 32 * kTileThreads) {
    block.ForThreads(
        [&](int thread) { FindSources(image, first + 32 * thread, &shared.speckles[thread], &shared.sticks[thread]); });
    block.ForThreads([&](int thread) {
      if (thread != 0) return;
      for (int i = 0; i < kTileThreads; ++i) {
        for (uint32_t left = shared.speckles[i] | shared.sticks[i], k = 0; left; left >>= 1, ++k) {
          const int pixel = first + 32 * i + static_cast<int>(k);
          if (shared.speckles[i] >> k & 1) scatter.Draw(2 * pixel);
          if (shared.sticks[i] >> k & 1) scatter.Draw(2 * pixel + 1);
        }
      }
    });
  }
}

}  // namespace gripstream::GS_RENDER_ISA
