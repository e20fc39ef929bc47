// Draws meshes: transforms the vertices, sets up kLanes of the triangles that can be seen at a time, and fills each
// one's rectangle.
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

// kLanes triangles: their corners, and where they can be seen.
struct TriangleCorners {
  Vec3 v[3];
  Vec3 normal;  // not of unit length
  Lanes k;      // normal.v, below 0 where the triangle faces the camera
  Placement place;
};
inline TriangleCorners PlaceTriangles(const MeshVertices& vertices, const int32_t* const index[3], const View& view) {
  const Vec3 v[3] = {Corner(vertices, index[0]), Corner(vertices, index[1]), Corner(vertices, index[2])};
  Bounds bounds = {kUnbounded, -kUnbounded, kUnbounded, -kUnbounded, kUnbounded, -kUnbounded};
  for (int i = 0; i < 3; ++i) {
    const Lanes px = Lanes::Gather(vertices.px, index[i]), py = Lanes::Gather(vertices.py, index[i]);
    bounds = {Min(px, bounds.x0), Max(px, bounds.x1),          Min(py, bounds.y0),
              Max(py, bounds.y1), Min(v[i].z, bounds.nearest), Max(v[i].z, bounds.farthest)};
  }
  const Vec3 normal = Cross(v[1] - v[0], v[2] - v[0]);
  const Lanes k = Dot(normal, v[0]);
  RayFrame own = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
  return {{v[0], v[1], v[2]}, normal, k, Place(WholeImageWhereCrossing(bounds, view), k < Lanes(0.0f), view, &own)};
}

// Bit i = whether triangle i can be seen: most of a fine mesh look away or lie between pixels' centres.
inline uint32_t SeenOf(const TriangleCorners& t) {
  return Bits((t.place.x0 < t.place.x1) & (t.place.y0 < t.place.y1));
}

// Planes and edges, with the mesh's own origin.
inline Polygon SetTriangles(const TriangleCorners& t, const RayFrame& rays, const Placement& whole) {
  const Linear edge[3] = {DotRay(Cross(t.v[1], t.v[0]), rays), DotRay(Cross(t.v[2], t.v[1]), rays),
                          DotRay(Cross(t.v[0], t.v[2]), rays)};
  Placement place = t.place;
  place.origin_x = whole.origin_x, place.origin_y = whole.origin_y;
  const Linear base = (Lanes(1.0f) / t.k) * DotRay(t.normal, rays);
  return {place, base, {edge[0], edge[1], edge[2], {0.0f, 0.0f, 0.0f}}};
}

// A mesh under way: what all of its triangles share.
struct MeshDrawing {
  const MeshJob& mesh;
  const MeshVertices& vertices;
  const RayFrame& rays;
  const Placement& whole;
  const View& view;
  const Band& band;
};

// Draws these triangles, kLanes at a time.
inline void DrawTriangles(const MeshDrawing& d, const int32_t* triangles, int count) {
  for (int first = 0; first < count; first += kLanes) {
    int32_t corner[3][kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const int32_t triangle = triangles[first + lane < count ? first + lane : count - 1];
      for (int i = 0; i < 3; ++i) corner[i][lane] = d.mesh.corner[i][triangle];
    }
    const int32_t* const index[3] = {corner[0], corner[1], corner[2]};
    const Polygon polygons = SetTriangles(PlaceTriangles(d.vertices, index, d.view), d.rays, d.whole);
    for (int lane = 0; lane < kLanes && first + lane < count; ++lane) {
      PolygonOf<float> triangle;
      TakeLane(polygons, lane, &triangle);
      const PlacementOf<float>& p = triangle.place;
      const PixelRect rect = {static_cast<int>(p.x0), static_cast<int>(p.x1), static_cast<int>(p.y0),
                              static_cast<int>(p.y1)};
      Fill<TriangleColumn>(triangle, p, rect, {d.mesh.geom, triangles[first + lane]}, d.band);
    }
  }
}

// Whether the box about a mesh shows nowhere in the image; false where it is too large to tell.
inline bool IsOutOfView(const MeshJob& mesh, const CameraGeoms& pose, const View& view) {
  constexpr float kLarge_m = 1e6f;
  CameraGeoms box = pose;
  for (int i = 0; i < 3; ++i) {
    if (!(mesh.box_half[i] < kLarge_m)) return false;
    box.centre = box.centre + Lanes(mesh.box_centre[i]) * pose.axis[i];
    box.size[i] = mesh.box_half[i];
  }
  RayFrame own = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
  const Placement place = Place(BoxBounds(box, view), IsFinite(pose), view, &own);
  return Bits((place.x0 < place.x1) & (place.y0 < place.y1)) == 0;
}

// Finds the triangles that can be seen and sets up only those.
inline void DrawMesh(const MeshJob& mesh, const CameraGeoms& pose, const View& view, float* scratch, const Band& band) {
  if (IsOutOfView(mesh, pose, view)) return;
  const MeshVertices vertices = Transform(mesh, pose, view, scratch);
  RayFrame rays = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
  const Placement whole = Place(vertices.box, IsFinite(pose), view, &rays);
  if (!(LeastLane(whole.x0) < LeastLane(whole.x1) && LeastLane(whole.y0) < LeastLane(whole.y1))) return;
  const MeshDrawing drawing = {mesh, vertices, rays, whole, view, band};
  constexpr int kMostSeen = 512;
  int32_t seen[kMostSeen];
  int count = 0;
  for (int first = 0; first < mesh.triangle_count; first += kLanes) {
    const int32_t* const index[3] = {mesh.corner[0] + first, mesh.corner[1] + first, mesh.corner[2] + first};
    for (uint32_t left = SeenOf(PlaceTriangles(vertices, index, view)); left; left &= left - 1) {
      seen[count++] = first + FirstOf(left);
    }
    if (count <= kMostSeen - kLanes) continue;
    DrawTriangles(drawing, seen, count);
    count = 0;
  }
  DrawTriangles(drawing, seen, count);
}

}  // namespace gripstream::GS_RENDER_ISA
