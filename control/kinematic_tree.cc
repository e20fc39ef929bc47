#include "control/kinematic_tree.h"

#include <algorithm>

#include "core/error.h"

namespace gripstream {
namespace {

// X_PL at joint value q.
Transform LinkInParent(const Link& link, std::span<const double> q) {
  if (link.kind == JointKind::kFixed) return link.parent_pose;
  const double value = q[static_cast<size_t>(link.joint)];
  if (link.kind == JointKind::kSlide) return link.parent_pose * Transform{value * link.axis, {}};
  const Quat turn = AxisAngle(link.axis, value);
  return link.parent_pose * Transform{link.anchor - Rotate(turn, link.anchor), turn};
}

Transform LinkPose(const KinematicTree& tree, std::span<const double> q, int index) {
  const Link& link = tree.links[static_cast<size_t>(index)];
  const Transform in_parent = LinkInParent(link, q);
  return link.parent < 0 ? in_parent : LinkPose(tree, q, link.parent) * in_parent;
}

}  // namespace

void KinematicTree::Check() const {
  GS_CHECK(limits.size() == joint_names.size(), "one limit per joint");
  for (size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    GS_CHECK(link.parent >= -1 && link.parent < static_cast<int>(i), "link '" + link.name + "' precedes its parent");
    GS_CHECK((link.kind == JointKind::kFixed) == (link.joint < 0), "link '" + link.name + "' and its joint disagree");
    GS_CHECK(link.joint < Joints(), "link '" + link.name + "' names no joint");
  }
}

void LinkPoses(const KinematicTree& tree, std::span<const double> q, std::span<Transform> out) {
  for (size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    const Transform in_parent = LinkInParent(link, q);
    out[i] = link.parent < 0 ? in_parent : out[static_cast<size_t>(link.parent)] * in_parent;
  }
}

Transform FramePose(const KinematicTree& tree, std::span<const double> q, const LinkFrame& frame) {
  return LinkPose(tree, q, frame.link) * frame.pose;
}

Transform FrameJacobian(const KinematicTree& tree, std::span<const double> q, const LinkFrame& frame,
                        std::span<double> jacobian) {
  const size_t n = static_cast<size_t>(tree.Joints());
  std::fill(jacobian.begin(), jacobian.end(), 0.0);
  // From the frame towards the base, every pose is kept relative to the link at hand; the sums are turned into the base
  // frame at the end, which needs the base pose of each link: walk up once, collecting the chain.
  constexpr size_t kMaxDepth = 64;
  int chain[kMaxDepth];
  size_t depth = 0;
  for (int link = frame.link; link >= 0; link = tree.links[static_cast<size_t>(link)].parent) {
    GS_CHECK(depth < kMaxDepth, "kinematic chain of more than 64 links");
    chain[depth++] = link;
  }
  Transform poses[kMaxDepth];
  Transform pose;
  for (size_t k = depth; k-- > 0;) {
    pose = pose * LinkInParent(tree.links[static_cast<size_t>(chain[k])], q);
    poses[k] = pose;
  }
  const Transform result = pose * frame.pose;
  for (size_t k = 0; k < depth; ++k) {
    const Link& link = tree.links[static_cast<size_t>(chain[k])];
    if (link.kind == JointKind::kFixed) continue;
    const Vec3 axis = Rotate(poses[k].quat, link.axis);
    const bool hinge = link.kind == JointKind::kHinge;
    const Vec3 linear = hinge ? Cross(axis, result.pos - poses[k] * link.anchor) : axis;
    const Vec3 angular = hinge ? axis : Vec3{};
    const double column[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    for (size_t row = 0; row < 6; ++row) jacobian[row * n + static_cast<size_t>(link.joint)] = column[row];
  }
  return result;
}

}  // namespace gripstream
