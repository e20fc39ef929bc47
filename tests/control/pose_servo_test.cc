// Tests control/pose_servo.h.
#include "control/pose_servo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "tests/control/arm.h"

namespace gripstream {
namespace {

using testing::HomePosture;
using testing::MakeArm;

constexpr double kTick_s = 1.0 / 60;

PoseServoParams ArmServo() {
  PoseServoParams params;
  params.joints = {0, 1, 2, 3, 4, 5, 6};
  const std::vector<double> home = HomePosture();
  params.rest.assign(home.begin(), home.begin() + 7);
  return params;
}

void Follow(const testing::Arm& arm, const PoseServoParams& params, const Transform& target, int ticks,
            std::vector<double>& q) {
  for (int i = 0; i < ticks; ++i) StepPoseServo(arm.tree, params, arm.palm, target, kTick_s, q);
}

double AngleBetween(Quat a, Quat b) {
  return Norm(RotationVector(a * Inverse(b)));
}

TEST(PoseServo, ReachesAPoseInsideTheWorkspaceAndStays) {
  const testing::Arm arm = MakeArm();
  PoseServoParams params = ArmServo();
  params.rest_gain = 0;  // a pull leaves a small error of the order of damping squared
  const Transform target{{-0.55, 0.1, 0.35}, EulerZyx(-1.8, 0.3, 3.34)};
  std::vector<double> q = HomePosture();
  Follow(arm, params, target, 240, q);
  const Transform reached = FramePose(arm.tree, q, arm.palm);
  EXPECT_LT(Norm(reached.pos - target.pos), 1e-4);
  EXPECT_LT(AngleBetween(reached.quat, target.quat), 1e-3);
  const std::vector<double> before = q;
  Follow(arm, params, target, 60, q);
  for (size_t j = 0; j < q.size(); ++j) EXPECT_NEAR(q[j], before[j], 1e-3);
}

TEST(PoseServo, MovesNoJointThatIsNotItsOwn) {
  const testing::Arm arm = MakeArm();
  std::vector<double> q = HomePosture();
  Follow(arm, ArmServo(), {{-0.4, 0.2, 0.5}, EulerZyx(-2, 0, 3)}, 100, q);
  const std::vector<double> home = HomePosture();
  for (size_t j = 7; j < 23; ++j) EXPECT_EQ(q[j], home[j]);
  EXPECT_NE(q[0], home[0]);
}

TEST(PoseServo, FreeMotionApproachesTheRestPostureWhileTheFrameHolds) {
  const testing::Arm arm = MakeArm();
  PoseServoParams params = ArmServo();
  std::vector<double> q = HomePosture();
  const Transform held = FramePose(arm.tree, q, arm.palm);
  params.rest[2] += 0.6;  // the elbow's swivel is the arm's free motion
  const auto distance = [&] {
    double sum = 0;
    for (size_t j = 0; j < 7; ++j) sum += (q[j] - params.rest[j]) * (q[j] - params.rest[j]);
    return std::sqrt(sum);
  };
  const double before = distance();
  Follow(arm, params, held, 600, q);
  EXPECT_LT(distance(), 0.9 * before);
  EXPECT_LT(Norm(FramePose(arm.tree, q, arm.palm).pos - held.pos), 3e-3);
}

TEST(PoseServo, KeepsJointAndSpeedLimitsOnRandomTargetsOutOfReach) {
  const testing::Arm arm = MakeArm();
  const PoseServoParams params = ArmServo();
  Rng rng = RandomStream(11, "targets").At(0, 0);
  const auto draw = [&](float low, float high) { return static_cast<double>(rng.Uniform(low, high)); };
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> q = HomePosture();
    const Transform target{{draw(-2, 2), draw(-2, 2), draw(-1, 2)}, EulerZyx(draw(-3, 3), draw(-3, 3), draw(-3, 3))};
    for (int tick = 0; tick < 120; ++tick) {
      const std::vector<double> before = q;
      Follow(arm, params, target, 1, q);
      for (size_t j = 0; j < 7; ++j) {
        ASSERT_TRUE(std::isfinite(q[j]));
        ASSERT_GE(q[j], arm.tree.limits[j].lower);
        ASSERT_LE(q[j], arm.tree.limits[j].upper);
        ASSERT_LE(std::abs(q[j] - before[j]), params.max_joint_speed * kTick_s + 1e-12);
      }
    }
  }
}

TEST(PoseServo, JointAtItsLimitGivesWayToTheOthers) {
  testing::Arm arm = MakeArm();
  std::vector<double> q = HomePosture();
  PoseServoParams params = ArmServo();
  params.rest_gain = 0;
  // Freeze joint 0 against turning further; the pose must still be reached with six joints.
  arm.tree.limits[0] = {q[0], q[0]};
  std::vector<double> goal = q;
  for (size_t j = 1; j < 7; ++j) goal[j] += 0.15;
  const Transform target = FramePose(arm.tree, goal, arm.palm);
  Follow(arm, params, target, 600, q);
  EXPECT_EQ(q[0], HomePosture()[0]);
  EXPECT_LT(Norm(FramePose(arm.tree, q, arm.palm).pos - target.pos), 1e-3);
}

TEST(PoseServo, ZeroErrorAndZeroPullMoveNothing) {
  const testing::Arm arm = MakeArm();
  PoseServoParams params = ArmServo();
  std::vector<double> q = HomePosture();
  Follow(arm, params, FramePose(arm.tree, q, arm.palm), 10, q);
  const std::vector<double> home = HomePosture();
  for (size_t j = 0; j < 23; ++j) EXPECT_NEAR(q[j], home[j], 1e-12);
}

TEST(PoseServo, CheckRefusesJointsThatTheTreeDoesNotHave) {
  const testing::Arm arm = MakeArm();
  PoseServoParams params = ArmServo();
  params.joints[3] = 23;
  EXPECT_THROW(CheckPoseServo(arm.tree, params), InternalError);
  params = ArmServo();
  params.rest.pop_back();
  EXPECT_THROW(CheckPoseServo(arm.tree, params), InternalError);
}

}  // namespace
}  // namespace gripstream
