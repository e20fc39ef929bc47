// One image's depth noise as plain numbers, for the CPU's kernels and a GPU's; see depth_noise.h for the model.
//
// Plain values; no thread rule; nothing throws.
#pragma once

#include <cstdint>

namespace gripstream {

struct NoiseJob {
  int width, height;
  float jitter_px;
  float disparity_sigma, disparity_step, per_disparity_step;     // eighths of a pixel; steps to an eighth
  float normal_sigma, edge, min_depth, max_depth;                // quanta
  float dropout, edge_dropout_per_quantum, speckle_from, stick;  // bounds of a pixel's event in [0, 1)
  float ray_x, ray_y, ray_du, ray_dv;                            // the ray through pixel (0, 0) and its step per pixel
  float border_px;                                               // how far beyond the image depth is looked up at most
  uint32_t key[2];
  uint32_t moment[2];  // environment and step
};

inline constexpr int kNoiseRows = 9;

// A thread's scratch memory, for one image at a time. B = border_px.
struct NoiseCanvas {
  uint16_t* clean;  // [H + 2 B, clean_stride] the image with its outermost pixels repeated B times, room for a strip
  int clean_stride;
  float* rows;  // [kNoiseRows, row_stride]
  int row_stride;
  int32_t* sources;  // [2 H W] where speckles and sticks start, in row order: 2 (y W + x), and 1 more for sticks
  uint16_t* depth;   // [H, W] multiples of kDepthQuantum_m: where the result goes
};

}  // namespace gripstream
