// Tests control/frame_motion.h.
#include "control/frame_motion.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/control/arm.h"

namespace gripstream {
namespace {

TEST(FrameMotion, EqualsPoseAndJacobianTimesSpeeds) {
  testing::Arm arm = testing::MakeArm();
  // A slide with an offset anchor elsewhere, so that every kind of link is met.
  arm.tree.links[3].kind = JointKind::kSlide;
  arm.tree.links[10].anchor = {0.01, -0.02, 0.03};
  const std::vector<LinkFrame> frames = {arm.palm, arm.index_tip, arm.thumb_tip};
  Rng rng = RandomStream(1, "motion").At(0, 0);
  for (int trial = 0; trial < 10; ++trial) {
    std::vector<double> q(23), qd(23), jacobian(6 * 23);
    for (size_t j = 0; j < 23; ++j) {
      q[j] = static_cast<double>(rng.Uniform(-1, 1));
      qd[j] = static_cast<double>(rng.Uniform(-2, 2));
    }
    std::vector<FrameMotion> motions(3);
    FrameMotions(arm.tree, q, qd, frames, motions);
    for (size_t f = 0; f < 3; ++f) {
      const Transform pose = FrameJacobian(arm.tree, q, frames[f], jacobian);
      double twist[6] = {};
      for (size_t row = 0; row < 6; ++row) {
        for (size_t j = 0; j < 23; ++j) twist[row] += jacobian[row * 23 + j] * qd[j];
      }
      EXPECT_LT(Norm(motions[f].pos - pose.pos), 1e-12);
      EXPECT_LT(Norm(motions[f].linear - Vec3{twist[0], twist[1], twist[2]}), 1e-12);
      EXPECT_LT(Norm(motions[f].angular - Vec3{twist[3], twist[4], twist[5]}), 1e-12);
    }
  }
}

}  // namespace
}  // namespace gripstream
