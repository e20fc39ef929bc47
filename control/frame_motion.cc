#include "control/frame_motion.h"

#include <array>

#include "core/error.h"

namespace gripstream {

void FrameMotions(const KinematicTree& tree, std::span<const double> q, std::span<const double> qd,
                  std::span<const LinkFrame> frames, std::span<FrameMotion> out) {
  GS_CHECK(tree.links.size() <= kMaxMotionLinks, "a tree of more than 96 links");
  std::array<Transform, kMaxMotionLinks> poses;
  std::array<Vec3, kMaxMotionLinks> angular, linear;  // linear: of the link's origin
  LinkPoses(tree, q, poses);
  for (size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    const Vec3 origin = poses[i].pos;
    Vec3 w{}, v{};
    if (link.parent >= 0) {
      const size_t p = static_cast<size_t>(link.parent);
      w = angular[p];
      v = linear[p] + Cross(w, origin - poses[p].pos);
    }
    if (link.kind != JointKind::kFixed) {
      const Vec3 axis = qd[static_cast<size_t>(link.joint)] * Rotate(poses[i].quat, link.axis);
      if (link.kind == JointKind::kHinge) {
        w = w + axis;
        v = v + Cross(axis, origin - poses[i] * link.anchor);
      } else {
        v = v + axis;
      }
    }
    angular[i] = w;
    linear[i] = v;
  }
  for (size_t f = 0; f < frames.size(); ++f) {
    const size_t link = static_cast<size_t>(frames[f].link);
    const Vec3 pos = poses[link] * frames[f].pose.pos;
    out[f] = {pos, linear[link] + Cross(angular[link], pos - poses[link].pos), angular[link]};
  }
}

}  // namespace gripstream
