// Positions and velocities of several frames of a kinematic tree at once. Pure; allocates nothing; any number of
// threads.
#pragma once

#include <span>

#include "control/kinematic_tree.h"

namespace gripstream {

inline constexpr int kMaxMotionLinks = 96;

struct FrameMotion {
  Vec3 pos{};      // m, of the frame's origin in the base frame
  Vec3 linear{};   // m/s
  Vec3 angular{};  // rad/s
};

// One entry of `out` per frame. The tree has at most kMaxMotionLinks links (checked).
void FrameMotions(const KinematicTree& tree, std::span<const double> q, std::span<const double> qd,
                  std::span<const LinkFrame> frames, std::span<FrameMotion> out);

}  // namespace gripstream
