// Tests control/math3.h.
#include "control/math3.h"

#include <gtest/gtest.h>

#include <numbers>

namespace gripstream {
namespace {

constexpr double kPi = std::numbers::pi;

void ExpectNear(Vec3 a, Vec3 b, double tolerance) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

TEST(Math3, QuarterTurnsAboutTheAxesMoveThemCyclically) {
  ExpectNear(Rotate(AxisAngle({0, 0, 1}, kPi / 2), {1, 0, 0}), {0, 1, 0}, 1e-15);
  ExpectNear(Rotate(AxisAngle({1, 0, 0}, kPi / 2), {0, 1, 0}), {0, 0, 1}, 1e-15);
  ExpectNear(Rotate(AxisAngle({0, 1, 0}, kPi / 2), {0, 0, 1}), {1, 0, 0}, 1e-15);
}

TEST(Math3, EulerAnglesAreAppliedAboutXFirst) {
  // Rz(90) Ry(0) Rx(90): y goes to z under Rx and stays there under Rz.
  ExpectNear(Rotate(EulerZyx(kPi / 2, 0, kPi / 2), {0, 1, 0}), {0, 0, 1}, 1e-15);
  ExpectNear(Rotate(EulerZyx(kPi / 2, 0, kPi / 2), {1, 0, 0}), {0, 1, 0}, 1e-15);
}

TEST(Math3, RotationVectorInvertsAxisAngleAndTakesTheShortWay) {
  for (const double angle : {0.0, 1e-12, 1e-6, 0.3, 1.0, 3.0}) {
    const Vec3 axis{0.6, 0, -0.8};
    ExpectNear(RotationVector(AxisAngle(axis, angle)), angle * axis, 1e-12);
  }
  ExpectNear(RotationVector(AxisAngle({0, 0, 1}, 2 * kPi - 0.5)), {0, 0, -0.5}, 1e-12);
}

TEST(Math3, TransformsComposeLikeTheirActionsOnPoints) {
  const Transform a{{1, 2, 3}, EulerZyx(0.3, -0.7, 1.1)}, b{{-0.5, 0.1, 2}, EulerZyx(-1.3, 0.2, 0.4)};
  const Vec3 p{0.3, -0.8, 0.9};
  ExpectNear((a * b) * p, a * (b * p), 1e-14);
}

TEST(Math3, ClampNormKeepsDirectionAndShortVectors) {
  ExpectNear(ClampNorm({3, 0, 4}, 1), {0.6, 0, 0.8}, 1e-15);
  ExpectNear(ClampNorm({0.1, 0, 0}, 1), {0.1, 0, 0}, 0);
  ExpectNear(ClampNorm({0, 0, 0}, 1), {0, 0, 0}, 0);
}

}  // namespace
}  // namespace gripstream
