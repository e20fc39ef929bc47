// Where a pixel's ray met a surface, worked out after drawing from its depth and geom.
//
// Plain functions of caller-owned data; thread-safe; nothing throws.
#pragma once

#include "sim_server/render/kernels.h"

namespace gripstream {

struct Point {
  double x, y, z;
};
inline Point operator+(Point a, Point b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Point operator-(Point a, Point b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Point operator*(double k, Point a) {
  return {k * a.x, k * a.y, k * a.z};
}
inline double Dot(Point a, Point b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
// The same direction at length 1; zero stays zero.
Point Unit(Point a);

// Row-major 3x3 matrix times vector, and its transpose times vector.
Point Times(const double m[9], Point v);
Point TransposedTimes(const double m[9], Point v);

struct SurfacePoint {
  const DrawnGeom* geom;
  int triangle;  // of a mesh, else -1
  Point world;   // m
  Point local;   // in the geom's frame, m
  Point normal;  // unit, outwards, world frame
};

// What pixel (x, y) shows; false where it shows nothing. The canvas must hold geoms and, of meshes, triangles.
bool PointAt(const View& view, const SceneJob& scene, const Canvas& canvas, int x, int y, SurfacePoint* out);

}  // namespace gripstream
