// Turns geoms in the camera's frame into surfaces, kLanes geoms of one shape at a time, each with its pixel rectangle.
//
// A ray from the camera (the origin) meets the plane n.x = k at inverse depth n.d / k, which is linear in the pixel.
// For an ellipsoid let d' and c' be the ray and the centre in the frame where it is the unit sphere: s^2 - 2 s q d'.c'
// + q |d'|^2 = 0 with q = 1 / (|c'|^2 - 1), whose larger root is q d'.c' + q sqrt(|d'|^2 - |d' x c'|^2). A cylinder's
// side is the same in the plane across its axis. The cross product is small near the geom, so single precision is
// enough.
//
// Only what faces the camera is drawn: nothing of a geom that the camera is inside of. Poses that are not finite draw
// nothing. Included by kernel files only (see lanes.h); no memory is allocated.
#pragma once

#include "sim_server/render/lanes.h"
#include "sim_server/render/surface.h"

namespace gripstream::GS_RENDER_ISA {

using Linear = LinearOf<Lanes>;
using Conic = ConicOf<Lanes>;
using Placement = PlacementOf<Lanes>;
using Quadric = QuadricOf<Lanes>;
using Disc = DiscOf<Lanes>;
using Polygon = PolygonOf<Lanes>;
using Box = BoxOf<Lanes>;

struct Vec3 {
  Lanes x, y, z;
};
GS_HOST_DEVICE inline Vec3 operator+(Vec3 a, Vec3 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
GS_HOST_DEVICE inline Vec3 operator-(Vec3 a, Vec3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
GS_HOST_DEVICE inline Vec3 operator*(Lanes k, Vec3 a) {
  return {k * a.x, k * a.y, k * a.z};
}
GS_HOST_DEVICE inline Lanes Dot(Vec3 a, Vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
// Swapping the vectors gives exactly the opposite.
GS_HOST_DEVICE inline Vec3 Cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

GS_HOST_DEVICE inline Linear operator*(Lanes k, Linear a) {
  return {k * a.c, k * a.cu, k * a.cv};
}
GS_HOST_DEVICE inline Linear operator-(Linear a, Linear b) {
  return {a.c - b.c, a.cu - b.cu, a.cv - b.cv};
}
GS_HOST_DEVICE inline Linear operator+(Linear a, Linear b) {
  return {a.c + b.c, a.cu + b.cu, a.cv + b.cv};
}
GS_HOST_DEVICE inline Conic Square(Linear a) {
  const Lanes two(2.0f);
  return {a.c * a.c, two * a.c * a.cu, two * a.c * a.cv, a.cu * a.cu, two * a.cu * a.cv, a.cv * a.cv};
}
GS_HOST_DEVICE inline Conic operator+(Conic a, Conic b) {
  return {a.c + b.c, a.cu + b.cu, a.cv + b.cv, a.cuu + b.cuu, a.cuv + b.cuv, a.cvv + b.cvv};
}
GS_HOST_DEVICE inline Conic operator-(Conic a, Conic b) {
  return {a.c - b.c, a.cu - b.cu, a.cv - b.cv, a.cuu - b.cuu, a.cuv - b.cuv, a.cvv - b.cvv};
}
GS_HOST_DEVICE inline Conic operator*(Lanes k, Conic a) {
  return {k * a.c, k * a.cu, k * a.cv, k * a.cuu, k * a.cuv, k * a.cvv};
}
GS_HOST_DEVICE inline Linear Select(LaneMask mask, Linear yes, Linear no) {
  return {Select(mask, yes.c, no.c), Select(mask, yes.cu, no.cu), Select(mask, yes.cv, no.cv)};
}

// Geoms in the camera's optical frame (x right, y down, z forward).
struct CameraGeoms {
  Vec3 centre;    // m
  Vec3 axis[3];   // the geoms' axes x, y, z as unit vectors
  Lanes size[3];  // as in DrawnGeom
};

GS_HOST_DEVICE inline LaneMask IsFinite(const CameraGeoms& g) {
  const Vec3 sum = g.centre + g.axis[0] + g.axis[1] + g.axis[2];
  const Lanes all = sum.x + sum.y + sum.z;
  return (all - all) <= Lanes(0.0f);
}

// The rays of a surface's pixels: d(u, v) = d0 + u (du, 0, 0) + v (0, dv, 0).
struct RayFrame {
  Vec3 d0;
  Lanes du, dv;
};

GS_HOST_DEVICE inline Linear DotRay(Vec3 n, const RayFrame& rays) {
  return {Dot(n, rays.d0), n.x * rays.du, n.y * rays.dv};
}

// A bound in the image, in pixels, and the range of depth.
struct Bounds {
  Lanes x0, x1, y0, y1;
  Lanes nearest, farthest;  // m
};

GS_HOST_DEVICE inline Bounds Union(const Bounds& a, const Bounds& b) {
  return {Min(a.x0, b.x0), Max(a.x1, b.x1),           Min(a.y0, b.y0),
          Max(a.y1, b.y1), Min(a.nearest, b.nearest), Max(a.farthest, b.farthest)};
}

// What reaches to the camera's plane can be seen anywhere.
GS_HOST_DEVICE inline Bounds WholeImageWhereCrossing(Bounds b, const View& view) {
  const LaneMask clear = Lanes(0.25f * view.near_m) < b.nearest;
  b.x0 = Keep(clear, b.x0);
  b.y0 = Keep(clear, b.y0);
  b.x1 = Select(clear, b.x1, Lanes(static_cast<float>(view.width)));
  b.y1 = Select(clear, b.y1, Lanes(static_cast<float>(view.height)));
  return b;
}

// The span along one image axis of the ellipsoid with centre c and squared half-widths S: its tangent planes through
// the camera. `c` and `s_cc`, `s_cz` are the entries of that axis, cz and s_zz those along the optical axis.
GS_HOST_DEVICE inline void TangentSpan(Lanes c, Lanes cz, Lanes s_cc, Lanes s_cz, Lanes s_zz, float f, float centre,
                                       Lanes* low, Lanes* high) {
  const Lanes scale = cz * cz - s_zz;
  const Lanes middle = c * cz - s_cz;
  const Lanes half = Sqrt(Max(middle * middle - scale * (c * c - s_cc), Lanes(0.0f)));
  const Lanes per_pixel = Lanes(f) / scale;
  *low = Lanes(centre) + per_pixel * (middle - half);
  *high = Lanes(centre) + per_pixel * (middle + half);
}

// Bounds of ellipsoids or discs: centre and the sum S of (half-axis)(half-axis)^T.
GS_HOST_DEVICE inline Bounds EllipsoidBounds(Vec3 c, const Vec3* half_axes, int count, const View& view) {
  Lanes xx(0.0f), yy(0.0f), zz(0.0f), xz(0.0f), yz(0.0f);
  for (int i = 0; i < count; ++i) {
    const Vec3 h = half_axes[i];
    xx = xx + h.x * h.x, yy = yy + h.y * h.y, zz = zz + h.z * h.z, xz = xz + h.x * h.z, yz = yz + h.y * h.z;
  }
  const Lanes reach = Sqrt(zz);
  Bounds b = {0.0f, 0.0f, 0.0f, 0.0f, c.z - reach, c.z + reach};
  TangentSpan(c.x, c.z, xx, xz, zz, view.fx, view.cx, &b.x0, &b.x1);
  TangentSpan(c.y, c.z, yy, yz, zz, view.fy, view.cy, &b.y0, &b.y1);
  return WholeImageWhereCrossing(b, view);
}

GS_HOST_DEVICE inline Bounds BoxBounds(const CameraGeoms& g, const View& view) {
  Vec3 half[3] = {g.size[0] * g.axis[0], g.size[1] * g.axis[1], g.size[2] * g.axis[2]};
  const Lanes reach = Abs(half[0].z) + Abs(half[1].z) + Abs(half[2].z);
  Bounds b = {1e30f, -1e30f, 1e30f, -1e30f, g.centre.z - reach, g.centre.z + reach};
  for (int corner = 0; corner < 8; ++corner) {
    Vec3 p = g.centre;
    for (int i = 0; i < 3; ++i) p = corner >> i & 1 ? p + half[i] : p - half[i];
    const Lanes scale = Lanes(1.0f) / p.z;
    const Lanes x = Lanes(view.cx) + Lanes(view.fx) * p.x * scale;
    const Lanes y = Lanes(view.cy) + Lanes(view.fy) * p.y * scale;
    b.x0 = Min(x, b.x0), b.x1 = Max(x, b.x1), b.y0 = Min(y, b.y0), b.y1 = Max(y, b.y1);
  }
  return WholeImageWhereCrossing(b, view);
}

GS_HOST_DEVICE inline Lanes ClampTo(Lanes x, int high) {
  return Min(Max(x, Lanes(0.0f)), Lanes(static_cast<float>(high)));
}

// The pixels whose centres can lie within the bounds; none outside `visible`.
GS_HOST_DEVICE inline Placement Place(const Bounds& b, LaneMask visible, const View& view, RayFrame* rays) {
  const Lanes first(-0.55f), last(0.55f);  // a pixel's centre is at + 0.5; 0.05 px is left for rounding
  Placement p = {CeilPositive(ClampTo(b.x0 + first, view.width)),
                 FloorPositive(ClampTo(b.x1 + last, view.width)),
                 CeilPositive(ClampTo(b.y0 + first, view.height)),
                 FloorPositive(ClampTo(b.y1 + last, view.height)),
                 0.0f,
                 0.0f,
                 Select(b.nearest < Lanes(view.near_m), Lanes(1.0f / view.near_m), Lanes(kNoCut))};
  p.x1 = Keep(visible & (Lanes(view.near_m) < b.farthest), p.x1);
  p.origin_x = Trunc(Lanes(0.5f) * (p.x0 + p.x1));
  p.origin_y = Trunc(Lanes(0.5f) * (p.y0 + p.y1));
  rays->du = Lanes(1.0f / view.fx);
  rays->dv = Lanes(1.0f / view.fy);
  rays->d0 = {(p.origin_x + Lanes(0.5f - view.cx)) * rays->du, (p.origin_y + Lanes(0.5f - view.cy)) * rays->dv, 1.0f};
  return p;
}

// base and shape of the quadric that is the unit sphere in the coordinates ray[i] = d'_i, with centre c'.
GS_HOST_DEVICE inline void SetQuadric(const Linear ray[3], const Lanes c[3], Quadric* out) {
  const Lanes q = Lanes(1.0f) / (c[0] * c[0] + c[1] * c[1] + c[2] * c[2] - Lanes(1.0f));
  out->base = q * (c[0] * ray[0] + c[1] * ray[1] + c[2] * ray[2]);
  const Conic cross = Square(c[2] * ray[1] - c[1] * ray[2]) + Square(c[0] * ray[2] - c[2] * ray[0]) +
                      Square(c[1] * ray[0] - c[0] * ray[1]);
  out->shape = (q * q) * (Square(ray[0]) + Square(ray[1]) + Square(ray[2]) - cross);
}

// |axis.(x - middle)| <= half on the surface, as a condition on s.
GS_HOST_DEVICE inline void SetWindow(Vec3 axis, Vec3 middle, Lanes half, const RayFrame& rays, Quadric* out) {
  out->window = DotRay(axis, rays);
  out->window_slope = Lanes(0.0f) - Dot(axis, middle);
  out->half_window = half;
}

// An ellipsoid with half-axes size[] along the geom's axes about `centre`. The window is left for the caller.
GS_HOST_DEVICE inline Quadric SetEllipsoid(const CameraGeoms& g, const Lanes size[3], Vec3 centre, LaneMask visible,
                                           const View& view, RayFrame* rays) {
  const Vec3 half[3] = {size[0] * g.axis[0], size[1] * g.axis[1], size[2] * g.axis[2]};
  Lanes inverse[3] = {Lanes(1.0f) / size[0], Lanes(1.0f) / size[1], Lanes(1.0f) / size[2]};
  Lanes c[3] = {Dot(g.axis[0], centre) * inverse[0], Dot(g.axis[1], centre) * inverse[1],
                Dot(g.axis[2], centre) * inverse[2]};
  const LaneMask outside = Lanes(1.0f) < c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  const Linear zero = {0.0f, 0.0f, 0.0f};
  Quadric out = {Place(EllipsoidBounds(centre, half, 3, view), visible & outside, view, rays),
                 zero,
                 {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f},
                 zero,
                 0.0f,
                 0.0f};
  const Linear ray[3] = {DotRay(inverse[0] * g.axis[0], *rays), DotRay(inverse[1] * g.axis[1], *rays),
                         DotRay(inverse[2] * g.axis[2], *rays)};
  SetQuadric(ray, c, &out);
  return out;
}

// The side of a cylinder of radius r and half-length h along the geom's z axis.
GS_HOST_DEVICE inline Quadric SetTube(const CameraGeoms& g, Lanes r, Lanes h, const Bounds& bounds, LaneMask visible,
                                      const View& view) {
  const Lanes inverse = Lanes(1.0f) / r;
  const Lanes c[3] = {Dot(g.axis[0], g.centre) * inverse, Dot(g.axis[1], g.centre) * inverse, 0.0f};
  const LaneMask outside = Lanes(1.0f) < c[0] * c[0] + c[1] * c[1];
  const Linear zero = {0.0f, 0.0f, 0.0f};
  RayFrame rays = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
  Quadric out = {
      Place(bounds, visible & outside, view, &rays), zero, {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f}, zero, 0.0f, 0.0f};
  const Linear ray[3] = {DotRay(inverse * g.axis[0], rays), DotRay(inverse * g.axis[1], rays), zero};
  SetQuadric(ray, c, &out);
  SetWindow(g.axis[2], g.centre, h, rays, &out);
  return out;
}

// Bounds of the two flat ends of a cylinder, which the side lies between.
GS_HOST_DEVICE inline Bounds EndBounds(const CameraGeoms& g, Lanes r, Vec3 end, const View& view) {
  const Vec3 half[2] = {r * g.axis[0], r * g.axis[1]};
  return EllipsoidBounds(end, half, 2, view);
}

// Ends (drawn whole, or windowed where the near plane cuts the capsule) and side.
struct Capsule {
  Quadric end[2], side;
};

GS_HOST_DEVICE inline Capsule SetCapsule(const CameraGeoms& g, LaneMask visible, const View& view) {
  const Lanes r = g.size[0], h = g.size[1];
  const Vec3 axis = g.axis[2];
  const Vec3 end[2] = {g.centre + h * axis, g.centre - h * axis};
  const Lanes along = Lanes(0.0f) - Dot(axis, g.centre);  // the camera's place along the axis
  const Vec3 nearest = g.centre + Max(Min(along, h), Lanes(0.0f) - h) * axis;
  visible = visible & (r * r < Dot(nearest, nearest));
  const Lanes size[3] = {r, r, r};
  RayFrame rays[2] = {{{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f}, {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f}};
  Capsule out = {
      {SetEllipsoid(g, size, end[0], visible, view, &rays[0]), SetEllipsoid(g, size, end[1], visible, view, &rays[1])},
      SetTube(g, r, h, Union(EndBounds(g, r, end[0], view), EndBounds(g, r, end[1], view)), visible, view)};
  // Where the near plane cuts the capsule's front away, an end must not show the half that lies inside the capsule.
  const Lanes cut = Min(out.end[0].place.max_inverse_depth, out.end[1].place.max_inverse_depth);
  for (int i = 0; i < 2; ++i) {
    out.end[i].place.max_inverse_depth = cut;
    SetWindow(axis, i == 0 ? end[0] + r * axis : end[1] - r * axis, r, rays[i], &out.end[i]);
  }
  return out;
}

// The flat end that faces the camera (at most one does) and the side.
struct Cylinder {
  Disc end;
  Quadric side;
};

GS_HOST_DEVICE inline Cylinder SetCylinder(const CameraGeoms& g, LaneMask visible, const View& view) {
  const Lanes r = g.size[0], h = g.size[1];
  const Lanes along = Dot(g.axis[2], g.centre);
  const LaneMask first = along + h < Lanes(0.0f);  // the camera is beyond the +z end
  const Lanes sign = Select(first, Lanes(1.0f), Lanes(-1.0f));
  const Lanes k = sign * along + h;  // < 0 where an end faces the camera
  const Vec3 far_end = g.centre - (sign * h) * g.axis[2], end = g.centre + (sign * h) * g.axis[2];
  const Bounds end_bounds = EndBounds(g, r, end, view);
  RayFrame rays = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
  const Placement place = Place(end_bounds, visible & (k < Lanes(0.0f)), view, &rays);
  const Linear base = (sign / k) * DotRay(g.axis[2], rays);
  const Linear across0 = DotRay(g.axis[0], rays) - Dot(g.axis[0], end) * base;
  const Linear across1 = DotRay(g.axis[1], rays) - Dot(g.axis[1], end) * base;
  const Conic shape = (r * r) * Square(base) - Square(across0) - Square(across1);
  return {{place, base, shape}, SetTube(g, r, h, Union(end_bounds, EndBounds(g, r, far_end, view)), visible, view)};
}

GS_HOST_DEVICE inline Box SetBox(const CameraGeoms& g, LaneMask visible, const View& view) {
  const Linear none = {kUnbounded, 0.0f, 0.0f}, all = {-kUnbounded, 0.0f, 0.0f};
  RayFrame rays = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
  Box out = {Place(BoxBounds(g, view), visible, view, &rays), {none, none, none}, {all, all, all, all, all, all}};
  Lanes least_k(kUnbounded);
  for (int i = 0; i < 3; ++i) {
    const Linear ray = DotRay(g.axis[i], rays);
    const Lanes centre = Dot(g.axis[i], g.centre);
    for (int side = 0; side < 2; ++side) {
      // The half-space n.x <= k with n = +-axis; the camera is in front of its face when k < 0.
      const Lanes n(side == 0 ? 1.0f : -1.0f);
      const Lanes k = n * centre + g.size[i];
      const LaneMask facing = k < Lanes(0.0f);
      out.front[i] = Select(facing, (n / k) * ray, out.front[i]);
      out.back[2 * i + side] = Select(facing, all, (n / Max(k, Lanes(1e-9f))) * ray);
      least_k = Min(k, least_k);
    }
  }
  out.place.x1 = Keep(least_k < Lanes(0.0f), out.place.x1);  // else the camera is inside
  return out;
}

// Bounded or unbounded (size 0) along either axis; seen from above only.
GS_HOST_DEVICE inline Polygon SetPlane(const CameraGeoms& g, LaneMask visible, const View& view) {
  const Lanes k = Dot(g.axis[2], g.centre);
  const Bounds everywhere = {0.0f,      static_cast<float>(view.width), 0.0f, static_cast<float>(view.height), 0.0f,
                             kUnbounded};
  RayFrame rays = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
  const Linear open = {1.0f, 0.0f, 0.0f};
  Polygon out = {Place(everywhere, visible & (k < Lanes(0.0f)), view, &rays), open, {open, open, open, open}};
  out.base = (Lanes(1.0f) / k) * DotRay(g.axis[2], rays);
  for (int i = 0; i < 2; ++i) {
    const LaneMask bounded = Lanes(0.0f) < g.size[i];
    const Linear across = DotRay(g.axis[i], rays) - Dot(g.axis[i], g.centre) * out.base;
    const Linear reach = g.size[i] * out.base;
    out.edge[2 * i] = Select(bounded, reach - across, open);
    out.edge[2 * i + 1] = Select(bounded, reach + across, open);
  }
  // s is linear: nearest in a corner of the image.
  const Lanes half_u = Abs(out.base.cu) * Lanes(0.5f * static_cast<float>(view.width) + 1.0f);
  const Lanes half_v = Abs(out.base.cv) * Lanes(0.5f * static_cast<float>(view.height) + 1.0f);
  const Lanes limit(1.0f / view.near_m);
  out.place.max_inverse_depth = Select(out.base.c + half_u + half_v < limit, Lanes(kNoCut), limit);
  return out;
}

}  // namespace gripstream::GS_RENDER_ISA
