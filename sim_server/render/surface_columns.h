// Evaluates surfaces: a column object holds what a strip of kLanes neighbouring pixel columns shares, and is asked row
// by row for the inverse depth there, which is not above 0 or not a number where the ray misses.
//
// Included by kernel files only (see lanes.h).
#pragma once

#include "sim_server/render/lanes.h"
#include "sim_server/render/surface.h"

namespace gripstream::GS_RENDER_ISA {

struct LinearColumn {
  Lanes c, cv;
  GS_HOST_DEVICE LinearColumn(const LinearOf<float>& f, Lanes u) : c(Lanes(f.cu) * u + Lanes(f.c)), cv(f.cv) {}
  GS_HOST_DEVICE Lanes operator()(Lanes v) const { return cv * v + c; }
};

struct ConicColumn {
  Lanes c, cv, cvv;
  GS_HOST_DEVICE ConicColumn(const ConicOf<float>& f, Lanes u)
      : c((Lanes(f.cuu) * u + Lanes(f.cu)) * u + Lanes(f.c)), cv(Lanes(f.cuv) * u + Lanes(f.cv)), cvv(f.cvv) {}
  GS_HOST_DEVICE Lanes operator()(Lanes v) const { return (cvv * v + cv) * v + c; }
};

struct PlaneColumn {
  LinearColumn base;
  GS_HOST_DEVICE PlaneColumn(const Surface& s, Lanes u) : base(s.polygon.base, u) {}
  GS_HOST_DEVICE Lanes operator()(Lanes v) const { return base(v); }
};

struct RectangleColumn {
  LinearColumn base, edge[4];
  GS_HOST_DEVICE RectangleColumn(const Surface& s, Lanes u)
      : base(s.polygon.base, u),
        edge{{s.polygon.edge[0], u}, {s.polygon.edge[1], u}, {s.polygon.edge[2], u}, {s.polygon.edge[3], u}} {}
  GS_HOST_DEVICE Lanes operator()(Lanes v) const {
    const Lanes least = Min(Min(edge[0](v), edge[1](v)), Min(edge[2](v), edge[3](v)));
    return Keep(Lanes(0.0f) <= least, base(v));
  }
};

struct DiscColumn {
  LinearColumn base;
  ConicColumn shape;
  GS_HOST_DEVICE DiscColumn(const Surface& s, Lanes u) : base(s.disc.base, u), shape(s.disc.shape, u) {}
  GS_HOST_DEVICE Lanes operator()(Lanes v) const { return Keep(Lanes(0.0f) <= shape(v), base(v)); }
};

struct QuadricColumn {
  LinearColumn base;
  ConicColumn shape;
  GS_HOST_DEVICE QuadricColumn(const Surface& s, Lanes u) : base(s.quadric.base, u), shape(s.quadric.shape, u) {}
  GS_HOST_DEVICE Lanes operator()(Lanes v) const { return base(v) + Sqrt(shape(v)); }
};

struct WindowedColumn {
  QuadricColumn quadric;
  LinearColumn window;
  Lanes slope, half;
  GS_HOST_DEVICE WindowedColumn(const Surface& s, Lanes u)
      : quadric(s, u), window(s.quadric.window, u), slope(s.quadric.window_slope), half(s.quadric.half_window) {}
  GS_HOST_DEVICE Lanes operator()(Lanes v) const {
    const Lanes s = quadric(v);
    return Keep(Abs(window(v) + slope * s) <= half * s, s);
  }
};

// kFront faces before the camera, the other 6 - kFront behind.
template <int kFront>
struct BoxColumn {
  LinearColumn front[3], back[6];
  GS_HOST_DEVICE BoxColumn(const Surface& s, Lanes u)
      : front{{s.box.front[0], u}, {s.box.front[1], u}, {s.box.front[2], u}}, back{{s.box.back[0], u},
                                                                                   {s.box.back[1], u},
                                                                                   {s.box.back[2], u},
                                                                                   {s.box.back[3], u},
                                                                                   {s.box.back[4], u},
                                                                                   {s.box.back[5], u}} {}
  GS_HOST_DEVICE Lanes operator()(Lanes v) const {
    Lanes enter = front[0](v);
    for (int i = 1; i < kFront; ++i) enter = Min(enter, front[i](v));
    Lanes leave = back[0](v);
    for (int i = 1; i < 6 - kFront; ++i) leave = Max(leave, back[i](v));
    return Keep(leave <= enter, enter);
  }
};

}  // namespace gripstream::GS_RENDER_ISA
