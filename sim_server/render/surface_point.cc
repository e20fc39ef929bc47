#include "sim_server/render/surface_point.h"

#include <algorithm>
#include <cmath>

namespace gripstream {
namespace {

// The outward normal at a point on the geom's surface, both in the geom's frame; not of unit length.
Point LocalNormal(const DrawnGeom& geom, const SceneJob& scene, int triangle, Point p) {
  const double sx = geom.size[0], sy = geom.size[1], sz = geom.size[2];
  switch (geom.shape) {
    case Shape::kPlane:
      return {0, 0, 1};
    case Shape::kEllipsoid:
      return {p.x / (sx * sx), p.y / (sy * sy), p.z / (sz * sz)};
    case Shape::kCapsule:
      return {p.x, p.y, p.z - std::clamp(p.z, -sy, sy)};
    case Shape::kCylinder: {
      // Whichever boundary the point is nearest to: the side or a flat end.
      const double side = std::abs(std::hypot(p.x, p.y) - sx);
      return side < std::abs(std::abs(p.z) - sy) ? Point{p.x, p.y, 0} : Point{0, 0, p.z};
    }
    case Shape::kBox: {
      const double x = std::abs(std::abs(p.x) - sx), y = std::abs(std::abs(p.y) - sy), z = std::abs(std::abs(p.z) - sz);
      if (x <= y && x <= z) return {p.x, 0, 0};
      return y <= z ? Point{0, p.y, 0} : Point{0, 0, p.z};
    }
    case Shape::kMesh: {
      const MeshJob* mesh = scene.meshes;
      while (mesh->geom != geom.id) ++mesh;
      return {mesh->normal[0][triangle], mesh->normal[1][triangle], mesh->normal[2][triangle]};
    }
  }
  return {0, 0, 0};
}

}  // namespace

Point Unit(Point a) {
  const double length = std::sqrt(Dot(a, a));
  return length > 0 ? (1 / length) * a : Point{0, 0, 0};
}

Point Times(const double m[9], Point v) {
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
          m[6] * v.x + m[7] * v.y + m[8] * v.z};
}

Point TransposedTimes(const double m[9], Point v) {
  return {m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z,
          m[2] * v.x + m[5] * v.y + m[8] * v.z};
}

bool PointAt(const View& view, const SceneJob& scene, const Canvas& canvas, int x, int y, SurfacePoint* out) {
  const int64_t at = static_cast<int64_t>(y) * canvas.stride + x;
  const int32_t id = canvas.geom[at];
  if (id < 0) return false;
  const double z = 1.0 / canvas.inverse_depth[at];
  const Point optical = {(x + 0.5 - view.cx) / view.fx * z, (y + 0.5 - view.cy) / view.fy * z, z};
  const double* centre = scene.geom_xpos + 3 * id;
  const double* rotation = scene.geom_xmat + 9 * id;
  out->geom = std::lower_bound(scene.geoms, scene.geoms + scene.geom_count, id,
                               [](const DrawnGeom& g, int32_t wanted) { return g.id < wanted; });
  out->triangle = canvas.triangle ? canvas.triangle[at] : -1;
  out->world = TransposedTimes(scene.optical_from_world, optical) +
               Point{scene.camera_xpos[0], scene.camera_xpos[1], scene.camera_xpos[2]};
  out->local = TransposedTimes(rotation, out->world - Point{centre[0], centre[1], centre[2]});
  out->normal = Unit(Times(rotation, LocalNormal(*out->geom, scene, out->triangle, out->local)));
  return true;
}

}  // namespace gripstream
