// Tests control/action_map.h and envs/action_files.h on the shipped robot.
#include "control/action_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "control/action_ranges.h"
#include "core/error.h"
#include "envs/action_files.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

TEST(ActionRanges, EndsAndMiddleOfTheActionAreEndsAndMiddleOfTheRange) {
  const ActionRanges ranges({-1, 5, 0}, {3, 5, 10}, "key");
  ASSERT_EQ(ranges.Free(), 2);  // the second component is a constant
  std::vector<double> out(3);
  ranges.Expand(std::vector<float>{-1, 1}, out);
  EXPECT_EQ(out, (std::vector<double>{-1, 5, 10}));
  ranges.Expand(std::vector<float>{0, -0.5f}, out);
  EXPECT_EQ(out, (std::vector<double>{1, 5, 2.5}));
}

TEST(ActionRanges, RefusesReversedUnequalAndEmptyRanges) {
  EXPECT_THROW(ActionRanges({1}, {0}, "key"), InputError);
  EXPECT_THROW(ActionRanges({1, 2}, {3}, "key"), InputError);
  EXPECT_THROW(ActionRanges({std::nan("")}, {0}, "key"), InputError);
  EXPECT_THROW(ActionRanges({1}, {1}, "key"), InputError);
}

class ActionMapTest : public ::testing::Test {
 protected:
  ActionMapTest() : models_(testing::SmallTask()), robot_(models_.Binding()) {}
  std::vector<double> Home() const {
    std::vector<double> q;
    for (const int address : robot_.qpos) q.push_back(robot_.home_qpos[static_cast<size_t>(address)]);
    return q;
  }
  // Joint targets after `ticks` control ticks of one action.
  std::vector<double> Run(const ActionMap& map, const std::vector<float>& action, int ticks) const {
    std::vector<double> memory(static_cast<size_t>(map.MemorySize())), targets(robot_.qpos.size());
    map.Begin(Home(), std::vector<double>(23), {}, memory);
    map.Accept(action, memory);
    for (int tick = 0; tick < ticks; ++tick) map.Tick(1.0 / 60, memory, targets);
    return targets;
  }
  static std::unique_ptr<ActionMap> Make(const ActionConfig& config, const RobotBinding& robot) {
    TaskConfig task = testing::SmallTask();
    task.action = config;
    return MakeActionMap(ReadActionSetup(task, robot), robot);
  }

  ModelSet models_;
  const RobotBinding& robot_;
};

TEST_F(ActionMapTest, JointTargetsSpanTheActuatorRanges) {
  ActionConfig config;
  config.map = "joint_targets";
  const auto map = Make(config, robot_);
  ASSERT_EQ(map->Size(), 23);
  const std::vector<double> low = Run(*map, std::vector<float>(23, -1), 1),
                            high = Run(*map, std::vector<float>(23, 1), 1);
  for (size_t j = 0; j < 23; ++j) {
    EXPECT_NEAR(low[j], robot_.tree.limits[j].lower, 1e-12);
    EXPECT_NEAR(high[j], robot_.tree.limits[j].upper, 1e-12);
  }
}

TEST_F(ActionMapTest, JointTargetsKeepToConfiguredRangesWithinTheLimits) {
  ActionConfig config;
  config.map = "joint_targets";
  config.joint_low.assign(23, -0.1);
  config.joint_high.assign(23, 9.0);
  config.joint_low[19] = 0.5;  // the first thumb joint does not reach -0.1
  const auto map = Make(config, robot_);
  const std::vector<double> low = Run(*map, std::vector<float>(23, -1), 1),
                            high = Run(*map, std::vector<float>(23, 1), 1);
  EXPECT_NEAR(low[0], -0.1, 1e-12);
  EXPECT_NEAR(low[19], 0.5, 1e-12);
  EXPECT_NEAR(high[0], robot_.tree.limits[0].upper, 1e-12);
}

TEST_F(ActionMapTest, QuickStartActionIsThePalmPositionAlone) {
  const auto map = Make(ActionConfig(), robot_);
  EXPECT_EQ(map->Size(), 3);
}

TEST_F(ActionMapTest, PalmPoseArrivesWhereTheActionSays) {
  const ActionConfig config;
  const auto map = Make(config, robot_);
  std::vector<double> memory(static_cast<size_t>(map->MemorySize())), targets(23);
  map->Begin(Home(), std::vector<double>(23), {}, memory);
  map->Accept(std::vector<float>{0.5f, -0.5f, 0.25f}, memory);
  const auto at = [&](size_t i, double a) {
    return config.palm_low[i] + 0.5 * (a + 1) * (config.palm_high[i] - config.palm_low[i]);
  };
  const Vec3 wanted{at(0, 0.5), at(1, -0.5), at(2, 0.25)};
  EXPECT_LT(Norm(map->PalmTarget(memory) - wanted), 1e-12);
  for (int tick = 0; tick < 240; ++tick) map->Tick(1.0 / 60, memory, targets);
  const Transform palm = FramePose(robot_.tree, targets, robot_.palm);
  EXPECT_LT(Norm(palm.pos - wanted), 2e-3);
  const Quat orientation = EulerZyx(config.palm_low[3], config.palm_low[4], config.palm_low[5]);
  EXPECT_LT(Norm(RotationVector(palm.quat * Inverse(orientation))), 0.02);
}

TEST_F(ActionMapTest, FixedSynergiesHoldTheRestPostureOfTheHand) {
  const ActionConfig config;
  const auto map = Make(config, robot_);
  const std::vector<double> targets = Run(*map, {0, 0, 0}, 120);
  for (size_t j = 7; j < 23; ++j) EXPECT_NEAR(targets[j], config.rest[j], 1e-9) << j;
}

TEST_F(ActionMapTest, AllElevenComponentsCanBeFreeAndStayWithinTheLimits) {
  ActionConfig config;
  config.palm_low = {-1.2, -0.7, 0, -3.1, -0.8, 2.3};
  config.palm_high = {0, 0.7, 1, -1.5, 0.8, 3.9};
  config.synergy_low.assign(5, -3);
  config.synergy_high.assign(5, 3);
  const auto map = Make(config, robot_);
  ASSERT_EQ(map->Size(), 11);
  Rng rng = RandomStream(1, "actions").At(0, 0);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<float> action(11);
    for (float& value : action) value = rng.Uniform(-1, 1);
    const std::vector<double> targets = Run(*map, action, 90);
    for (size_t j = 0; j < 23; ++j) {
      EXPECT_GE(targets[j], robot_.tree.limits[j].lower - 1e-12);
      EXPECT_LE(targets[j], robot_.tree.limits[j].upper + 1e-12);
    }
  }
}

TEST_F(ActionMapTest, SynergyOneClosesTheHand) {
  ActionConfig config;
  config.synergy_low.assign(5, 0);
  config.synergy_high.assign(5, 0);
  config.synergy_high[0] = 1.5;
  const auto map = Make(config, robot_);
  ASSERT_EQ(map->Size(), 4);
  const std::vector<double> open = Run(*map, {0, 0, 0, -1}, 120), closed = Run(*map, {0, 0, 0, 1}, 120);
  for (const size_t flexion : {8u, 12u, 16u}) EXPECT_GT(closed[flexion], open[flexion] + 0.3);
}

TEST_F(ActionMapTest, HandTargetsMoveNoFasterThanConfigured) {
  ActionConfig config;
  config.max_hand_speed = 0.6;
  const auto map = Make(config, robot_);
  const std::vector<double> home = Home(), targets = Run(*map, {0, 0, 0}, 1);
  for (size_t j = 7; j < 23; ++j) EXPECT_LE(std::abs(targets[j] - home[j]), 0.6 / 60 + 1e-12);
}

TEST_F(ActionMapTest, SizesThatDoNotFitTheRobotAreRefused) {
  ActionConfig config;
  config.rest.pop_back();
  EXPECT_THROW(Make(config, robot_), InputError);
  config = {};
  config.synergy_low = {0, 0};
  EXPECT_THROW(Make(config, robot_), InputError);
  config = {};
  config.map = "joint_targets";
  config.joint_low = {0};
  EXPECT_THROW(Make(config, robot_), InputError);
  config = {};
  config.synergies = testing::TemporaryFile("short_hand.yaml", "joints: 4\ndirections: [1, 0, 0, 0]\n");
  EXPECT_THROW(Make(config, robot_), InputError);
}

ActionConfig FabricConfig() {
  ActionConfig config;
  config.map = "fabric";
  config.fabric_body = testing::kAssets + "fabric_body.yaml";
  config.palm_low = {-1.2, -0.7, 0, -3.14, -0.785, 2.356};
  config.palm_high = {0, 0.7, 1, -1.571, 0.785, 3.927};
  return config;
}

TEST_F(ActionMapTest, FabricTakesElevenComponentsWithTheSynergyFilesRanges) {
  const auto map = Make(FabricConfig(), robot_);
  EXPECT_EQ(map->Size(), 11);
}

TEST_F(ActionMapTest, FabricMovesThePalmToItsTargetAndReportsItsMotion) {
  const ActionConfig config = FabricConfig();
  const auto map = Make(config, robot_);
  std::vector<double> memory(static_cast<size_t>(map->MemorySize())), targets(23), q(23), qd(23), qdd(23);
  map->Begin(Home(), std::vector<double>(23), {}, memory);
  // x -0.6, y 0.14, z 0.6, orientation in the middle of its range.
  map->Accept(std::vector<float>{0, 0.2f, 0.2f, 0, 0, 0, -0.5f, 0, 0, 0, 0}, memory);
  EXPECT_LT(Norm(map->PalmTarget(memory) - Vec3{-0.6, 0.14, 0.6}), 1e-6);
  std::vector<double> before = targets;
  for (int tick = 0; tick < 300; ++tick) {
    before = targets;
    map->Tick(1.0 / 60, memory, targets);
  }
  const Transform palm = FramePose(robot_.tree, targets, robot_.palm);
  EXPECT_LT(Norm(palm.pos - Vec3{-0.6, 0.14, 0.6}), 0.03);
  map->Commanded(memory, {q, qd, qdd});
  EXPECT_EQ(q, targets);
  // Two fabric steps per tick: the last one's mean speed is what carried q over its half.
  for (size_t j = 0; j < 23; ++j) EXPECT_NEAR(targets[j] - before[j], 2 * qd[j] / 60, 0.02);
}

TEST_F(ActionMapTest, FabricStaysWithinLimitsWhateverTheActions) {
  const auto map = Make(FabricConfig(), robot_);
  Rng rng = RandomStream(1, "actions").At(0, 0);
  std::vector<double> memory(static_cast<size_t>(map->MemorySize())), targets(23);
  map->Begin(Home(), std::vector<double>(23), {}, memory);
  for (int tick = 0; tick < 600; ++tick) {
    std::vector<float> action(11);
    for (float& value : action) value = rng.Uniform(-1, 1);
    if (tick % 20 == 0) map->Accept(action, memory);
    map->Tick(1.0 / 60, memory, targets);
    for (size_t j = 0; j < 23; ++j) {
      EXPECT_GE(targets[j], robot_.tree.limits[j].lower);
      EXPECT_LE(targets[j], robot_.tree.limits[j].upper);
    }
  }
}

TEST_F(ActionMapTest, FabricRefusesABodyFileOfAnotherRobot) {
  ActionConfig config = FabricConfig();
  config.fabric_body = testing::TemporaryFile("body.yaml", "links: [palm_lin]\noffsets: [0, 0, 0]\nradii: [0.1]\n");
  try {
    Make(config, robot_);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'palm_link'"), std::string::npos) << error.what();
  }
}

TEST_F(ActionMapTest, EmptyRestMeansTheHomePosture) {
  ActionConfig config;
  config.rest.clear();
  const std::vector<double> targets = Run(*Make(config, robot_), {0, 0, 0}, 120), home = Home();
  for (size_t j = 7; j < 23; ++j) EXPECT_NEAR(targets[j], home[j], 1e-9);
}

}  // namespace
}  // namespace gripstream
