// A robot's joints as plain numbers: forward kinematics and geometric Jacobians of named points.
//
// Links are listed parents first; a link moves by at most one joint relative to its parent. Joint values are in the
// tree's own joint order, which is the order of `joint_names`. Immutable after Check(); all functions are pure,
// allocate nothing and may be called from any number of threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "control/math3.h"

namespace gripstream {

enum class JointKind { kFixed, kHinge, kSlide };

struct Link {
  std::string name{};
  int parent = -1;          // index of the parent link, -1 for the base frame
  Transform parent_pose{};  // X_PL at joint value 0
  JointKind kind = JointKind::kFixed;
  int joint = -1;      // index into the joint vector, -1 for kFixed
  Vec3 axis{0, 0, 1};  // unit, in the link's frame
  Vec3 anchor{};       // a point on a hinge's axis, in the link's frame (m)
};

struct JointLimit {
  double lower = 0, upper = 0;  // rad, or m for a slide
};

// A point that belongs to a link; its frame is X_LF.
struct LinkFrame {
  int link = 0;
  Transform pose{};
};

struct KinematicTree {
  std::vector<Link> links;
  std::vector<std::string> joint_names;
  std::vector<JointLimit> limits;  // one per joint

  int Joints() const { return static_cast<int>(joint_names.size()); }
  // Throws InternalError when parents, joints or sizes do not fit together.
  void Check() const;
};

// Poses of all links in the base frame; `out` has one entry per link.
void LinkPoses(const KinematicTree& tree, std::span<const double> q, std::span<Transform> out);

// X_BF of a frame, walking from the base to its link only.
Transform FramePose(const KinematicTree& tree, std::span<const double> q, const LinkFrame& frame);

// Pose of `frame` and its 6 x Joints() geometric Jacobian, row-major: rows 0-2 linear velocity of the frame's origin,
// rows 3-5 angular velocity, both in the base frame.
Transform FrameJacobian(const KinematicTree& tree, std::span<const double> q, const LinkFrame& frame,
                        std::span<double> jacobian);

}  // namespace gripstream
