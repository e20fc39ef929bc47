// Tests deploy/sim_robot/sim_world.h and manifest_task.h against the environment that a policy is trained in, and with
// it that the runner tells a policy what that environment told it.
#include "deploy/sim_robot/sim_world.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "deploy/manifest_robot.h"
#include "deploy/policy_driver.h"
#include "deploy/sim_robot/manifest_task.h"
#include "tests/deploy/small_robot.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

TaskConfig TaskOf(const std::string& name, const std::string& map) {
  TaskConfig task = testing::SmallTask();
  task.name = name;
  task.decimation = name == "grasp" ? 2 : 12;
  task.episode_s = 1.2;
  task.action.map = map;
  if (map == "fabric") {
    task.action.palm_low = {-1.2, -0.7, 0, -3.1416, -0.7854, 2.3562};
    task.action.palm_high = {0, 0.7, 1, -1.5708, 0.7854, 3.927};
  }
  return task;
}

// What the export writes, as far as the driver reads it, after a way through text.
Manifest ManifestOf(const TaskConfig& task, const EnvBatch& envs) {
  Manifest m;
  m.policy.inputs = {"proprio"};
  m.policy.actions = static_cast<int>(envs.ActionSpec().Elements());
  DescribeTaskIn(m, task, envs, 0);
  Manifest read;
  ConfigFile::FromText(ToYaml(m), "manifest.yaml").Read(read);
  CheckManifest(read, "manifest.yaml");
  return read;
}

class SameNumbers : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

// The runner is given the sensor values of the training's own environment, which it does not drive.
TEST_P(SameNumbers, TheRunnerTellsThePolicyBitForBitWhatItsEnvironmentDoes) {
  const TaskConfig task = TaskOf(GetParam().first, GetParam().second);
  const auto envs = testing::MakeBatch(task, 1);
  envs->Reset({.mode = ResetRequest::Mode::kEval, .eval_seed = 5, .total_envs = 1});
  testing::Record record(*envs);
  testing::ToldEngine engine;
  const Manifest manifest = ManifestOf(task, *envs);
  PolicyDriver driver(manifest, "manifest.yaml", engine);
  driver.Begin(envs->SensedPositions(0), envs->SensedVelocities(0));
  std::vector<float> action(envs->ActionSpec().Elements());
  engine.run = [&](const PolicyInput&, PolicyOutput& output) { output.action = action; };
  std::vector<double> wanted(envs->Robot().home.size());
  const int steps = envs->EpisodeSteps() - 1, ticks = task.decimation / task.control_decimation;
  ASSERT_GE(steps, 11);
  for (int step = 0; step < steps; ++step) {
    Rng rng = RandomStream(1, "actions").At(0, static_cast<uint64_t>(step));
    for (float& value : action) value = rng.Uniform(-1.2f, 1.2f);
    ASSERT_TRUE(driver.Decide(envs->SensedPositions(0), envs->SensedVelocities(0), {}, {}));
    ASSERT_EQ(driver.Proprio(), record.Get<float>("obs.proprio", 0)) << "step " << step;
    for (int tick = 0; tick < ticks; ++tick) driver.Tick(wanted);
    envs->Step(action.data());
    record.Read();
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, SameNumbers,
                         ::testing::Values(std::pair("reach", "palm_pose"), std::pair("reach", "joint_targets"),
                                           std::pair("grasp", "fabric"), std::pair("grasp", "palm_pose")),
                         [](const auto& task) { return std::string(task.param.first) + "_" + task.param.second; });

// Joint targets of the same actions, through the simulated robot, lead where the training's environment goes.
TEST(SimWorld, JointTargetsMoveTheRobotAsTheTrainingsEnvironmentDoes) {
  const TaskConfig task = TaskOf("reach", "palm_pose");
  const auto envs = testing::MakeBatch(task, 1);
  envs->Reset({.mode = ResetRequest::Mode::kEval, .eval_seed = 5, .total_envs = 1});
  testing::Record record(*envs);
  CamerasConfig render;
  render.width = 16;
  render.height = 12;
  SimWorld world(task, render, 5);
  world.Reset(5);
  testing::ToldEngine engine;
  PolicyDriver driver(ManifestOf(task, *envs), "manifest.yaml", engine);
  driver.Begin(world.Q(), world.Qd());
  std::vector<float> action(envs->ActionSpec().Elements());
  engine.run = [&](const PolicyInput&, PolicyOutput& output) { output.action = action; };
  std::vector<double> wanted(world.Q().size());
  bool ended = false;
  for (int step = 0; step < envs->EpisodeSteps(); ++step) {
    for (size_t j = 0; j < wanted.size(); ++j)
      ASSERT_NEAR(world.Q()[j], envs->SensedPositions(0)[j], 1e-5) << "step " << step;
    Rng rng = RandomStream(1, "actions").At(0, static_cast<uint64_t>(step));
    for (float& value : action) value = rng.Uniform(-1, 1);
    driver.Decide(world.Q(), world.Qd(), {}, {});
    for (int tick = 0; tick < task.decimation / task.control_decimation; ++tick) {
      ASSERT_FALSE(ended);
      driver.Tick(wanted);
      ended = world.Step(wanted);
    }
    envs->Step(action.data());
    record.Read();
  }
  EXPECT_TRUE(ended);
  EXPECT_EQ(world.Succeeded(), record.One<uint8_t>("success", 0) != 0);
}

TEST(SimWorld, PicturesAreThePolicysCamerasOwn) {
  CamerasConfig render;
  render.width = 16;
  render.height = 12;
  render.rgb.cameras = {"stereo_left", "stereo_right"};
  SimWorld world(TaskOf("reach", "palm_pose"), render, 1);
  world.Reset(5);
  const std::vector<SimWorld::Picture> pictures = world.TakePictures();
  ASSERT_EQ(pictures.size(), 3u);
  EXPECT_EQ(pictures[0].camera, "depth");
  EXPECT_EQ(pictures[0].pixels.size(), 16u * 12 * 2);
  EXPECT_EQ(pictures[1].camera, "stereo_left");
  EXPECT_EQ(pictures[2].camera, "stereo_right");
  EXPECT_EQ(pictures[2].pixels.size(), 16u * 12 * 3);
  EXPECT_NE(pictures[1].pixels, pictures[2].pixels);
}

}  // namespace
}  // namespace gripstream
