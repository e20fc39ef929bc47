// Lays noise over one image, row by row, so that what is needed between the stages stays in the nearest cache.
//
// Included by kernel files only (see lanes.h); no memory is allocated.
#pragma once

#include <string.h>

#include "sim_server/render/noise_kernel.h"

namespace gripstream::GS_RENDER_ISA {

// The clean image about a strip (see noise_kernel.h).
struct CleanStrip {
  const uint16_t* corner;  // border_px up and left of the strip's first pixel
  int stride, border;
  void Pair(Lanes x, Lanes y, Lanes* left, Lanes* right) const {
    GatherUint16Pair(corner, y * Lanes(static_cast<float>(stride)) + x, left, right);
  }
  Lanes At(int dx, int dy) const { return LoadUint16(corner + int64_t{border + dy} * stride + border + dx); }
};

// Copies the image into the canvas with its outermost pixels repeated beyond its edges.
inline void CopyClean(const NoiseJob& job, const NoiseCanvas& canvas) {
  const int border = static_cast<int>(job.border_px);
  for (int y = -border; y < job.height + border; ++y) {
    const int from_y = y < 0 ? 0 : y >= job.height ? job.height - 1 : y;
    const uint16_t* from = canvas.depth + int64_t{from_y} * job.width;
    uint16_t* to = canvas.clean + int64_t{y + border} * canvas.clean_stride;
    for (int i = 0; i < border; ++i) to[i] = from[0], to[border + job.width + i] = from[job.width - 1];
    memcpy(to + border, from, sizeof(uint16_t) * static_cast<size_t>(job.width));
  }
}

// A row between the stages.
struct NoiseRow {
  float *z, *shift, *event;                // of this row or the next
  float *jitter_x, *jitter_y, *disparity;  // of the last row that was drawn
};
inline NoiseRow RowOf(const NoiseCanvas& canvas, int y) {
  const auto row = [&canvas](int i) { return canvas.rows + int64_t{i} * canvas.row_stride; };
  const int first = 3 * (y % 2);
  return {row(first), row(first + 1), row(first + 2), row(6), row(7), row(8)};
}

// Short loops one after the other: a processor then works on many strips at once where one long chain would keep it
// waiting.
inline void CorrelateRow(const NoiseJob& job, const NoiseCanvas& canvas, int y) {
  const NoiseRow row = RowOf(canvas, y);
  const uint16_t* corner = canvas.clean + int64_t{y} * canvas.clean_stride;
  const int border = static_cast<int>(job.border_px);
  const auto image = [&](int x) { return CleanStrip{corner + x, canvas.clean_stride, border}; };
  for (int x = 0; x < job.width; x += kLanes) {
    const NoiseDraws draws = DrawsAt(job, y * job.width + x);
    Store(row.jitter_x + x, draws.jitter_x), Store(row.jitter_y + x, draws.jitter_y);
    Store(row.disparity + x, draws.disparity), Store(row.shift + x, draws.shift), Store(row.event + x, draws.event);
  }
  for (int x = 0; x < job.width; x += kLanes) {
    Store(row.z + x, Jitter(job, image(x), Lanes::Load(row.jitter_x + x), Lanes::Load(row.jitter_y + x)));
  }
  for (int x = 0; x < job.width; x += kLanes) {
    Store(row.z + x, DisturbDisparity(job, Lanes::Load(row.z + x), Lanes::Load(row.disparity + x)));
  }
  for (int x = 0; x < job.width; x += kLanes) {
    Store(row.z + x, LoseEdge(job, image(x), Lanes::Load(row.z + x), Lanes::Load(row.event + x)));
  }
  row.z[job.width] = row.z[job.width - 1];
}

// The strip's pixels where something starts, in order; returns how many sources there are now.
inline int AddSources(const NoiseJob& job, Lanes event, int first_pixel, int pixels, int32_t* sources, int count) {
  float lane[kLanes];
  Store(lane, event);
  for (int i = 0; i < kLanes && i < pixels; ++i) {
    if (job.speckle_from <= lane[i]) sources[count++] = 2 * (first_pixel + i);
    if (lane[i] < job.stick) sources[count++] = 2 * (first_pixel + i) + 1;
  }
  return count;
}

// `down` is the next row, or the last one itself. Returns how many sources there are now.
inline int ShiftRow(const NoiseJob& job, const NoiseCanvas& canvas, int y, const float* down, int sources) {
  const NoiseRow row = RowOf(canvas, y);
  uint16_t* out = canvas.depth + int64_t{y} * job.width;
  for (int x = 0; x < job.width; x += kLanes) {
    const Lanes event = Lanes::Load(row.event + x);
    const Lanes quanta = ShiftAndDrop(job, Lanes::Load(row.shift + x), event, Lanes::Load(row.z + x),
                                      Lanes::Load(row.z + x + 1), Lanes::Load(down + x), x, y);
    const int left = job.width - x;
    if (left >= kLanes) {
      StoreUint16(out + x, quanta);
    } else {
      uint16_t part[kLanes];
      StoreUint16(part, quanta);
      memcpy(out + x, part, sizeof(uint16_t) * static_cast<size_t>(left));
    }
    if (Bits(StartsSpeckle(job, event)) | Bits(StartsStick(job, event))) {
      sources = AddSources(job, event, y * job.width + x, left, canvas.sources, sources);
    }
  }
  return sources;
}

// Returns how many sources there are.
inline int NoiseImage(const NoiseJob& job, const NoiseCanvas& canvas) {
  CopyClean(job, canvas);
  int sources = 0;
  CorrelateRow(job, canvas, 0);
  for (int y = 0; y + 1 < job.height; ++y) {
    CorrelateRow(job, canvas, y + 1);
    sources = ShiftRow(job, canvas, y, RowOf(canvas, y + 1).z, sources);
  }
  return ShiftRow(job, canvas, job.height - 1, RowOf(canvas, job.height - 1).z, sources);
}

}  // namespace gripstream::GS_RENDER_ISA
