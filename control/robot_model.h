// What control needs to know of a robot: its kinematics, the frames of its hand, and where it is at rest. Plain values;
// whoever reads a model or a manifest fills them in.
#pragma once

#include <vector>

#include "control/kinematic_tree.h"

namespace gripstream {

// Joints are in the tree's order, the arm's first.
struct RobotModel {
  KinematicTree tree;
  LinkFrame palm;
  std::vector<LinkFrame> tips;
  int arm_joints = 0;
  std::vector<double> home;  // [J] where episodes start (rad)
};

}  // namespace gripstream
