// The geoms of one model that are drawn, with what rendering needs of them and poses do not change.
//
// Follows MuJoCo's default visual options: groups 0 to 2, alpha above 0. Immutable after construction, so safe to share
// between threads; copies what it needs and keeps no pointer. Throws InputError naming the geom for what cannot be
// drawn.
#pragma once

#include <mujoco/mujoco.h>

#include <vector>

namespace gripstream {

enum class Shape : int { kPlane, kSphere, kCapsule, kEllipsoid, kCylinder, kBox };

struct DrawnGeom {
  Shape shape;
  int id;         // in the model
  float size[3];  // as in MuJoCo: radius, half-length; half-axes; half-sides; a plane's half-sides, 0 = infinite
};

// Whether MuJoCo's default visual options show this geom.
bool IsDrawn(const mjModel& model, int geom);

std::vector<DrawnGeom> DrawnGeoms(const mjModel& model);

}  // namespace gripstream
