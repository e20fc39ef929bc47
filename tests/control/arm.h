// The KUKA iiwa 7 with the Allegro hand's palm and fingertips, written down from the public joint tables (position and
// fixed-axis roll, pitch, yaw per joint): a tree that does not come from our MJCF.
#pragma once

#include <numbers>
#include <string>
#include <vector>

#include "control/kinematic_tree.h"

namespace gripstream::testing {

struct Arm {
  KinematicTree tree;
  LinkFrame palm, index_tip, middle_tip, ring_tip, thumb_tip;
};

inline Transform FromRpy(Vec3 pos, double roll, double pitch, double yaw) {
  return {pos, EulerZyx(yaw, pitch, roll)};
}

inline int AddHinge(KinematicTree& tree, int parent, const Transform& pose, double lower, double upper) {
  const int joint = tree.Joints();
  tree.links.push_back({.name = "link" + std::to_string(tree.links.size()),
                        .parent = parent,
                        .parent_pose = pose,
                        .kind = JointKind::kHinge,
                        .joint = joint});
  tree.joint_names.push_back("joint" + std::to_string(joint));
  tree.limits.push_back({lower, upper});
  return static_cast<int>(tree.links.size()) - 1;
}

// The chain of one finger from the palm; returns the frame of its tip.
inline LinkFrame AddFinger(KinematicTree& tree, int palm, const Transform& base, const Transform& second,
                           const Transform& third, const Transform& fourth, Vec3 tip) {
  int link = AddHinge(tree, palm, base, -0.558, 0.558);
  for (const Transform& pose : {second, third, fourth}) link = AddHinge(tree, link, pose, -0.28, 1.73);
  return {link, FromRpy(tip, 0, 0, 0.43632)};
}

inline Arm MakeArm() {
  constexpr double pi = std::numbers::pi, half = pi / 2;
  Arm arm;
  KinematicTree& tree = arm.tree;
  const double limit[] = {2.96706, 2.0944, 2.96706, 2.0944, 2.96706, 2.0944, 3.05433};
  const Transform joints[] = {FromRpy({0, 0, 0.1575}, 0, 0, 0),         FromRpy({0, 0, 0.1825}, half, 0, pi),
                              FromRpy({0, 0.184, 0}, half, 0, pi),      FromRpy({0, 0, 0.216}, half, 0, 0),
                              FromRpy({0, 0.184, 0}, -half, pi, 0),     FromRpy({0, 0.0607, 0.216}, half, 0, 0),
                              FromRpy({0, 0.081, 0.0607}, -half, pi, 0)};
  int link = -1;
  for (size_t j = 0; j < 7; ++j) link = AddHinge(tree, link, joints[j], -limit[j], limit[j]);
  const Transform flange{{0, 0, 0.071}, {}};
  const Transform palm = flange * FromRpy({-0.008219, -0.02063, 0.08086}, 0, -half, pi / 4);
  tree.links.push_back({.name = "palm", .parent = link, .parent_pose = palm});
  const int palm_link = static_cast<int>(tree.links.size()) - 1;
  arm.palm = {palm_link, {}};
  const Transform second = FromRpy({}, pi, -half, half), third{{0.054, 0, 0}, {}}, fourth{{0.0384, 0, 0}, {}};
  const Vec3 tip{0.055, 0.015, 0};
  const auto finger = [&](Vec3 pos, double yaw) {
    return AddFinger(tree, palm_link, FromRpy(pos, pi, -half, yaw), second, third, fourth, tip);
  };
  arm.index_tip = finger({0.0514302, -0.03632, -0.0113}, -0.08726);
  arm.middle_tip = finger({0.0537375, 0.0087771, -0.0113}, 0);
  arm.ring_tip = finger({0.0514302, 0.0538749, -0.0113}, 0.08726);
  arm.thumb_tip = AddFinger(tree, palm_link, FromRpy({-0.0367482, -0.0081281, -0.0295}, -half, -half, 1.483486),
                            FromRpy({0.005, 0, 0}, half, 0, 0), FromRpy({0, 0, 0.0554}, pi, -half, 0),
                            FromRpy({0.0514, 0, 0}, 0, 0, 0), {0.07, 0.01, 0});
  tree.Check();
  return arm;
}

// Arm, then index, middle, ring and thumb.
inline std::vector<double> HomePosture() {
  return {-0.85, 0,   0.76, 1.25, -1.76, 0.90, 0.64, 0,   0.3,        0.3,        0.3,       0,
          0.3,   0.3, 0.3,  0,    0.3,   0.3,  0.3,  1.5, 0.60147215, 0.33795027, 0.60845138};
}

}  // namespace gripstream::testing
