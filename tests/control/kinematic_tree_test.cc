// Tests control/kinematic_tree.h.
#include "control/kinematic_tree.h"

#include <gtest/gtest.h>

#include <array>
#include <numbers>

#include "core/error.h"
#include "core/rng.h"
#include "tests/control/arm.h"

namespace gripstream {
namespace {

using testing::HomePosture;
using testing::MakeArm;

void ExpectPosition(const Transform& pose, Vec3 expected, double tolerance) {
  EXPECT_NEAR(pose.pos.x, expected.x, tolerance);
  EXPECT_NEAR(pose.pos.y, expected.y, tolerance);
  EXPECT_NEAR(pose.pos.z, expected.z, tolerance);
}

// Published check values carry four decimals.
constexpr double kPublished = 6e-5;
constexpr double kDegree = std::numbers::pi / 180;

TEST(KinematicTree, ForwardKinematicsOfTheArmAtZeroEqualsThePublishedValues) {
  const testing::Arm arm = MakeArm();
  const std::vector<double> q(23, 0.0);
  ExpectPosition(FramePose(arm.tree, q, {6, {{0, 0, 0.071}, {}}}), {0, 0, 1.292}, kPublished);
  ExpectPosition(FramePose(arm.tree, q, arm.palm), {-0.0082, -0.0206, 1.3729}, kPublished);
  ExpectPosition(FramePose(arm.tree, q, arm.index_tip), {0.0239, -0.0580, 1.5711}, kPublished);
  ExpectPosition(FramePose(arm.tree, q, arm.middle_tip), {-0.0170, -0.0170, 1.5740}, kPublished);
  ExpectPosition(FramePose(arm.tree, q, arm.ring_tip), {-0.0580, 0.0239, 1.5711}, kPublished);
  ExpectPosition(FramePose(arm.tree, q, arm.thumb_tip), {0.1400, -0.1342, 1.3307}, kPublished);
}

TEST(KinematicTree, ForwardKinematicsOfTheArmAtHomeEqualsThePublishedValues) {
  const testing::Arm arm = MakeArm();
  const std::vector<double> q = HomePosture();
  const Transform palm = FramePose(arm.tree, q, arm.palm);
  ExpectPosition(FramePose(arm.tree, q, {6, {{0, 0, 0.071}, {}}}), {-0.4849, -0.0737, 0.8747}, kPublished);
  ExpectPosition(palm, {-0.5443, -0.1302, 0.8572}, kPublished);
  const Quat published = EulerZyx(-134.8 * kDegree, -3.2 * kDegree, 150.7 * kDegree);
  EXPECT_LT(Norm(RotationVector(palm.quat * Inverse(published))), 0.002);
  ExpectPosition(FramePose(arm.tree, q, arm.index_tip), {-0.6573, -0.2458, 0.7752}, kPublished);
  ExpectPosition(FramePose(arm.tree, q, arm.middle_tip), {-0.6917, -0.2133, 0.8019}, kPublished);
  ExpectPosition(FramePose(arm.tree, q, arm.ring_tip), {-0.7224, -0.1770, 0.8283}, kPublished);
  ExpectPosition(FramePose(arm.tree, q, arm.thumb_tip), {-0.6249, -0.1022, 0.7757}, kPublished);
}

TEST(KinematicTree, AllLinkPosesAtOnceEqualThePoseOfEachAlone) {
  const testing::Arm arm = MakeArm();
  const std::vector<double> q = HomePosture();
  std::vector<Transform> poses(arm.tree.links.size());
  LinkPoses(arm.tree, q, poses);
  for (size_t i = 0; i < poses.size(); ++i) {
    const Transform alone = FramePose(arm.tree, q, {static_cast<int>(i), {}});
    ExpectPosition(alone, poses[i].pos, 1e-14);
    EXPECT_LT(Norm(RotationVector(alone.quat * Inverse(poses[i].quat))), 1e-14);
  }
}

// A slide, and a hinge whose axis passes beside the link's origin.
KinematicTree SlideAndOffsetHinge() {
  KinematicTree tree;
  tree.links.push_back({.name = "slide",
                        .parent_pose = {{0.1, 0.2, 0.3}, EulerZyx(0.4, 0.5, 0.6)},
                        .kind = JointKind::kSlide,
                        .joint = 0,
                        .axis = {0.6, 0.8, 0}});
  tree.links.push_back({.name = "crank",
                        .parent = 0,
                        .parent_pose = {{0.3, 0, 0}, EulerZyx(-0.2, 0.9, 0)},
                        .kind = JointKind::kHinge,
                        .joint = 1,
                        .axis = {0, 0.6, 0.8},
                        .anchor = {0.05, -0.07, 0.02}});
  tree.joint_names = {"slide", "crank"};
  tree.limits = {{-1, 1}, {-3, 3}};
  tree.Check();
  return tree;
}

TEST(KinematicTree, PointOnAnOffsetHingesAxisStaysWhenItTurns) {
  const KinematicTree tree = SlideAndOffsetHinge();
  const LinkFrame anchor{1, {tree.links[1].anchor, {}}};
  const Vec3 at_rest = FramePose(tree, std::array{0.2, 0.0}, anchor).pos;
  ExpectPosition(FramePose(tree, std::array{0.2, 1.7}, anchor), at_rest, 1e-15);
}

void ExpectJacobianMatchesDifferences(const KinematicTree& tree, std::vector<double> q, const LinkFrame& frame) {
  const size_t n = q.size();
  std::vector<double> jacobian(6 * n);
  const Transform pose = FrameJacobian(tree, q, frame, jacobian);
  ExpectPosition(pose, FramePose(tree, q, frame).pos, 1e-14);
  constexpr double kStep = 1e-6;
  for (size_t j = 0; j < n; ++j) {
    const double middle = q[j];
    q[j] = middle + kStep;
    const Transform up = FramePose(tree, q, frame);
    q[j] = middle - kStep;
    const Transform down = FramePose(tree, q, frame);
    q[j] = middle;
    const Vec3 linear = (0.5 / kStep) * (up.pos - down.pos);
    const Vec3 angular = (0.5 / kStep) * RotationVector(up.quat * Inverse(down.quat));
    const double column[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    for (size_t row = 0; row < 6; ++row) EXPECT_NEAR(jacobian[row * n + j], column[row], 1e-8) << row << " " << j;
  }
}

TEST(KinematicTree, JacobianEqualsFiniteDifferencesAtRandomPostures) {
  const testing::Arm arm = MakeArm();
  Rng rng = RandomStream(3, "postures").At(0, 0);
  for (int trial = 0; trial < 10; ++trial) {
    std::vector<double> q(23);
    for (double& value : q) value = static_cast<double>(rng.Uniform(-1.5f, 1.5f));
    ExpectJacobianMatchesDifferences(arm.tree, q, arm.palm);
    ExpectJacobianMatchesDifferences(arm.tree, q, arm.thumb_tip);
  }
}

TEST(KinematicTree, JacobianOfSlidesAndOffsetHingesEqualsFiniteDifferences) {
  ExpectJacobianMatchesDifferences(SlideAndOffsetHinge(), {0.3, -0.8}, {1, {{0.1, 0.2, -0.3}, EulerZyx(1, 0, 0)}});
}

TEST(KinematicTree, CheckRefusesALinkBeforeItsParentAndAJointThatIsNotThere) {
  KinematicTree tree = SlideAndOffsetHinge();
  tree.links[0].parent = 1;
  EXPECT_THROW(tree.Check(), InternalError);
  tree = SlideAndOffsetHinge();
  tree.links[1].joint = 2;
  EXPECT_THROW(tree.Check(), InternalError);
}

}  // namespace
}  // namespace gripstream
