// The surface normal at a pixel, worked out from what the pixel shows and its depth.
//
// Included by the files that instantiate the kernels (see lanes.h). Pure functions; nothing throws.
#pragma once

#include <math.h>

#include "core/rng.h"
#include "sim_server/render/cuda/tile_job.h"

namespace gripstream::GS_RENDER_ISA {

struct Normal {
  float x, y, z;
};

// Outwards at a point of the surface, both in the geom's frame; of any length. Meshes know theirs.
GS_HOST_DEVICE inline Normal LocalNormal(const TileGeom& geom, Normal p) {
  const float sx = geom.size[0], sy = geom.size[1], sz = geom.size[2];
  switch (geom.shape) {
    case Shape::kPlane:
    case Shape::kMesh:
      break;
    case Shape::kEllipsoid:
      return {p.x / (sx * sx), p.y / (sy * sy), p.z / (sz * sz)};
    case Shape::kCapsule:
      return {p.x, p.y, p.z - (p.z < -sy ? -sy : p.z > sy ? sy : p.z)};
    case Shape::kCylinder: {
      // Whichever boundary the point is nearest to: the side or a flat end.
      const float side = fabsf(sqrtf(p.x * p.x + p.y * p.y) - sx);
      if (side < fabsf(fabsf(p.z) - sy)) return {p.x, p.y, 0};
      return {0, 0, p.z};
    }
    case Shape::kBox: {
      const float x = fabsf(fabsf(p.x) - sx), y = fabsf(fabsf(p.y) - sy), z = fabsf(fabsf(p.z) - sz);
      if (x <= y && x <= z) return {p.x, 0, 0};
      return y <= z ? Normal{0, p.y, 0} : Normal{0, 0, p.z};
    }
  }
  return {0, 0, 1};
}

GS_HOST_DEVICE inline const MeshJob& MeshOf(const TileModel& model, int geom) {
  const MeshJob* mesh = model.meshes;
  while (mesh->geom != geom) ++mesh;
  return *mesh;
}

// Of unit length in the optical frame, where pixel (x, y) shows `geom` at this inverse depth.
GS_HOST_DEVICE inline Normal NormalAt(const View& view, const TileModel& model, const CameraPose& pose, int geom,
                                      int triangle, int x, int y, float inverse_depth) {
  const float z = 1.0f / inverse_depth;
  const float d[3] = {(static_cast<float>(x) + 0.5f - view.cx) / view.fx * z - pose.centre[0],
                      (static_cast<float>(y) + 0.5f - view.cy) / view.fy * z - pose.centre[1], z - pose.centre[2]};
  const auto along = [&](int i) { return pose.axis[i][0] * d[0] + pose.axis[i][1] * d[1] + pose.axis[i][2] * d[2]; };
  Normal local = {along(0), along(1), along(2)};
  if (triangle >= 0) {
    const MeshJob& mesh = MeshOf(model, geom);
    local = {mesh.normal[0][triangle], mesh.normal[1][triangle], mesh.normal[2][triangle]};
  } else {
    local = LocalNormal(model.geoms[geom], local);
  }
  const auto sum = [&](int i) {
    return local.x * pose.axis[0][i] + local.y * pose.axis[1][i] + local.z * pose.axis[2][i];
  };
  const Normal n = {sum(0), sum(1), sum(2)};
  const float length = sqrtf(n.x * n.x + n.y * n.y + n.z * n.z);
  if (!(length > 0)) return {0, 0, 0};
  return {n.x / length, n.y / length, n.z / length};
}

}  // namespace gripstream::GS_RENDER_ISA
