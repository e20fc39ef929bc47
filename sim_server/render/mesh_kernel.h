// Draws meshes: transforms the vertices, sets up kLanes triangles at a time, and fills each one's rectangle.
//
// A ray d passes inside the triangle v0 v1 v2, seen from outside, where d.(vj x vi) >= 0 for its three edges; the
// inverse depth is the plane's, linear in the pixel. All triangles of a mesh use one origin pixel, so that the two
// triangles at an edge compute exactly opposite numbers there and leave no gap. Nothing is projected for that, so that
// triangles that cross the camera's plane need no clipping. Included by kernel files only (see lanes.h).
#pragma once

#include "sim_server/render/fill.h"
#include "sim_server/render/kernels.h"
#include "sim_server/render/lanes.h"
#include "sim_server/render/surface_columns.h"
#include "sim_server/render/surface_setup.h"

namespace gripstream::GS_RENDER_ISA {

struct TriangleColumn {
  LinearColumn base, edge[3];
  GS_HOST_DEVICE TriangleColumn(const PolygonOf<float>& t, Lanes u)
      : base(t.base, u), edge{{t.edge[0], u}, {t.edge[1], u}, {t.edge[2], u}} {}
  GS_HOST_DEVICE Lanes operator()(Lanes v) const {
    return Keep(Lanes(0.0f) <= Min(Min(edge[0](v), edge[1](v)), edge[2](v)), base(v));
  }
};

// A mesh's vertices in the camera's frame and their pixels; the box of pixels around all of them.
struct MeshVertices {
  const float *x, *y, *z, *px, *py;
  Bounds box;  // of the lanes together once Reduce has been called
};

// Smallest and largest over the lanes.
inline float LeastLane(Lanes a) {
  float lane[kLanes];
  Store(lane, a);
  float least = lane[0];
  for (int i = 1; i < kLanes; ++i) least = lane[i] < least ? lane[i] : least;
  return least;
}
inline float MostLane(Lanes a) {
  return -LeastLane(Lanes(0.0f) - a);
}

// Transforms into scratch [5, vertex_count].
inline MeshVertices Transform(const MeshJob& mesh, const CameraGeoms& pose, const View& view, float* scratch) {
  const int n = mesh.vertex_count;
  float *x = scratch, *y = x + n, *z = y + n, *px = z + n, *py = px + n;
  Bounds box = {kUnbounded, -kUnbounded, kUnbounded, -kUnbounded, kUnbounded, -kUnbounded};
  for (int i = 0; i < n; i += kLanes) {
    const Vec3 p = pose.centre + Lanes::Load(mesh.x + i) * pose.axis[0] + Lanes::Load(mesh.y + i) * pose.axis[1] +
                   Lanes::Load(mesh.z + i) * pose.axis[2];
    const Lanes scale = Lanes(1.0f) / p.z;
    const Lanes column = Lanes(view.cx) + Lanes(view.fx) * p.x * scale;
    const Lanes row = Lanes(view.cy) + Lanes(view.fy) * p.y * scale;
    Store(x + i, p.x), Store(y + i, p.y), Store(z + i, p.z), Store(px + i, column), Store(py + i, row);
    box = {Min(column, box.x0), Max(column, box.x1),   Min(row, box.y0),
           Max(row, box.y1),    Min(p.z, box.nearest), Max(p.z, box.farthest)};
  }
  const Bounds all = {LeastLane(box.x0), MostLane(box.x1),       LeastLane(box.y0),
                      MostLane(box.y1),  LeastLane(box.nearest), MostLane(box.farthest)};
  return {x, y, z, px, py, WholeImageWhereCrossing(all, view)};
}

inline Vec3 Corner(const MeshVertices& v, const int32_t* index) {
  return {Lanes::Gather(v.x, index), Lanes::Gather(v.y, index), Lanes::Gather(v.z, index)};
}

// kLanes triangles from the first: planes, edges and rectangles, with the mesh's own origin.
inline Polygon SetTriangles(const MeshJob& mesh, const MeshVertices& vertices, int first, const RayFrame& rays,
                            const Placement& whole, const View& view) {
  const int32_t* index[3] = {mesh.corner[0] + first, mesh.corner[1] + first, mesh.corner[2] + first};
  const Vec3 v[3] = {Corner(vertices, index[0]), Corner(vertices, index[1]), Corner(vertices, index[2])};
  Bounds bounds = {kUnbounded, -kUnbounded, kUnbounded, -kUnbounded, kUnbounded, -kUnbounded};
  for (int i = 0; i < 3; ++i) {
    const Lanes px = Lanes::Gather(vertices.px, index[i]), py = Lanes::Gather(vertices.py, index[i]);
    bounds = {Min(px, bounds.x0), Max(px, bounds.x1),          Min(py, bounds.y0),
              Max(py, bounds.y1), Min(v[i].z, bounds.nearest), Max(v[i].z, bounds.farthest)};
  }
  const Linear edge[3] = {DotRay(Cross(v[1], v[0]), rays), DotRay(Cross(v[2], v[1]), rays),
                          DotRay(Cross(v[0], v[2]), rays)};
  const Vec3 normal = Cross(v[1] - v[0], v[2] - v[0]);
  const Lanes k = Dot(normal, v[0]);
  RayFrame own = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
  Placement place = Place(WholeImageWhereCrossing(bounds, view), k < Lanes(0.0f), view, &own);
  place.origin_x = whole.origin_x, place.origin_y = whole.origin_y;
  const Linear base = (Lanes(1.0f) / k) * DotRay(normal, rays);
  return {place, base, {edge[0], edge[1], edge[2], {0.0f, 0.0f, 0.0f}}};
}

inline void DrawMesh(const MeshJob& mesh, const CameraGeoms& pose, const View& view, float* scratch, const Band& band) {
  const MeshVertices vertices = Transform(mesh, pose, view, scratch);
  RayFrame rays = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
  const Placement whole = Place(vertices.box, IsFinite(pose), view, &rays);
  if (!(LeastLane(whole.x0) < LeastLane(whole.x1) && LeastLane(whole.y0) < LeastLane(whole.y1))) return;
  for (int first = 0; first < mesh.triangle_count; first += kLanes) {
    const Polygon triangles = SetTriangles(mesh, vertices, first, rays, whole, view);
    float x0[kLanes], x1[kLanes], y0[kLanes], y1[kLanes];
    Store(x0, triangles.place.x0), Store(x1, triangles.place.x1);
    Store(y0, triangles.place.y0), Store(y1, triangles.place.y1);
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!(x0[lane] < x1[lane] && y0[lane] < y1[lane])) continue;
      PolygonOf<float> triangle;
      TakeLane(triangles, lane, &triangle);
      const PixelRect rect = {static_cast<int>(x0[lane]), static_cast<int>(x1[lane]), static_cast<int>(y0[lane]),
                              static_cast<int>(y1[lane])};
      Fill<TriangleColumn>(triangle, triangle.place, rect, {mesh.geom, first + lane}, band);
    }
  }
}

}  // namespace gripstream::GS_RENDER_ISA
