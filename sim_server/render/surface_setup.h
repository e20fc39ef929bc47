// Turns a geom in the camera's frame into the surfaces that the kernels draw, each with its pixel rectangle.
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

#ifndef GS_RENDER_ISA
#error "define GS_RENDER_ISA, the namespace of this instruction set, before including surface_setup.h"
#endif

#include <math.h>  // the C functions: an inline C++ wrapper compiled here could be linked into baseline code

#include "core/rng.h"
#include "sim_server/render/geom_table.h"
#include "sim_server/render/surface.h"

namespace gripstream::GS_RENDER_ISA {

// Up to three: a capsule's two ends and its side, a cylinder's disc and side.
inline constexpr int kMaxSurfaces = 3;

struct Vec3 {
  float x, y, z;
};
GS_HOST_DEVICE inline Vec3 operator+(Vec3 a, Vec3 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
GS_HOST_DEVICE inline Vec3 operator*(float k, Vec3 a) {
  return {k * a.x, k * a.y, k * a.z};
}
GS_HOST_DEVICE inline float Dot(Vec3 a, Vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
GS_HOST_DEVICE inline Vec3 ToVec(const float v[3]) {
  return {v[0], v[1], v[2]};
}

GS_HOST_DEVICE inline Linear operator*(float k, Linear a) {
  return {k * a.c, k * a.cu, k * a.cv};
}
GS_HOST_DEVICE inline Linear operator-(Linear a, Linear b) {
  return {a.c - b.c, a.cu - b.cu, a.cv - b.cv};
}
GS_HOST_DEVICE inline Linear operator+(Linear a, Linear b) {
  return {a.c + b.c, a.cu + b.cu, a.cv + b.cv};
}
GS_HOST_DEVICE inline Conic Square(Linear a) {
  return {a.c * a.c, 2 * a.c * a.cu, 2 * a.c * a.cv, a.cu * a.cu, 2 * a.cu * a.cv, a.cv * a.cv};
}
GS_HOST_DEVICE inline Conic operator+(Conic a, Conic b) {
  return {a.c + b.c, a.cu + b.cu, a.cv + b.cv, a.cuu + b.cuu, a.cuv + b.cuv, a.cvv + b.cvv};
}
GS_HOST_DEVICE inline Conic operator-(Conic a, Conic b) {
  return {a.c - b.c, a.cu - b.cu, a.cv - b.cv, a.cuu - b.cuu, a.cuv - b.cuv, a.cvv - b.cvv};
}
GS_HOST_DEVICE inline Conic operator*(float k, Conic a) {
  return {k * a.c, k * a.cu, k * a.cv, k * a.cuu, k * a.cuv, k * a.cvv};
}

// The rays of a surface's pixels: d(u, v) = d0 + u (du, 0, 0) + v (0, dv, 0).
struct RayFrame {
  Vec3 d0;
  float du, dv;
};

GS_HOST_DEVICE inline Linear DotRay(Vec3 n, const RayFrame& rays) {
  return {Dot(n, rays.d0), n.x * rays.du, n.y * rays.dv};
}

// A bound in the image, in pixels; `behind` when no part can be seen, `near_cut` when part is nearer than the near
// plane.
struct Bounds {
  float x0, x1, y0, y1;
  bool behind, near_cut;
};

GS_HOST_DEVICE inline Bounds WholeImage(const View& view) {
  return {0, static_cast<float>(view.width), 0, static_cast<float>(view.height), false, true};
}

GS_HOST_DEVICE inline Bounds Union(const Bounds& a, const Bounds& b) {
  if (a.behind) return b;
  if (b.behind) return a;
  return {
      a.x0 < b.x0 ? a.x0 : b.x0, a.x1 > b.x1 ? a.x1 : b.x1, a.y0 < b.y0 ? a.y0 : b.y0, a.y1 > b.y1 ? a.y1 : b.y1, false,
      a.near_cut || b.near_cut};
}

// The span along one image axis of the ellipsoid with centre c and squared half-widths S: its tangent planes through
// the camera. `c` and `s` are the entries of that axis, cz and szz those along the optical axis.
GS_HOST_DEVICE inline void TangentSpan(float c, float cz, float s_cc, float s_cz, float s_zz, float f, float centre,
                                       float* low, float* high) {
  const float scale = cz * cz - s_zz;
  const float middle = c * cz - s_cz;
  const float under = middle * middle - scale * (c * c - s_cc);
  const float half = sqrtf(under > 0 ? under : 0);
  *low = centre + f * (middle - half) / scale;
  *high = centre + f * (middle + half) / scale;
}

// Bounds of an ellipsoid or disc: centre c and the squared half-widths' matrix S = sum of (half-axis)(half-axis)^T.
GS_HOST_DEVICE inline Bounds EllipsoidBounds(Vec3 c, const Vec3 half_axes[], int count, const View& view) {
  float xx = 0, yy = 0, zz = 0, xz = 0, yz = 0;
  for (int i = 0; i < count; ++i) {
    const Vec3 h = half_axes[i];
    xx += h.x * h.x, yy += h.y * h.y, zz += h.z * h.z, xz += h.x * h.z, yz += h.y * h.z;
  }
  const float reach = sqrtf(zz);
  Bounds bounds = WholeImage(view);
  bounds.behind = !(c.z + reach > view.near_m);
  bounds.near_cut = c.z - reach < view.near_m;
  if (c.z - reach < 0.25f * view.near_m) return bounds;  // crosses the camera's plane: no tangent planes
  TangentSpan(c.x, c.z, xx, xz, zz, view.fx, view.cx, &bounds.x0, &bounds.x1);
  TangentSpan(c.y, c.z, yy, yz, zz, view.fy, view.cy, &bounds.y0, &bounds.y1);
  return bounds;
}

GS_HOST_DEVICE inline int ClampToInt(float x, int low, int high) {
  return x <= static_cast<float>(low) ? low : x >= static_cast<float>(high) ? high : static_cast<int>(x);
}

// Pixels whose centres can lie inside the bounds, with a margin for rounding. False when there is none.
GS_HOST_DEVICE inline bool ToRect(const Bounds& b, const View& view, PixelRect* rect) {
  constexpr float kMargin_px = 0.05f;
  if (b.behind || !(b.x1 >= b.x0) || !(b.y1 >= b.y0)) return false;  // not-a-number lands here too
  rect->x0 = ClampToInt(ceilf(b.x0 - 0.5f - kMargin_px), 0, view.width);
  rect->x1 = ClampToInt(floorf(b.x1 - 0.5f + kMargin_px) + 1, 0, view.width);
  rect->y0 = ClampToInt(ceilf(b.y0 - 0.5f - kMargin_px), 0, view.height);
  rect->y1 = ClampToInt(floorf(b.y1 - 0.5f + kMargin_px) + 1, 0, view.height);
  return rect->x0 < rect->x1 && rect->y0 < rect->y1;
}

// Puts the rectangle into the surface and its origin in the rectangle's middle. False when nothing can be seen.
GS_HOST_DEVICE inline bool Place(const Bounds& bounds, const View& view, int geom, Surface* out, RayFrame* rays) {
  if (!ToRect(bounds, view, &out->rect)) return false;
  out->geom = geom;
  out->near_cut = bounds.near_cut;
  out->origin_x = (out->rect.x0 + out->rect.x1) / 2;
  out->origin_y = (out->rect.y0 + out->rect.y1) / 2;
  rays->du = 1.0f / view.fx;
  rays->dv = 1.0f / view.fy;
  rays->d0 = {(static_cast<float>(out->origin_x) + 0.5f - view.cx) * rays->du,
              (static_cast<float>(out->origin_y) + 0.5f - view.cy) * rays->dv, 1.0f};
  return true;
}

// base and shape of the quadric that is the unit sphere in the coordinates ray[i].d, centre c'.
GS_HOST_DEVICE inline void SetQuadric(const Linear ray[3], const float c[3], Surface* out) {
  const float q = 1.0f / (c[0] * c[0] + c[1] * c[1] + c[2] * c[2] - 1.0f);
  out->base = q * (c[0] * ray[0] + c[1] * ray[1] + c[2] * ray[2]);
  const Conic cross = Square(c[2] * ray[1] - c[1] * ray[2]) + Square(c[0] * ray[2] - c[2] * ray[0]) +
                      Square(c[1] * ray[0] - c[0] * ray[1]);
  out->shape = (q * q) * (Square(ray[0]) + Square(ray[1]) + Square(ray[2]) - cross);
}

GS_HOST_DEVICE inline bool SetEllipsoid(const CameraGeom& g, const float size[3], Vec3 centre, const View& view,
                                        int geom, Surface* out, RayFrame* rays) {
  Vec3 half[3];
  float c[3];
  for (int i = 0; i < 3; ++i) {
    half[i] = size[i] * ToVec(g.axis[i]);
    c[i] = Dot(ToVec(g.axis[i]), centre) / size[i];
  }
  if (!(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] > 1.0f)) return false;  // the camera is inside
  if (!Place(EllipsoidBounds(centre, half, 3, view), view, geom, out, rays)) return false;
  Linear ray[3];
  for (int i = 0; i < 3; ++i) ray[i] = DotRay((1.0f / size[i]) * ToVec(g.axis[i]), *rays);
  SetQuadric(ray, c, out);
  out->kind = SurfaceKind::kQuadric;
  return true;
}

// |axis.(x - middle)| <= half on the surface, as a condition on s.
GS_HOST_DEVICE inline void SetWindow(Vec3 axis, Vec3 middle, float half, const RayFrame& rays, Surface* out) {
  out->kind = SurfaceKind::kWindowed;
  out->window = DotRay(axis, rays);
  out->window_slope = -Dot(axis, middle);
  out->half_window = half;
}

// The side of a cylinder of radius r and half-length h along the geom's z axis.
GS_HOST_DEVICE inline bool SetTube(const CameraGeom& g, float r, float h, const Bounds& bounds, const View& view,
                                   int geom, Surface* out) {
  const Vec3 centre = ToVec(g.centre);
  const Vec3 axis = ToVec(g.axis[2]);
  const float c[3] = {Dot(ToVec(g.axis[0]), centre) / r, Dot(ToVec(g.axis[1]), centre) / r, 0.0f};
  if (!(c[0] * c[0] + c[1] * c[1] > 1.0f)) return false;
  RayFrame rays{};
  if (!Place(bounds, view, geom, out, &rays)) return false;
  const Linear ray[3] = {
      DotRay((1.0f / r) * ToVec(g.axis[0]), rays), DotRay((1.0f / r) * ToVec(g.axis[1]), rays), {0, 0, 0}};
  SetQuadric(ray, c, out);
  SetWindow(axis, centre, h, rays, out);
  return true;
}

// The flat end of a cylinder that faces the camera: disc of radius r about `centre` with outward normal `normal`.
GS_HOST_DEVICE inline bool SetDisc(const CameraGeom& g, float r, Vec3 centre, Vec3 normal, const Bounds& bounds,
                                   const View& view, int geom, Surface* out) {
  const float k = Dot(normal, centre);
  if (!(k < 0)) return false;
  RayFrame rays{};
  if (!Place(bounds, view, geom, out, &rays)) return false;
  out->kind = SurfaceKind::kDisc;
  out->base = (1.0f / k) * DotRay(normal, rays);
  const Linear across0 = DotRay(ToVec(g.axis[0]), rays) - Dot(ToVec(g.axis[0]), centre) * out->base;
  const Linear across1 = DotRay(ToVec(g.axis[1]), rays) - Dot(ToVec(g.axis[1]), centre) * out->base;
  out->shape = (r * r) * Square(out->base) - Square(across0) - Square(across1);
  return true;
}

GS_HOST_DEVICE inline int SetCapsule(const CameraGeom& g, float r, float h, const View& view, int geom, Surface out[]) {
  const Vec3 centre = ToVec(g.centre);
  const Vec3 axis = ToVec(g.axis[2]);
  const float along = -Dot(axis, centre);  // the camera's place along the axis
  const float nearest = along < -h ? -h : along > h ? h : along;
  const Vec3 to_camera = (-1.0f) * (centre + nearest * axis);
  if (!(Dot(to_camera, to_camera) > r * r)) return 0;  // the camera is inside
  const float size[3] = {r, r, r};
  const Vec3 disc[2] = {r * ToVec(g.axis[0]), r * ToVec(g.axis[1])};
  const Vec3 end[2] = {centre + h * axis, centre + (-h) * axis};
  const bool cut = end[0].z - r < view.near_m || end[1].z - r < view.near_m;
  RayFrame rays{};
  int count = 0;
  for (int i = 0; i < 2; ++i) {
    if (!SetEllipsoid(g, size, end[i], view, geom, &out[count], &rays)) continue;
    // With its front cut away, the end must not show the half that lies inside the capsule.
    if (cut) SetWindow(axis, end[i] + (i == 0 ? r : -r) * axis, r, rays, &out[count]);
    ++count;
  }
  const Bounds bounds = Union(EllipsoidBounds(end[0], disc, 2, view), EllipsoidBounds(end[1], disc, 2, view));
  if (h > 0 && SetTube(g, r, h, bounds, view, geom, &out[count])) ++count;
  return count;
}

GS_HOST_DEVICE inline int SetCylinder(const CameraGeom& g, float r, float h, const View& view, int geom,
                                      Surface out[]) {
  const Vec3 centre = ToVec(g.centre);
  const Vec3 axis = ToVec(g.axis[2]);
  const Vec3 disc[2] = {r * ToVec(g.axis[0]), r * ToVec(g.axis[1])};
  const Vec3 end[2] = {centre + h * axis, centre + (-h) * axis};
  const Bounds bounds[2] = {EllipsoidBounds(end[0], disc, 2, view), EllipsoidBounds(end[1], disc, 2, view)};
  int count = 0;
  for (int i = 0; i < 2; ++i) {
    if (SetDisc(g, r, end[i], (i == 0 ? 1.0f : -1.0f) * axis, bounds[i], view, geom, &out[count])) ++count;
  }
  if (SetTube(g, r, h, Union(bounds[0], bounds[1]), view, geom, &out[count])) ++count;
  return count;
}

GS_HOST_DEVICE inline Bounds BoxBounds(const CameraGeom& g, const float size[3], const View& view) {
  Bounds bounds = WholeImage(view);
  const float reach = fabsf(g.axis[0][2]) * size[0] + fabsf(g.axis[1][2]) * size[1] + fabsf(g.axis[2][2]) * size[2];
  bounds.behind = !(g.centre[2] + reach > view.near_m);
  bounds.near_cut = g.centre[2] - reach < view.near_m;
  if (bounds.behind || g.centre[2] - reach < 0.25f * view.near_m) return bounds;
  bounds.x0 = bounds.y0 = 1e30f;
  bounds.x1 = bounds.y1 = -1e30f;
  for (int corner = 0; corner < 8; ++corner) {
    Vec3 p = ToVec(g.centre);
    for (int i = 0; i < 3; ++i) p = p + (corner >> i & 1 ? size[i] : -size[i]) * ToVec(g.axis[i]);
    const float x = view.cx + view.fx * p.x / p.z;
    const float y = view.cy + view.fy * p.y / p.z;
    bounds.x0 = x < bounds.x0 ? x : bounds.x0;
    bounds.x1 = x > bounds.x1 ? x : bounds.x1;
    bounds.y0 = y < bounds.y0 ? y : bounds.y0;
    bounds.y1 = y > bounds.y1 ? y : bounds.y1;
  }
  return bounds;
}

GS_HOST_DEVICE inline int SetBox(const CameraGeom& g, const float size[3], const View& view, int geom, Surface* out) {
  RayFrame rays{};
  if (!Place(BoxBounds(g, size, view), view, geom, out, &rays)) return 0;
  out->kind = SurfaceKind::kConvex;
  out->front_count = out->back_count = 0;
  for (int i = 0; i < 3; ++i) {
    const Vec3 axis = ToVec(g.axis[i]);
    const Linear ray = DotRay(axis, rays);
    const float centre = Dot(axis, ToVec(g.centre));
    for (int side = 0; side < 2; ++side) {
      // The half-space n.x <= k with n = +-axis; the camera is in front of its face when k < 0.
      const float n = side == 0 ? 1.0f : -1.0f;
      float k = n * centre + size[i];
      if (k < 0) {
        out->front[out->front_count++] = (n / k) * ray;
      } else if (out->back_count < kMaxBack) {
        if (k < 1e-9f) k = 1e-9f;
        out->back[out->back_count++] = (n / k) * ray;
      }
    }
  }
  return out->front_count > 0 ? 1 : 0;  // no face seen from outside: the camera is inside
}

GS_HOST_DEVICE inline int SetPlane(const CameraGeom& g, const float size[3], const View& view, int geom, Surface* out) {
  const Vec3 centre = ToVec(g.centre);
  const float k = Dot(ToVec(g.axis[2]), centre);
  RayFrame rays{};
  if (!(k < 0) || !Place(WholeImage(view), view, geom, out, &rays)) return 0;
  out->kind = SurfaceKind::kPlane;
  out->base = (1.0f / k) * DotRay(ToVec(g.axis[2]), rays);
  out->back_count = 0;
  for (int i = 0; i < 2; ++i) {
    if (!(size[i] > 0)) continue;  // infinite along this axis
    out->kind = SurfaceKind::kPolygon;
    const Linear across = DotRay(ToVec(g.axis[i]), rays) - Dot(ToVec(g.axis[i]), centre) * out->base;
    const Linear edge = size[i] * out->base;
    out->back[out->back_count++] = edge - across;
    out->back[out->back_count++] = edge + across;
  }
  return 1;
}

GS_HOST_DEVICE inline bool IsFinite(const CameraGeom& g) {
  float sum = 0;
  for (int i = 0; i < 3; ++i) sum += g.centre[i] + g.axis[i][0] + g.axis[i][1] + g.axis[i][2];
  return sum - sum == 0;
}

// Fills out[0 .. n) with the geom's surfaces and returns n <= kMaxSurfaces.
GS_HOST_DEVICE inline int SetSurfaces(const DrawnGeom& geom, const CameraGeom& g, const View& view, Surface out[]) {
  if (!IsFinite(g)) return 0;
  const float* size = geom.size;
  const float round[3] = {size[0], size[0], size[0]};
  RayFrame rays{};
  switch (geom.shape) {
    case Shape::kPlane:
      return SetPlane(g, size, view, geom.id, out);
    case Shape::kSphere:
      return SetEllipsoid(g, round, ToVec(g.centre), view, geom.id, out, &rays) ? 1 : 0;
    case Shape::kEllipsoid:
      return SetEllipsoid(g, size, ToVec(g.centre), view, geom.id, out, &rays) ? 1 : 0;
    case Shape::kCapsule:
      return SetCapsule(g, size[0], size[1], view, geom.id, out);
    case Shape::kCylinder:
      return SetCylinder(g, size[0], size[1], view, geom.id, out);
    case Shape::kBox:
      return SetBox(g, size, view, geom.id, out);
  }
  return 0;
}

}  // namespace gripstream::GS_RENDER_ISA
