// Augments one image row by row: background and colours in one pass, then the blur from a copy with a border, which
// needs no test at the image's edges.
//
// Included by kernel files only (see lanes.h); no memory is allocated.
#pragma once

#include <string.h>

#include "sim_server/render/augment_kernel.h"
#include "sim_server/render/byte_sums.h"

namespace gripstream::GS_RENDER_ISA {

// The first two stages of row y; `to` may be the row itself.
inline void RecolourRow(const AugmentJob& job, const AugmentCanvas& canvas, int y, uint8_t* to) {
  const int64_t row = int64_t{y} * job.width;
  const uint8_t* from = canvas.rgb + 3 * row;
  const int32_t* ids = job.texels ? canvas.segmentation + row : nullptr;
  // Texel rows hold one column more, a copy of the first.
  const int64_t texel_row = int64_t{Stretched(y, job.texel_rows, job.height)} * (job.texel_columns + 1);
  const uint32_t* texels = job.texels ? job.texels + texel_row : nullptr;
  int x = 0;
  for (; x + kLanes <= job.width; x += kLanes) {
    RecolourStrip(job, from + 3 * x, texels, ids ? ids + x : nullptr, canvas.columns + x, to + 3 * x);
  }
  if (x == job.width) return;
  const size_t left = static_cast<size_t>(job.width - x);
  uint8_t part[3 * kLanes] = {};
  int32_t part_ids[kLanes] = {};
  memcpy(part, from + 3 * x, 3 * left);
  if (ids) memcpy(part_ids, ids + x, sizeof(int32_t) * left);
  RecolourStrip(job, part, texels, part_ids, canvas.columns + x, part);
  memcpy(to + 3 * x, part, 3 * left);
}

// Where pixel (0, y) is in the copy with a border.
inline uint8_t* PaddedRow(const AugmentCanvas& canvas, int y) {
  return canvas.padded + (y + canvas.border_px) * canvas.padded_stride + int64_t{3} * canvas.border_px;
}

// Repeats the first and the last pixel of a row beyond them.
inline void RepeatEnds(const AugmentCanvas& canvas, int width, uint8_t* row) {
  for (int i = 1; i <= canvas.border_px; ++i) {
    memcpy(row - 3 * i, row, 3);
    memcpy(row + 3 * (width - 1 + i), row + 3 * (width - 1), 3);
  }
}

// Repeats the first and the last row beyond them.
inline void RepeatRows(const AugmentCanvas& canvas, int height) {
  const size_t bytes = static_cast<size_t>(canvas.padded_stride);
  const uint8_t* first = PaddedRow(canvas, 0) - 3 * canvas.border_px;
  const uint8_t* last = PaddedRow(canvas, height - 1) - 3 * canvas.border_px;
  for (int i = 1; i <= canvas.border_px; ++i) {
    memcpy(PaddedRow(canvas, -i) - 3 * canvas.border_px, first, bytes);
    memcpy(PaddedRow(canvas, height - 1 + i) - 3 * canvas.border_px, last, bytes);
  }
}

// kAbreast strips of kBytes bytes side by side, which share the reading of the taps.
template <int kAbreast>
void BlurStrips(const AugmentJob::Blur& blur, const int64_t* offset, const uint8_t* from, uint8_t* to) {
  ByteSums sums[kAbreast];
  for (int i = 0; i < blur.taps; ++i) {
    for (int k = 0; k < kAbreast; ++k) sums[k].Add(from + offset[i] + k * kBytes, blur.weight[i]);
  }
  for (int k = 0; k < kAbreast; ++k) sums[k].Store(to + k * kBytes);
}

inline void BlurRow(const AugmentJob::Blur& blur, const int64_t* offset, const uint8_t* from, int bytes, uint8_t* to) {
  constexpr int kAbreast = 4;
  static_assert(kBytes <= kAugmentStrip_bytes);
  int x = 0;
  for (; x + kAbreast * kBytes <= bytes; x += kAbreast * kBytes) BlurStrips<kAbreast>(blur, offset, from + x, to + x);
  for (; x + kBytes <= bytes; x += kBytes) BlurStrips<1>(blur, offset, from + x, to + x);
  if (x == bytes) return;
  uint8_t part[kBytes];
  BlurStrips<1>(blur, offset, from + x, part);
  memcpy(to + x, part, static_cast<size_t>(bytes - x));
}

inline void BlurImage(const AugmentJob& job, const AugmentCanvas& canvas) {
  int64_t offset[kMostTaps];
  for (int i = 0; i < job.blur.taps; ++i) offset[i] = job.blur.dy[i] * canvas.padded_stride + 3 * job.blur.dx[i];
  for (int y = 0; y < job.height; ++y) {
    BlurRow(job.blur, offset, PaddedRow(canvas, y), 3 * job.width, canvas.rgb + int64_t{3} * y * job.width);
  }
}

inline void AugmentImage(const AugmentJob& job, const AugmentCanvas& canvas) {
  for (int x = 0; job.texels && x < job.width; ++x) {
    canvas.columns[x] = static_cast<float>(Stretched(x, job.texel_columns, job.width));
  }
  const bool recolours = job.texels || job.colours.change, blurs = job.blur.taps > 0;
  for (int y = 0; (recolours || blurs) && y < job.height; ++y) {
    uint8_t* row = canvas.rgb + int64_t{3} * y * job.width;
    uint8_t* to = blurs ? PaddedRow(canvas, y) : row;
    recolours ? RecolourRow(job, canvas, y, to) : void(memcpy(to, row, size_t{3} * static_cast<size_t>(job.width)));
    if (blurs) RepeatEnds(canvas, job.width, to);
  }
  if (!blurs) return;
  RepeatRows(canvas, job.height);
  BlurImage(job, canvas);
}

}  // namespace gripstream::GS_RENDER_ISA
