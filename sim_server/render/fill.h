// Fills a surface's rectangle in the working image, strip of columns by strip, nearest surface first come by depth.
//
// Included by kernel files only (see lanes.h).
#pragma once

#include "sim_server/render/lanes.h"
#include "sim_server/render/surface.h"

namespace gripstream::GS_RENDER_ISA {

// Rows [y0, y1) of the image, being drawn.
struct Band {
  int y0, y1;
  int stride;
  float* inverse;     // of row y0
  int32_t* geom;      // of row y0, or null
  int32_t* triangle;  // the same
};

// Pixels [x0, x1) x [y0, y1).
struct PixelRect {
  int x0, x1, y0, y1;
};

// What is written where a surface wins; of equals the last, as in MuJoCo's renderer.
struct Identity {
  int32_t geom, triangle;
};

// One strip of columns over some rows; lanes outside `inside` are left alone. `at` is the strip's first pixel in the
// band.
template <class Column>
void FillMasked(const Column& column, Lanes v, int rows, int64_t at, float max_inverse, LaneMask inside, Identity id,
                const Band& band) {
  const Lanes max_s(max_inverse);
  for (int i = 0; i < rows; ++i, v = v + Lanes(1.0f), at += band.stride) {
    const Lanes s = column(v);
    const LaneMask nearer = (Lanes::Load(band.inverse + at) <= s) & (s <= max_s) & inside;
    StoreWhere(nearer, band.inverse + at, s);
    if (band.geom) StoreWhere(nearer, band.geom + at, id.geom);
    if (band.triangle) StoreWhere(nearer, band.triangle + at, id.triangle);
  }
}

// The same for whole strips of surfaces that the near plane does not cut, when only depth is wanted.
template <class Column>
void FillPlain(const Column& column, Lanes v, int rows, float* inverse, int stride) {
  for (int i = 0; i < rows; ++i, v = v + Lanes(1.0f), inverse += stride) {
    Store(inverse, Max(column(v), Lanes::Load(inverse)));  // Max keeps the second where the first is not a number
  }
}

// `Column` is made of the surface and the strip's column offsets.
template <class Column, class SurfaceType>
void Fill(const SurfaceType& surface, const PlacementOf<float>& place, const PixelRect& rect, Identity id,
          const Band& band) {
  const int y0 = rect.y0 > band.y0 ? rect.y0 : band.y0;
  const int y1 = rect.y1 < band.y1 ? rect.y1 : band.y1;
  const int64_t start = int64_t{y0 - band.y0} * band.stride;
  const Lanes v(static_cast<float>(y0) - place.origin_y);
  const bool plain = !band.geom && place.max_inverse_depth == kNoCut;
  for (int x = rect.x0; x < rect.x1; x += kLanes) {
    const Column column(surface, Lanes::Iota() + Lanes(static_cast<float>(x) - place.origin_x));
    if (plain && x + kLanes <= rect.x1) {
      FillPlain(column, v, y1 - y0, band.inverse + start + x, band.stride);
    } else {
      FillMasked(column, v, y1 - y0, start + x, place.max_inverse_depth, FirstLanes(rect.x1 - x), id, band);
    }
  }
}

// Takes lane `lane` out of a structure of Lanes; `To` is the same structure of floats.
template <class To, class From>
void TakeLane(const From& from, int lane, To* to) {
  static_assert(sizeof(From) == sizeof(To) * kLanes);
  const Lanes* fields = reinterpret_cast<const Lanes*>(&from);
  float* out = reinterpret_cast<float*>(to);
  for (size_t i = 0; i < sizeof(To) / sizeof(float); ++i) out[i] = reinterpret_cast<const float*>(fields + i)[lane];
}

}  // namespace gripstream::GS_RENDER_ISA
