// Sensor noise one pixel at a time: what a CPU loop and a GPU thread both run. See depth_noise.h for the model.
//
// Pure functions; images are [H, W] floats in metres, 0 = nothing. Exact arithmetic only (add, multiply, divide,
// round).
#pragma once

#include <math.h>

#include <cstdint>

#include "core/rng.h"

namespace gripstream::noise {

struct Image {
  const float* depth;
  int width, height;
  GS_HOST_DEVICE float At(int x, int y) const {
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return depth[static_cast<int64_t>(y) * width + x];
  }
};

// Sum of four uniforms of 16 bits, scaled to variance 1. Two for one call, from one block of random bits.
struct TwoNormals {
  float first, second;
};
GS_HOST_DEVICE inline float SumOfFour(uint32_t a, uint32_t b) {
  const uint32_t sum = (a & 0xFFFFu) + (a >> 16) + (b & 0xFFFFu) + (b >> 16);  // mean 2 * 65535
  return (static_cast<float>(sum) - 131070.0f) * (1.7320508f / 65536.0f);
}
GS_HOST_DEVICE inline TwoNormals DrawNormals(Rng& rng) {
  const uint32_t a = rng.NextU32(), b = rng.NextU32(), c = rng.NextU32(), d = rng.NextU32();
  return {SumOfFour(a, b), SumOfFour(c, d)};
}

// Bilinear where all four neighbours show something no more than `edge_m` apart, else the nearest pixel.
GS_HOST_DEVICE inline float Sample(const Image& image, float x, float y, float edge_m) {
  const float fx = floorf(x), fy = floorf(y);
  const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
  const float a = x - fx, b = y - fy;
  const float z[4] = {image.At(ix, iy), image.At(ix + 1, iy), image.At(ix, iy + 1), image.At(ix + 1, iy + 1)};
  float low = z[0], high = z[0];
  for (int i = 1; i < 4; ++i) low = z[i] < low ? z[i] : low, high = z[i] > high ? z[i] : high;
  if (low == 0 || high - low > edge_m) return z[(a < 0.5f ? 0 : 1) + (b < 0.5f ? 0 : 2)];
  return (1 - b) * ((1 - a) * z[0] + a * z[1]) + b * ((1 - a) * z[2] + a * z[3]);
}

// Depth after rounding the disparity, in eighths of a pixel.
GS_HOST_DEVICE inline float QuantiseDisparity(float z_m, float noise, float step) {
  constexpr float kEighthsTimesMetres = 351.3f;  // 35130 cm
  if (!(z_m > 0)) return 0;
  float disparity = kEighthsTimesMetres / z_m + noise;
  if (step > 0) disparity = rintf(disparity / step) * step;
  return disparity > 0 ? kEighthsTimesMetres / disparity : 0;
}

// First stage: jitter and disparity noise.
GS_HOST_DEVICE inline float Correlated(const Image& clean, int x, int y, float jitter_px, float sigma, float step,
                                       float edge_m, Rng& rng) {
  const TwoNormals where = DrawNormals(rng);
  const TwoNormals what = DrawNormals(rng);
  const float z = Sample(clean, static_cast<float>(x) + jitter_px * where.first,
                         static_cast<float>(y) + jitter_px * where.second, edge_m);
  return QuantiseDisparity(z, sigma * what.first, step);
}

// How much of a shift along the surface's normal goes along the optical axis: the normal's z from forward differences;
// 1 where there is no surface to tell. (fx, fy, cx, cy) in pixels.
GS_HOST_DEVICE inline float NormalZ(const Image& image, int x, int y, float fx, float fy, float cx, float cy,
                                    float edge_m) {
  const float z = image.At(x, y), right = image.At(x + 1, y), down = image.At(x, y + 1);
  if (right == 0 || down == 0 || fabsf(right - z) > edge_m || fabsf(down - z) > edge_m) return 1;
  const float px = (static_cast<float>(x) + 0.5f - cx) / fx, py = (static_cast<float>(y) + 0.5f - cy) / fy;
  // Differences of the points z (px, py, 1) to the right and downwards; their cross product.
  const float ux = right * (px + 1 / fx) - z * px, uy = (right - z) * py, uz = right - z;
  const float vx = (down - z) * px, vy = down * (py + 1 / fy) - z * py, vz = down - z;
  const float nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const float length = sqrtf(nx * nx + ny * ny + nz * nz);
  return length > 0 ? fabsf(nz) / length : 1;
}

// Whether depth jumps here: nothing shows beside the pixel, or its neighbours' depths are together off twice its own by
// more than edge_m. A slope, however steep, is no jump.
GS_HOST_DEVICE inline bool IsEdge(const Image& image, int x, int y, float edge_m) {
  const float z = image.At(x, y);
  const float across[2] = {image.At(x - 1, y), image.At(x + 1, y)}, down[2] = {image.At(x, y - 1), image.At(x, y + 1)};
  if (across[0] == 0 || across[1] == 0 || down[0] == 0 || down[1] == 0) return true;
  return fabsf(across[0] + across[1] - 2 * z) > edge_m || fabsf(down[0] + down[1] - 2 * z) > edge_m;
}

}  // namespace gripstream::noise
