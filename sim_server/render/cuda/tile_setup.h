// The set-up kernels' bodies: geoms and triangles in the camera's frame become surfaces with pixel rectangles.
//
// The geometry is surface_setup.h's, with one lane per thread. Included by the files that instantiate the kernels (see
// lanes.h, with GS_RENDER_ONE_LANE).
#pragma once

#include "sim_server/render/cuda/block.h"
#include "sim_server/render/cuda/tile_job.h"
#include "sim_server/render/lanes.h"
#include "sim_server/render/surface_setup.h"

namespace gripstream::GS_RENDER_ISA {

// Copies one lane's structure into the same structure of floats.
template <class To, class From>
GS_HOST_DEVICE void TakeOnlyLane(const From& from, To* to) {
  static_assert(kLanes == 1 && sizeof(From) == sizeof(To));
  memcpy(static_cast<void*>(to), &from, sizeof(To));
}

GS_HOST_DEVICE inline Vec3 RotateToOptical(const float m[9], Vec3 v) {
  return {Lanes(m[0]) * v.x + Lanes(m[1]) * v.y + Lanes(m[2]) * v.z,
          Lanes(m[3]) * v.x + Lanes(m[4]) * v.y + Lanes(m[5]) * v.z,
          Lanes(m[6]) * v.x + Lanes(m[7]) * v.y + Lanes(m[8]) * v.z};
}

GS_HOST_DEVICE inline CameraGeoms ToCamera(const TileScene& scene, const GeomPose& pose, const float size[3]) {
  const float* m = scene.optical_from_world;
  const float* r = pose.axes;
  return {RotateToOptical(m, {pose.centre[0], pose.centre[1], pose.centre[2]}),
          {RotateToOptical(m, {r[0], r[3], r[6]}), RotateToOptical(m, {r[1], r[4], r[7]}),
           RotateToOptical(m, {r[2], r[5], r[8]})},
          {size[0], size[1], size[2]}};
}

// Writes a surface; nothing is visible of an empty rectangle.
template <class From, class To>
GS_HOST_DEVICE void PutSurface(const From& from, SurfaceKind kind, int geom, Surface* out, To* member) {
  const PlacementOf<Lanes>& p = from.place;
  const bool seen = p.x0.v < p.x1.v && p.y0.v < p.y1.v;
  out->kind = kind;
  out->geom = geom;
  out->x0 = seen ? static_cast<int>(p.x0.v) : 0, out->x1 = seen ? static_cast<int>(p.x1.v) : 0;
  out->y0 = seen ? static_cast<int>(p.y0.v) : 0, out->y1 = seen ? static_cast<int>(p.y1.v) : 0;
  TakeOnlyLane(from, member);
}

GS_HOST_DEVICE inline void PutPlane(const Polygon& plane, int geom, Surface* out) {
  bool open = true;
  for (const Linear& edge : plane.edge) open = open && edge.cu.v == 0 && edge.cv.v == 0 && edge.c.v == 1;
  PutSurface(plane, open ? SurfaceKind::kPlane : SurfaceKind::kRectangle, geom, out, &out->polygon);
}

// Moves the faces that are there to the front and counts them.
GS_HOST_DEVICE inline void PutBox(const Box& box, int geom, Surface* out) {
  PutSurface(box, SurfaceKind::kBoxThreeFaces, geom, out, &out->box);
  int front = 0, back = 0;
  for (const LinearOf<float>& face : out->box.front) {
    if (face.c < kUnbounded) out->box.front[front++] = face;
  }
  for (const LinearOf<float>& face : out->box.back) {
    if (face.c > -kUnbounded) out->box.back[back++] = face;
  }
  if (front == 1) out->kind = SurfaceKind::kBoxOneFace;
  if (front == 2) out->kind = SurfaceKind::kBoxTwoFaces;
}

// An end of a capsule needs its window only where the near plane cuts the capsule.
GS_HOST_DEVICE inline void PutEnd(const Quadric& end, int geom, Surface* out) {
  const bool cut = end.place.max_inverse_depth.v < kNoCut;
  PutSurface(end, cut ? SurfaceKind::kWindowed : SurfaceKind::kQuadric, geom, out, &out->quadric);
}

GS_HOST_DEVICE inline void PutPrimitive(Shape shape, int geom, const CameraGeoms& g, const View& view, Surface* out) {
  const LaneMask visible = IsFinite(g);
  switch (shape) {
    case Shape::kPlane:
      return PutPlane(SetPlane(g, visible, view), geom, out);
    case Shape::kEllipsoid: {
      RayFrame rays = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
      return PutSurface(SetEllipsoid(g, g.size, g.centre, visible, view, &rays), SurfaceKind::kQuadric, geom, out,
                        &out->quadric);
    }
    case Shape::kCapsule: {
      const Capsule capsule = SetCapsule(g, visible, view);
      PutSurface(capsule.side, SurfaceKind::kWindowed, geom, out, &out->quadric);
      PutEnd(capsule.end[0], geom, out + 1);
      return PutEnd(capsule.end[1], geom, out + 2);
    }
    case Shape::kCylinder: {
      const Cylinder cylinder = SetCylinder(g, visible, view);
      PutSurface(cylinder.side, SurfaceKind::kWindowed, geom, out, &out->quadric);
      return PutSurface(cylinder.end, SurfaceKind::kDisc, geom, out + 1, &out[1].disc);
    }
    case Shape::kBox:
      return PutBox(SetBox(g, visible, view), geom, out);
    case Shape::kMesh:
      return;
  }
}

// One geom of one environment; `index` counts geom_stride to an environment.
GS_HOST_DEVICE inline void SetUpGeom(const TileJob& job, int64_t index) {
  const int64_t env = index / job.geom_stride;
  const int geom = static_cast<int>(index % job.geom_stride);
  const TileScene& scene = job.scenes[env];
  const TileModel& model = job.models[scene.model];
  if (geom >= model.primitive_count + model.mesh_count) return;
  const TileGeom& table = model.geoms[geom];
  const CameraGeoms g = ToCamera(scene, job.poses[index], table.size);
  static_assert(sizeof(CameraPose) == sizeof g.centre + sizeof g.axis);
  memcpy(static_cast<void*>(&job.camera_poses[index]), &g, sizeof(CameraPose));
  PutPrimitive(table.shape, geom, g, scene.view, job.surfaces + env * job.surface_stride + table.first_surface);
}

// A mesh's pose for its vertices.
GS_HOST_DEVICE inline CameraGeoms GeomsOf(const CameraPose& pose) {
  const auto axis = [&pose](int i) { return Vec3{pose.axis[i][0], pose.axis[i][1], pose.axis[i][2]}; };
  return {{pose.centre[0], pose.centre[1], pose.centre[2]}, {axis(0), axis(1), axis(2)}, {0.0f, 0.0f, 0.0f}};
}

GS_HOST_DEVICE inline Vec3 VertexAt(const MeshJob& mesh, int i, const CameraGeoms& pose) {
  return pose.centre + Lanes(mesh.x[i]) * pose.axis[0] + Lanes(mesh.y[i]) * pose.axis[1] +
         Lanes(mesh.z[i]) * pose.axis[2];
}

GS_HOST_DEVICE inline Bounds Nothing() {
  return {kUnbounded, -kUnbounded, kUnbounded, -kUnbounded, kUnbounded, -kUnbounded};
}

GS_HOST_DEVICE inline Bounds Including(const Bounds& b, Vec3 p, const View& view) {
  const Lanes scale = Lanes(1.0f) / p.z;
  const Lanes column = Lanes(view.cx) + Lanes(view.fx) * p.x * scale;
  const Lanes row = Lanes(view.cy) + Lanes(view.fy) * p.y * scale;
  return {Min(column, b.x0), Max(column, b.x1),   Min(row, b.y0),
          Max(row, b.y1),    Min(p.z, b.nearest), Max(p.z, b.farthest)};
}

// Bounds as plain floats: shared memory holds no types with constructors.
struct PlainBounds {
  float x0, x1, y0, y1, nearest, farthest;
};
struct MeshShared {
  PlainBounds bounds[kTileThreads];
};

GS_HOST_DEVICE inline void PutMeshPlace(const PlainBounds& box, const CameraGeoms& pose, const View& view,
                                        MeshPlace* out) {
  const Bounds b = {box.x0, box.x1, box.y0, box.y1, box.nearest, box.farthest};
  RayFrame rays = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
  const Placement p = Place(WholeImageWhereCrossing(b, view), IsFinite(pose), view, &rays);
  *out = {static_cast<int>(p.x0.v),
          static_cast<int>(p.x1.v),
          static_cast<int>(p.y0.v),
          static_cast<int>(p.y1.v),
          p.origin_x.v,
          p.origin_y.v,
          {rays.d0.x.v, rays.d0.y.v, rays.d0.z.v},
          rays.du.v,
          rays.dv.v};
}

// A block finds where one mesh of one environment lies; `index` counts mesh_stride to an environment.
template <class Block>
GS_HOST_DEVICE void PlaceMesh(const Block& block, const TileJob& job, int index, MeshShared& shared) {
  const int env = index / job.mesh_stride, number = index % job.mesh_stride;
  const TileModel& model = job.models[job.scenes[env].model];
  if (number >= model.mesh_count) return;
  const MeshJob& mesh = model.meshes[number];
  const View& view = job.scenes[env].view;
  const CameraPose& pose = job.camera_poses[static_cast<int64_t>(env) * job.geom_stride + mesh.geom];
  block.ForThreads([&](int thread) {
    const CameraGeoms geom = GeomsOf(pose);
    Bounds b = Nothing();
    for (int i = thread; i < mesh.vertex_count; i += kTileThreads) {
      b = Including(b, VertexAt(mesh, i, geom), view);
    }
    TakeOnlyLane(b, &shared.bounds[thread]);
  });
  block.ForThreads([&](int thread) {
    if (thread != 0) return;
    PlainBounds all = shared.bounds[0];
    for (int i = 1; i < kTileThreads; ++i) {
      const PlainBounds& b = shared.bounds[i];
      all = {b.x0 < all.x0 ? b.x0 : all.x0,
             b.x1 > all.x1 ? b.x1 : all.x1,
             b.y0 < all.y0 ? b.y0 : all.y0,
             b.y1 > all.y1 ? b.y1 : all.y1,
             b.nearest < all.nearest ? b.nearest : all.nearest,
             b.farthest > all.farthest ? b.farthest : all.farthest};
    }
    PutMeshPlace(all, GeomsOf(pose), view, &job.mesh_places[index]);
  });
}

// One triangle in its mesh's frame: plane, edges and rectangle.
GS_HOST_DEVICE inline void PutTriangle(const MeshJob& mesh, int triangle, const CameraGeoms& pose,
                                       const MeshPlace& place, const View& view, Surface* out) {
  const Vec3 v[3] = {VertexAt(mesh, mesh.corner[0][triangle], pose), VertexAt(mesh, mesh.corner[1][triangle], pose),
                     VertexAt(mesh, mesh.corner[2][triangle], pose)};
  const Bounds bounds = Including(Including(Including(Nothing(), v[0], view), v[1], view), v[2], view);
  const RayFrame rays = {{place.ray[0], place.ray[1], place.ray[2]}, place.du, place.dv};
  const Vec3 normal = Cross(v[1] - v[0], v[2] - v[0]);
  const Lanes k = Dot(normal, v[0]);
  RayFrame own = {{0.0f, 0.0f, 0.0f}, 0.0f, 0.0f};
  Placement at = Place(WholeImageWhereCrossing(bounds, view), k < Lanes(0.0f), view, &own);
  at.origin_x = place.origin_x, at.origin_y = place.origin_y;
  const Polygon polygon = {at,
                           (Lanes(1.0f) / k) * DotRay(normal, rays),
                           {DotRay(Cross(v[1], v[0]), rays),
                            DotRay(Cross(v[2], v[1]), rays),
                            DotRay(Cross(v[0], v[2]), rays),
                            {0.0f, 0.0f, 0.0f}}};
  PutSurface(polygon, SurfaceKind::kRectangle, mesh.geom, out, &out->polygon);
}

}  // namespace gripstream::GS_RENDER_ISA
