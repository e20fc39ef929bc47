// Tests control/fabric_guard.h: from collision-free rest no joint limit and no box of the world is ever violated.
#include "control/fabric_guard.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/control/fabric_trials.h"

namespace gripstream {
namespace {

using testing::Clearance;

TEST(FabricGuard, NeitherLimitNorBoxIsViolatedFromThreeHundredRandomStarts) {
  testing::ExpectSafe(testing::RunTrials(0, 300, 120));
}

// What a sphere that starts inside a box needs: the guard must not hold it there.
TEST(FabricGuard, ARobotThatStartsInABoxComesOut) {
  const FabricModel model = testing::ArmFabric();
  const testing::Arm arm = testing::MakeArm();
  std::vector<double> q = testing::HomePosture();
  ASSERT_GT(Clearance(model, q.data()), 0) << "home is clear";
  while (Clearance(model, q.data()) > -0.005) q[1] += 0.002;  // until a fingertip is in the table
  std::vector<double> qd(23), qdd(23);
  const double synergies[5] = {};
  const FabricTarget target{.palm = FramePose(arm.tree, testing::HomePosture(), arm.palm), .synergies = synergies};
  const FabricEnv env{target, q.data(), qd.data(), qdd.data()};
  StepFabrics(model, std::span(&env, 1), 300);
  EXPECT_GT(Clearance(model, q.data()), 0);
}

TEST(FabricGuard, BrakingNeverTurnsAJointRound) {
  for (const double speed : {-3.0, -0.01, 0.0, 0.02, 1.7}) {
    const double a = Braking(speed, 7.5, 1.0 / 60);
    EXPECT_LE(std::abs(a), 7.5);
    const double after = speed + a / 60;
    EXPECT_LE(std::abs(after), std::abs(speed));
    EXPECT_GE(after * speed, -1e-15);
  }
}

TEST(FabricGuard, StopTravelIsWhatBrakingStepByStepTravels) {
  for (const double v : {0.0, 0.05, 0.125, 0.7, 2.93, 11.0}) {
    const double limit = 7.5, dt = 1.0 / 60;
    double q = 0, qd = v;
    for (int step = 0; step < 200; ++step) {
      const double a = Braking(qd, limit, dt);
      q += dt * qd + 0.5 * dt * dt * a;
      qd += dt * a;
    }
    EXPECT_NEAR(StopTravel(v, limit, dt), q, 1e-12) << v;
    EXPECT_NEAR(StopTravel(-v, limit, dt), q, 1e-12) << v;
  }
}

}  // namespace
}  // namespace gripstream
