// The geoms of one model that are drawn, with what rendering needs of them and poses do not change.
//
// Follows MuJoCo's default visual options: groups 0 to 2, alpha above 0. Immutable after construction, so safe to share
// between threads; copies what it needs and keeps no pointer. Throws InputError naming the geom for what cannot be
// drawn.
#pragma once

#include <mujoco/mujoco.h>

#include <vector>

namespace gripstream {

enum class Shape : int {
  kPlane,
  kEllipsoid,
  kCapsule,
  kCylinder,
  kBox,
  kMesh
};  // a sphere is an ellipsoid, a height field a mesh

struct DrawnGeom {
  Shape shape;
  int id;            // in the model
  bool translucent;  // seen in segmentation but not by depth, as in MuJoCo's renderer
  float size[3];     // half-axes; radius, half-length; half-sides; a plane's half-sides, 0 = infinite
};

// Geoms of one shape that are set up side by side, as the kernels take them.
inline constexpr int kGeomsPerBatch = 16;
struct GeomBatch {
  Shape shape;
  bool translucent;
  int count;               // 1 .. kGeomsPerBatch; what is beyond repeats the last
  int id[kGeomsPerBatch];  // in the model
  float size[3][kGeomsPerBatch];
};

// Whether MuJoCo's default visual options show this geom.
bool IsDrawn(const mjModel& model, int geom);

// By id.
std::vector<DrawnGeom> DrawnGeoms(const mjModel& model);

// The same by shape, planes first, opaque before translucent, without meshes.
std::vector<GeomBatch> BatchesOf(const std::vector<DrawnGeom>& geoms);

}  // namespace gripstream
