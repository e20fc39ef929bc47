// The body of kernels_*.cc: draws surfaces row by row, kLanes pixels at once (see lanes.h for why it is included thus).
#pragma once

#include "sim_server/render/kernels.h"
#include "sim_server/render/lanes.h"
#include "sim_server/render/surface_setup.h"

namespace gripstream::GS_RENDER_ISA {

// A surface restricted to one row: inverse depth at column offset u, or something not above 0 (or not a number) where
// the ray misses it. T is Lanes, or float where one pixel is computed at a time.
struct LinearRow {
  float c, cu;
  LinearRow() = default;
  GS_HOST_DEVICE LinearRow(const Linear& f, float v) : c(f.c + f.cv * v), cu(f.cu) {}
  template <class T>
  GS_HOST_DEVICE T operator()(T u) const {
    return T(c) + T(cu) * u;
  }
};

struct ConicRow {
  float c, cu, cuu;
  GS_HOST_DEVICE ConicRow(const Conic& f, float v)
      : c((f.cvv * v + f.cv) * v + f.c), cu(f.cuv * v + f.cu), cuu(f.cuu) {}
  template <class T>
  GS_HOST_DEVICE T operator()(T u) const {
    return (T(cuu) * u + T(cu)) * u + T(c);
  }
};

struct DiscRow {
  LinearRow base;
  ConicRow shape;
  GS_HOST_DEVICE DiscRow(const Surface& s, float v) : base(s.base, v), shape(s.shape, v) {}
  template <class T>
  GS_HOST_DEVICE T operator()(T u) const {
    return Keep(T(0.0f) <= shape(u), base(u));
  }
};

struct QuadricRow {
  LinearRow base;
  ConicRow shape;
  GS_HOST_DEVICE QuadricRow(const Surface& s, float v) : base(s.base, v), shape(s.shape, v) {}
  template <class T>
  GS_HOST_DEVICE T operator()(T u) const {
    return base(u) + Sqrt(shape(u));
  }  // not a number where shape < 0
};

struct WindowedRow {
  QuadricRow quadric;
  LinearRow window;
  float slope, half;
  GS_HOST_DEVICE WindowedRow(const Surface& s, float v)
      : quadric(s, v), window(s.window, v), slope(s.window_slope), half(s.half_window) {}
  template <class T>
  GS_HOST_DEVICE T operator()(T u) const {
    const T s = quadric(u);
    return Keep(Abs(window(u) + T(slope) * s) <= T(half) * s, s);
  }
};

struct PolygonRow {
  LinearRow base;
  LinearRow edge[kMaxBack];
  int count;
  GS_HOST_DEVICE PolygonRow(const Surface& s, float v) : base(s.base, v), count(s.back_count) {
    for (int i = 0; i < count; ++i) edge[i] = LinearRow(s.back[i], v);
  }
  template <class T>
  GS_HOST_DEVICE T operator()(T u) const {
    T least = edge[0](u);
    for (int i = 1; i < count; ++i) least = Min(least, edge[i](u));
    return Keep(T(0.0f) <= least, base(u));
  }
};

template <int kFront>
struct ConvexRow {
  LinearRow front[kFront];
  LinearRow back[6 - kFront];
  GS_HOST_DEVICE ConvexRow(const Surface& s, float v) {
    for (int i = 0; i < kFront; ++i) front[i] = LinearRow(s.front[i], v);
    for (int i = 0; i < 6 - kFront; ++i) back[i] = LinearRow(s.back[i], v);
  }
  template <class T>
  GS_HOST_DEVICE T operator()(T u) const {
    T enter = front[0](u);
    for (int i = 1; i < kFront; ++i) enter = Min(enter, front[i](u));
    T leave = back[0](u);
    for (int i = 1; i < 6 - kFront; ++i) leave = Max(leave, back[i](u));
    return Keep(leave <= enter, enter);
  }
};

// Where the surface is nearer than what is there, writes it.
template <bool kNearCut>
inline void BlendStrip(Lanes s, LaneMask inside, float max_s, float* inverse, int32_t* geom, int32_t id) {
  LaneMask nearer = (Lanes::Load(inverse) < s) & inside;
  if constexpr (kNearCut) nearer = nearer & (s <= Lanes(max_s));
  StoreWhere(nearer, inverse, s);
  if (geom) StoreWhere(nearer, geom, id);
}

template <class Row, bool kNearCut>
void FillCut(const Surface& surface, const View& view, const Canvas& canvas, auto make_row) {
  const PixelRect& rect = surface.rect;
  const float max_s = 1.0f / view.near_m;
  for (int y = rect.y0; y < rect.y1; ++y) {
    const Row row = make_row(static_cast<float>(y - surface.origin_y));
    float* inverse = canvas.inverse_depth + static_cast<int64_t>(y) * canvas.stride;
    int32_t* geom = canvas.geom ? canvas.geom + static_cast<int64_t>(y) * canvas.stride : nullptr;
    for (int x = rect.x0; x < rect.x1; x += kLanes) {
      const Lanes u = Lanes::Iota() + Lanes(static_cast<float>(x - surface.origin_x));
      BlendStrip<kNearCut>(row(u), FirstLanes(rect.x1 - x), max_s, inverse + x, geom ? geom + x : nullptr,
                           surface.geom);
    }
  }
}

template <class Row>
void Fill(const Surface& surface, const View& view, const Canvas& canvas, auto make_row) {
  if (surface.near_cut) {
    FillCut<Row, true>(surface, view, canvas, make_row);
  } else {
    FillCut<Row, false>(surface, view, canvas, make_row);
  }
}

template <class Row>
void FillWith(const Surface& surface, const View& view, const Canvas& canvas) {
  Fill<Row>(surface, view, canvas, [&surface](float v) { return Row(surface, v); });
}

void DrawSurface(const Surface& surface, const View& view, const Canvas& canvas) {
  switch (surface.kind) {
    case SurfaceKind::kPlane:
      return Fill<LinearRow>(surface, view, canvas, [&surface](float v) { return LinearRow(surface.base, v); });
    case SurfaceKind::kDisc:
      return FillWith<DiscRow>(surface, view, canvas);
    case SurfaceKind::kQuadric:
      return FillWith<QuadricRow>(surface, view, canvas);
    case SurfaceKind::kWindowed:
      return FillWith<WindowedRow>(surface, view, canvas);
    case SurfaceKind::kPolygon:
      return FillWith<PolygonRow>(surface, view, canvas);
    case SurfaceKind::kConvex:
      if (surface.front_count == 1) return FillWith<ConvexRow<1>>(surface, view, canvas);
      if (surface.front_count == 2) return FillWith<ConvexRow<2>>(surface, view, canvas);
      return FillWith<ConvexRow<3>>(surface, view, canvas);
  }
}

CameraGeom ToCamera(const SceneJob& scene, int geom) {
  const double* m = scene.optical_from_world;
  const double* x = scene.geom_xpos + 3 * geom;
  const double* r = scene.geom_xmat + 9 * geom;
  const double d[3] = {x[0] - scene.camera_xpos[0], x[1] - scene.camera_xpos[1], x[2] - scene.camera_xpos[2]};
  CameraGeom g;
  for (int i = 0; i < 3; ++i) {
    g.centre[i] = static_cast<float>(m[3 * i] * d[0] + m[3 * i + 1] * d[1] + m[3 * i + 2] * d[2]);
    for (int j = 0; j < 3; ++j) {
      g.axis[j][i] = static_cast<float>(m[3 * i] * r[j] + m[3 * i + 1] * r[3 + j] + m[3 * i + 2] * r[6 + j]);
    }
  }
  return g;
}

void Clear(const View& view, const Canvas& canvas) {
  const Lanes far(1.0f / view.far_m);  // what is farther can then never win
  const LaneMask all = FirstLanes(kLanes);
  for (int y = 0; y < view.height; ++y) {
    const int64_t row = static_cast<int64_t>(y) * canvas.stride;
    for (int x = 0; x < view.width; x += kLanes) Store(canvas.inverse_depth + row + x, far);
    if (!canvas.geom) continue;
    for (int x = 0; x < view.width; x += kLanes) StoreWhere(all, canvas.geom + row + x, -1);
  }
}

void Draw(const View& view, const SceneJob& scene, const Canvas& canvas) {
  Clear(view, canvas);
  Surface surfaces[kMaxSurfaces];
  for (int i = 0; i < scene.count; ++i) {
    const CameraGeom geom = ToCamera(scene, scene.geoms[i].id);
    const int count = SetSurfaces(scene.geoms[i], geom, view, surfaces);
    for (int j = 0; j < count; ++j) DrawSurface(surfaces[j], view, canvas);
  }
}

// Depth of a strip: 0 where nothing beat the far plane.
inline Lanes DepthOf(const float* inverse, float far_inverse) {
  const Lanes s = Lanes::Load(inverse);
  return Keep(Lanes(far_inverse) < s, Lanes(1.0f) / s);
}

template <class Out, class StoreStrip>
void ResolveRow(const float* inverse, int width, float far_inverse, Out* out, StoreStrip store) {
  int x = 0;
  for (; x + kLanes <= width; x += kLanes) store(out + x, DepthOf(inverse + x, far_inverse));
  if (x == width) return;
  Out tail[kLanes];
  store(tail, DepthOf(inverse + x, far_inverse));
  for (int i = 0; x + i < width; ++i) out[x + i] = tail[i];
}

void Resolve(const View& view, const Canvas& canvas, uint16_t* depth_u16, float* depth_f32) {
  const float far_inverse = 1.0f / view.far_m;
  const Lanes per_metre(10000.0f);
  for (int y = 0; y < view.height; ++y) {
    const float* inverse = canvas.inverse_depth + static_cast<int64_t>(y) * canvas.stride;
    const int64_t row = static_cast<int64_t>(y) * view.width;
    if (depth_u16) {
      ResolveRow(inverse, view.width, far_inverse, depth_u16 + row,
                 [&](uint16_t* p, Lanes z) { StoreUint16(p, z * per_metre); });
    }
    if (depth_f32) {
      ResolveRow(inverse, view.width, far_inverse, depth_f32 + row, [](float* p, Lanes z) { Store(p, z); });
    }
  }
}

}  // namespace gripstream::GS_RENDER_ISA

namespace gripstream {

#define GS_TEXT2(x) #x
#define GS_TEXT(x) GS_TEXT2(x)
extern const RenderKernels GS_RENDER_KERNELS;
const RenderKernels GS_RENDER_KERNELS = {GS_TEXT(GS_RENDER_ISA), GS_RENDER_ISA::Draw, GS_RENDER_ISA::Resolve};

}  // namespace gripstream
