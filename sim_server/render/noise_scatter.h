// Speckles and sticks: what a depth image is overwritten with, source by source in row order, so that where several
// meet the last one stays. The same on CPU and GPU; see depth_noise.h.
//
// Pure functions over the caller's image; nothing throws.
#pragma once

#include <math.h>

#include <cstdint>

#include "core/rng.h"

namespace gripstream::noise {

struct ScatterJob {
  int width, height;
  float min_depth, max_depth;  // quanta
  float speckle_spread, stick_length_px, stick_width_px;
  uint64_t key;
  uint64_t moment;  // environment and step
};

struct Scatter {
  const ScatterJob& job;
  uint16_t* depth;  // [H, W]

  GS_HOST_DEVICE void Put(int x, int y, uint16_t z) const {
    if (x >= 0 && x < job.width && y >= 0 && y < job.height) depth[static_cast<int64_t>(y) * job.width + x] = z;
  }
  GS_HOST_DEVICE uint16_t RandomDepth(Rng& rng) const {
    return static_cast<uint16_t>(rintf(rng.Uniform(job.min_depth, job.max_depth)));
  }

  // Up to 2x2 pixels.
  GS_HOST_DEVICE void Speckle(int x, int y, Rng rng) const {
    const uint16_t z = RandomDepth(rng);
    for (int k = 0; k < 4; ++k) {
      if (k == 0 || rng.Uniform() < job.speckle_spread) Put(x + k % 2, y + k / 2, z);
    }
  }

  // A bar of constant depth from (x, y) in a random direction: the point of a square serves as direction.
  GS_HOST_DEVICE void Stick(int x, int y, Rng rng) const {
    const uint16_t z = RandomDepth(rng);
    const float dx = rng.Uniform(-1, 1), dy = rng.Uniform(-1, 1);
    const bool flat = fabsf(dx) > fabsf(dy);
    const float reach = flat ? fabsf(dx) : fabsf(dy);
    if (!(reach > 0)) return;
    const int length = 1 + static_cast<int>(rng.Uniform() * job.stick_length_px);
    const int width = 1 + static_cast<int>(rng.Uniform() * job.stick_width_px);
    for (int i = 0; i < length; ++i) {
      const int cx = x + static_cast<int>(rintf(static_cast<float>(i) * dx / reach));
      const int cy = y + static_cast<int>(rintf(static_cast<float>(i) * dy / reach));
      for (int k = 0; k < width; ++k) flat ? Put(cx, cy + k - width / 2, z) : Put(cx + k - width / 2, cy, z);
    }
  }

  // `source` as in NoiseCanvas: 2 pixel for a speckle, and 1 more for a stick.
  GS_HOST_DEVICE void Draw(int32_t source) const {
    const int pixel = source / 2, x = pixel % job.width, y = pixel / job.width;
    const Rng rng(job.key, static_cast<uint32_t>(source), job.moment);
    source % 2 ? Stick(x, y, rng) : Speckle(x, y, rng);
  }
};

}  // namespace gripstream::noise
