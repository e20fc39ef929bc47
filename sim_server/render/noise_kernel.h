// Depth noise of kLanes neighbouring pixels: what a CPU loop and a GPU thread both run (see depth_noise.h).
//
// All of a pixel's draws come from one block of random bits, whose counter is (pixel, environment and step). Philox
// with 7 rounds, the fewest that pass TestU01's BigCrush, where core/rng.h takes 10. Exact arithmetic only: no
// instruction set and no GPU rounds otherwise. Depth is in quanta. Included by kernel files only (see lanes.h).
#pragma once

#include "sim_server/render/noise_job.h"
#include "sim_server/render/words.h"

namespace gripstream::GS_RENDER_ISA {

// Of types as plain as can be: what all pixels share stays one number for as many rounds as it does.
template <class A, class B, class C, class D>
struct NoiseBlock {
  A x0;
  B x1;
  C x2;
  D x3;
};
template <class A, class B, class C, class D>
GS_HOST_DEVICE NoiseBlock<A, B, C, D> BlockOf(A x0, B x1, C x2, D x3) {
  return {x0, x1, x2, x3};
}

template <class A, class B, class C, class D>
GS_HOST_DEVICE auto PhiloxRound(const NoiseBlock<A, B, C, D>& c, int round, const uint32_t key[2]) {
  const auto first = MultiplyWide(0xD2511F53u, c.x0);
  const auto second = MultiplyWide(0xCD9E8D57u, c.x2);
  const uint32_t key0 = key[0] + static_cast<uint32_t>(round) * 0x9E3779B9u;
  const uint32_t key1 = key[1] + static_cast<uint32_t>(round) * 0xBB67AE85u;
  return BlockOf(second.high ^ c.x1 ^ key0, second.low, first.high ^ c.x3 ^ key1, first.low);
}

GS_HOST_DEVICE inline NoiseBlock<Words, Words, Words, Words> NoiseBits(const NoiseJob& job, int first_pixel) {
  const Words pixel = Words::Iota() + Words(static_cast<uint32_t>(first_pixel));
  const auto start = BlockOf(0u, pixel, job.moment[0], job.moment[1]);
  const auto third = PhiloxRound(PhiloxRound(PhiloxRound(start, 0, job.key), 1, job.key), 2, job.key);
  NoiseBlock<Words, Words, Words, Words> bits = {third.x0, third.x1, third.x2, third.x3};
  for (int round = 3; round < 7; ++round) bits = PhiloxRound(bits, round, job.key);
  return bits;
}

// What happens to a pixel: four Gaussians of variance 1, bounded at 3.5, and a number in [0, 1) that decides on losses,
// speckles and sticks.
struct NoiseDraws {
  Lanes jitter_x, jitter_y, disparity, shift, event;
};

// Sums of four uniforms: of 6 bits each from a word's low 24, of 8 bits each from a whole word.
GS_HOST_DEVICE inline Lanes SumOfFour6(Words w) {
  const Words pairs = (w & Words(0x0003F03Fu)) + (ShiftRight<6>(w) & Words(0x0003F03Fu));
  const Words sum = (pairs + ShiftRight<12>(pairs)) & Words(0xFFu);
  return (ToLanes(sum) - Lanes(126.0f)) * Lanes(1.0f / 36.945906f);
}
GS_HOST_DEVICE inline Lanes SumOfFour8(Words w) {
  const Words pairs = (w & Words(0x00FF00FFu)) + (ShiftRight<8>(w) & Words(0x00FF00FFu));
  const Words sum = (pairs + ShiftRight<16>(pairs)) & Words(0x7FFu);
  return (ToLanes(sum) - Lanes(510.0f)) * Lanes(1.0f / 147.80054f);
}

GS_HOST_DEVICE inline NoiseDraws DrawsAt(const NoiseJob& job, int first_pixel) {
  const auto bits = NoiseBits(job, first_pixel);
  const Words event = ShiftRight<24>(bits.x0) + (ShiftRight<16>(bits.x1) & Words(0xFF00u)) +
                      (ShiftRight<8>(bits.x2) & Words(0xFF0000u));
  return {SumOfFour6(bits.x0), SumOfFour6(bits.x1), SumOfFour6(bits.x2), SumOfFour8(bits.x3),
          ToLanes(event) * Lanes(1.0f / 16777216)};
}

// To the nearest whole number, ties to even, for |x| < 2^22.
GS_HOST_DEVICE inline Lanes RoundToWhole(Lanes x) {
  const Lanes big(12582912.0f);
  return (x + big) - big;
}

// Bilinear where all four neighbours show something no more than `edge` apart, else the nearest pixel. (x, y) counts
// from the point border_px up and left of the strip's first pixel. `image` gives depth: At(dx, dy) beside the
// strip's pixels, Pair(x, y) of two pixels side by side at such a place.
template <class Image>
GS_HOST_DEVICE Lanes SampleDepth(const Image& image, Lanes x, Lanes y, float edge) {
  const Lanes half(0.5f), zero(0.0f);
  const Lanes column = Trunc(x), row = Trunc(y);
  const Lanes a = x - column, b = y - row;
  Lanes top[2] = {0.0f, 0.0f}, bottom[2] = {0.0f, 0.0f};
  image.Pair(column, row, &top[0], &top[1]);
  image.Pair(column, row + Lanes(1.0f), &bottom[0], &bottom[1]);
  const Lanes low = Min(Min(top[0], top[1]), Min(bottom[0], bottom[1]));
  const Lanes high = Max(Max(top[0], top[1]), Max(bottom[0], bottom[1]));
  const LaneMask left = a < half, upper = b < half;
  const Lanes nearest = Select(upper, Select(left, top[0], top[1]), Select(left, bottom[0], bottom[1]));
  const Lanes along_top = top[0] + a * (top[1] - top[0]), along_bottom = bottom[0] + a * (bottom[1] - bottom[0]);
  const LaneMask smooth = (zero < low) & (high - low <= Lanes(edge));
  return Select(smooth, along_top + b * (along_bottom - along_top), nearest);
}

// Depth after rounding the disparity, in eighths of a pixel.
GS_HOST_DEVICE inline Lanes QuantiseDisparity(const NoiseJob& job, Lanes z, Lanes noise) {
  const Lanes eighths_times_quanta(3513000.0f);  // 35130 cm
  const Lanes zero(0.0f);
  Lanes disparity = eighths_times_quanta * FastReciprocal(z) + noise;
  if (job.disparity_step > 0) {
    disparity = RoundToWhole(disparity * Lanes(job.per_disparity_step)) * Lanes(job.disparity_step);
  }
  return Keep((zero < z) & (zero < disparity), eighths_times_quanta * FastReciprocal(disparity));
}

// Where depth does not jump: all four neighbours show something, and neither pair of them is together off twice the
// pixel's own depth by more than edge. A slope, however steep, is no jump.
template <class Image>
GS_HOST_DEVICE LaneMask IsSmooth(const Image& image, float edge) {
  const Lanes zero(0.0f), limit(edge);
  const Lanes twice = Lanes(2.0f) * image.At(0, 0);
  const Lanes left = image.At(-1, 0), right = image.At(1, 0), up = image.At(0, -1), down = image.At(0, 1);
  const Lanes step = Max(Abs(left + right - twice), Abs(up + down - twice));
  return (zero < Min(Min(left, right), Min(up, down))) & (step <= limit);
}

// First stage, from the clean image, in three steps: jitter, disparity, losses at edges, which grow with distance.
template <class Image>
GS_HOST_DEVICE Lanes Jitter(const NoiseJob& job, const Image& image, Lanes draw_x, Lanes draw_y) {
  const Lanes jitter(job.jitter_px), border(job.border_px);
  return SampleDepth(image, Lanes::Iota() + border + jitter * draw_x, border + jitter * draw_y, job.edge);
}
GS_HOST_DEVICE inline Lanes DisturbDisparity(const NoiseJob& job, Lanes z, Lanes draw) {
  return QuantiseDisparity(job, z, Lanes(job.disparity_sigma) * draw);
}
template <class Image>
GS_HOST_DEVICE Lanes LoseEdge(const NoiseJob& job, const Image& image, Lanes z, Lanes event) {
  const Lanes if_edge = Select(event < Lanes(job.edge_dropout_per_quantum) * z, Lanes(0.0f), z);
  return Select(IsSmooth(image, job.edge), z, if_edge);
}

// How much of a shift along the surface's normal goes along the optical axis: the normal's z from forward differences;
// 1 where there is no surface to tell. With a, b the differences of depth to the right and downwards, the points'
// cross product is (-a down dv, -b right du, ...) in the frame of the pixel's ray.
GS_HOST_DEVICE inline Lanes NormalZ(const NoiseJob& job, Lanes z, Lanes right, Lanes down, int x, int y) {
  const Lanes zero(0.0f), limit(job.edge);
  const Lanes a = right - z, b = down - z;
  const LaneMask surface = (zero < right) & (zero < down) & (Max(Abs(a), Abs(b)) <= limit);
  const Lanes nx = a * down * Lanes(job.ray_dv), ny = b * right * Lanes(job.ray_du);
  const Lanes px = Lanes(job.ray_x) + (Lanes::Iota() + Lanes(static_cast<float>(x))) * Lanes(job.ray_du);
  const Lanes py(job.ray_y + static_cast<float>(y) * job.ray_dv);
  const Lanes nz = nx * px + ny * py + right * down * Lanes(job.ray_du * job.ray_dv);
  return Select(surface, Abs(nz) * FastReciprocalRoot(nx * nx + ny * ny + nz * nz), Lanes(1.0f));
}

// Second stage, from the first's image: shift along the normal, dropout, range. Whole numbers.
GS_HOST_DEVICE inline Lanes ShiftAndDrop(const NoiseJob& job, Lanes shift, Lanes event, Lanes z, Lanes right,
                                         Lanes down, int x, int y) {
  const Lanes moved = RoundToWhole(z + Lanes(job.normal_sigma) * shift * NormalZ(job, z, right, down, x, y));
  const LaneMask kept = (Lanes(0.0f) < z) & (Lanes(job.dropout) <= event) & (Lanes(job.min_depth) <= moved) &
                        (moved <= Lanes(job.max_depth));
  return Keep(kept, moved);
}

// Where speckles and sticks start.
GS_HOST_DEVICE inline LaneMask StartsSpeckle(const NoiseJob& job, Lanes event) {
  return Lanes(job.speckle_from) <= event;
}
GS_HOST_DEVICE inline LaneMask StartsStick(const NoiseJob& job, Lanes event) {
  return event < Lanes(job.stick);
}

}  // namespace gripstream::GS_RENDER_ISA
