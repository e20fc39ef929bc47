// Tests deploy/manifest.h and deploy/manifest_robot.h.
#include "deploy/manifest_robot.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "tests/deploy/small_robot.h"

namespace gripstream {
namespace {

using ::testing::HasSubstr;
using testing::SmallManifest;
using testing::SmallRobot;

TEST(ManifestRobot, TheRobotReadFromAManifestIsTheOneThatWasWrittenBitForBit) {
  Manifest written = SmallManifest();
  written.chain = ChainOf(SmallRobot());
  Manifest read;
  ConfigFile::FromText(ToYaml(written), "manifest.yaml").Read(read);
  CheckManifest(read, "manifest.yaml");
  const RobotModel there = SmallRobot(), here = RobotOf(read);
  EXPECT_EQ(ToYaml(read), ToYaml(written));
  ASSERT_EQ(here.tree.links.size(), there.tree.links.size());
  EXPECT_EQ(here.home, there.home);
  EXPECT_EQ(here.arm_joints, there.arm_joints);
  const std::vector<double> q = {0.37, -0.81, 0.29}, qd = {1.1, -0.3, 0.7};
  const auto motions = [&](const RobotModel& robot) {
    std::vector<LinkFrame> frames = {robot.palm};
    frames.insert(frames.end(), robot.tips.begin(), robot.tips.end());
    std::vector<FrameMotion> out(frames.size());
    FrameMotions(robot.tree, q, qd, frames, out);
    std::vector<double> numbers;
    for (const FrameMotion& m : out)
      for (const Vec3& v : {m.pos, m.linear, m.angular}) numbers.insert(numbers.end(), {v.x, v.y, v.z});
    return numbers;
  };
  EXPECT_EQ(motions(here), motions(there));
}

TEST(ManifestRobot, WhatDoesNotFitTogetherIsNamed) {
  const std::pair<std::function<void(Manifest&)>, const char*> wrong[] = {
      {[](Manifest& m) { m.joints.names.clear(); }, "joints.names"},
      {[](Manifest& m) { m.joints.home.pop_back(); }, "joints.home"},
      {[](Manifest& m) { m.joints.lower[1] = 5; }, "joints.lower"},
      {[](Manifest& m) { m.joints.arm = 4; }, "joints.arm"},
      {[](Manifest& m) { m.chain = {}; }, "chain.links"},
      {[](Manifest& m) { m.chain.parents[1] = 2; }, "chain.parents"},
      {[](Manifest& m) { m.chain.kinds[1] = "ball"; }, "chain.kinds"},
      {[](Manifest& m) { m.chain.joints[1] = 3; }, "chain.joints"},
      {[](Manifest& m) { m.chain.frame_links[0] = 9; }, "chain.frame_links"},
      {[](Manifest& m) { m.control.target_hz = 25; }, "control.target_hz"},
      {[](Manifest& m) { m.proprio.sizes.pop_back(); }, "proprio.sizes"},
      {[](Manifest& m) { m.camera.fx_px = 0; }, "camera.fx_px"},
      {[](Manifest& m) { m.action.map = "fabric"; }, "synergies"},
  };
  for (const auto& [spoil, key] : wrong) {
    Manifest manifest = SmallManifest();
    spoil(manifest);
    try {
      CheckManifest(manifest, "manifest.yaml");
      ADD_FAILURE() << key;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(key));
      EXPECT_THAT(error.what(), HasSubstr("manifest.yaml"));
    }
  }
}

TEST(ManifestRobot, OldAndIncompleteFilesAreRefused) {
  Manifest manifest;
  EXPECT_THROW(ConfigFile::FromText("version: 1\n", "manifest.yaml").Read(manifest), InputError);
  EXPECT_THROW(ConfigFile::FromText("policy: {name: x}\n", "manifest.yaml").Read(manifest), InputError);
  EXPECT_THROW(ReadManifest("/nowhere"), InputError);
}

TEST(ManifestRobot, APolicyThatIsToldWhatOnlyASimulatorKnowsIsRefused) {
  Manifest manifest = SmallManifest();
  manifest.proprio.names[1] = "object_position";
  EXPECT_THROW(ProprioRuleOf(manifest, "manifest.yaml"), InputError);
  manifest.proprio.names[1] = "palm_speed";
  EXPECT_THROW(ProprioRuleOf(manifest, "manifest.yaml"), InputError);
  manifest.proprio.names[1] = "goal";
  EXPECT_EQ(ProprioRuleOf(manifest, "manifest.yaml").parts[1], SensedPart::kGoal);
}

}  // namespace
}  // namespace gripstream
