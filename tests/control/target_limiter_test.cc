// Tests control/target_limiter.h.
#include "control/target_limiter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/rng.h"

namespace gripstream {
namespace {

constexpr double kDt = 1.0 / 60;

std::vector<JointLimit> Limits(size_t joints) {
  return std::vector<JointLimit>(joints, JointLimit{-1, 1});
}

TargetLimiter Make(double velocity, double acceleration, size_t joints = 1) {
  TargetLimiter limiter(Limits(joints), {{velocity}, {acceleration}}, "test");
  limiter.Start(std::vector<double>(joints), std::vector<double>(joints));
  return limiter;
}

TEST(TargetLimiter, MotionWithinTheBoundsPassesThroughBitForBit) {
  TargetLimiter limiter = Make(2, 20);
  for (int k = 1; k < 300; ++k) {
    const std::vector<double> wanted = {0.5 * (1 - std::cos(2.5 * k * kDt)) * 0.9};
    limiter.Follow(wanted, kDt);
    ASSERT_EQ(limiter.Q()[0], wanted[0]) << k;
  }
}

TEST(TargetLimiter, WhateverIsWantedPositionsSpeedsAndAccelerationsStayWithinTheirBounds) {
  constexpr double kSpeed = 2, kAcceleration = 15;
  TargetLimiter limiter = Make(kSpeed, kAcceleration, 4);
  std::vector<double> wanted(4), q(4), qd(4);
  for (uint64_t k = 0; k < 20000; ++k) {
    Rng rng = RandomStream(3, "wanted").At(0, k);
    // Jumps, slow drifts beyond the limits, and pauses.
    for (double& w : wanted) {
      const double draw = static_cast<double>(rng.Uniform());
      if (draw < 0.02) w = 4 * static_cast<double>(rng.Uniform()) - 2;
      if (draw > 0.5) w += 0.05 * (static_cast<double>(rng.Uniform()) - 0.5);
    }
    if (k % 97 < 10)
      limiter.FollowSlowly(wanted, kDt, 0.5, 5);
    else
      limiter.Follow(wanted, kDt);
    for (size_t j = 0; j < 4; ++j) {
      ASSERT_LE(std::abs(limiter.Q()[j]), 1.0);
      ASSERT_LE(std::abs(limiter.Qd()[j]), kSpeed + 1e-9);
      ASSERT_LE(std::abs(limiter.Qd()[j] - qd[j]), kAcceleration * kDt + 1e-9);
      ASSERT_NEAR(limiter.Q()[j], q[j] + kDt * limiter.Qd()[j], 1e-9);
      q[j] = limiter.Q()[j];
      qd[j] = limiter.Qd()[j];
    }
  }
}

TEST(TargetLimiter, AJumpIsReachedWithoutOvershootAndAtTheSpeedThatIsAllowed) {
  TargetLimiter limiter = Make(1, 10);
  const std::vector<double> wanted = {0.8};
  limiter.Retarget(wanted);
  double fastest = 0;
  for (int k = 0; k < 120; ++k) {
    limiter.Follow(wanted, kDt);
    ASSERT_LE(limiter.Q()[0], 0.8 + 1e-9);
    fastest = std::max(fastest, limiter.Qd()[0]);
  }
  EXPECT_NEAR(limiter.Q()[0], 0.8, 1e-3);
  EXPECT_NEAR(fastest, 1, 1e-9);
}

TEST(TargetLimiter, BrakingComesToRestAndStaysThere) {
  TargetLimiter limiter = Make(3, 300);
  for (int k = 1; k <= 10; ++k) limiter.Follow(std::vector<double>{-0.03 * k}, kDt);
  const double at = limiter.Q()[0], speed = limiter.Qd()[0];
  ASSERT_LT(speed, -1.5);
  int ticks = 1;
  while (!limiter.Brake(kDt, 10)) ++ticks;
  EXPECT_EQ(ticks, std::ceil(std::abs(speed) / 10 / kDt));
  const double rest = limiter.Q()[0];
  EXPECT_LT(rest, at);
  EXPECT_GT(rest, at - speed * speed / 10);
  EXPECT_TRUE(limiter.Brake(kDt, 10));
  EXPECT_EQ(limiter.Q()[0], rest);
}

TEST(TargetLimiter, FromOutsideTheLimitsOnlyTheWayBackIsOpen) {
  TargetLimiter limiter = Make(1, 10);
  limiter.Start(std::vector<double>{1.2}, std::vector<double>{0});
  double last = 1.2;
  for (int k = 0; k < 120; ++k) {
    limiter.FollowSlowly(std::vector<double>{1.5}, kDt, 1, 10);
    ASSERT_LE(limiter.Q()[0], last + 1e-12);
    last = limiter.Q()[0];
  }
  EXPECT_NEAR(last, 1, 1e-3);
}

TEST(TargetLimiter, BoundsThatAreNeitherOneNorOnePerJointAreRefused) {
  EXPECT_THROW(TargetLimiter(Limits(3), {{1, 1}, {1}}, "test"), InputError);
  EXPECT_THROW(TargetLimiter(Limits(3), {{1}, {}}, "test"), InputError);
}

}  // namespace
}  // namespace gripstream
