// Tests envs/packages.h and envs/model_offer.h, and the robots of configs/robots, whose models are in Python packages:
// skips those visibly where the package is not installed.
#include "envs/packages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "envs/model_offer.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A folder of packages that GRIPSTREAM_PACKAGES names while this lives.
class PackageFolder {
 public:
  PackageFolder() : path_(fs::path(::testing::TempDir()) / "gripstream_packages") {
    fs::create_directories(path_ / "some_robot/models");
    setenv("GRIPSTREAM_PACKAGES", path_.c_str(), 1);
  }
  ~PackageFolder() {
    unsetenv("GRIPSTREAM_PACKAGES");
    fs::remove_all(path_);
  }
  const fs::path& Path() const { return path_; }

 private:
  const fs::path path_;
};

TEST(Packages, NamesBecomeFoldersAndEverythingElseStays) {
  const PackageFolder folder;
  EXPECT_EQ(ResolvePackages("a package:some_robot/models/x.xml and package:some_robot/y", "w"),
            "a " + (folder.Path() / "some_robot/models/x.xml").string() + " and " +
                (folder.Path() / "some_robot/y").string());
  for (const char* text : {"", "plain", "package: none", "package:some_robot", "package:/x"})
    EXPECT_EQ(ResolvePackages(text, "w"), text);
}

TEST(Packages, OneThatIsNotInstalledIsNamedWithTheFile) {
  try {
    ResolvePackages("package:no_such_robot/x.xml", "scene.xml");
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("scene.xml"));
    EXPECT_THAT(error.what(), HasSubstr("package:no_such_robot"));
    EXPECT_THAT(error.what(), HasSubstr("not installed"));
  }
}

TEST(Packages, ASceneIncludesAModelFromAPackageAndFilesBesideItself) {
  const PackageFolder folder;
  std::ofstream(folder.Path() / "some_robot/models/arm.xml")
      << "<mujoco><body name='arm'><joint name='turn' range='-60 60'/><geom size='0.1'/><site "
         "name='hand'/></body></mujoco>";
  testing::TemporaryFile("beside.xml",
                         "<mujoco><body name='ball' pos='1 0 1'><freejoint/><geom size='0.1'/></body></mujoco>");
  const std::string scene = testing::TemporaryFile(
      "scene_with_package.xml",
      "<mujoco><compiler autolimits='true'/><worldbody><camera name='eye'/>"
      "<include file='package:some_robot/models/arm.xml'/><include file='beside.xml'/></worldbody>"
      "<actuator><position name='servo' joint='turn' kp='3'/><motor name='motor' joint='turn'/></actuator>"
      "<sensor><touch name='skin' site='hand'/></sensor>"
      "<keyframe><key name='rest' qpos='0 1 0 1 1 0 0 0'/></keyframe></mujoco>");
  const std::string offer = DescribeOffer(scene);
  for (const char* line :
       {"servo: a position servo, turn -1.047 .. 1.047", "motor: a motor", "tip_sites): hand", "(task.camera): eye",
        "object_body): ball", "touch_sensors): skin", "home_key): rest", "task.physics_hz 500"})
    EXPECT_THAT(offer, HasSubstr(line));
}

// The robots that configs/ has beside the shipped one.
struct Robot {
  std::string name, palm;
  std::vector<std::string> tips;
  int joints, arm;
  double stiffness;
};

class PublicRobot : public ::testing::TestWithParam<Robot> {};

INSTANTIATE_TEST_SUITE_P(Packages, PublicRobot,
                         ::testing::Values(Robot{"franka", "end_effector", {}, 9, 7, 0},
                                           Robot{"adroit", "S_grasp", {"S_fftip", "S_thtip"}, 30, 6, 300}),
                         [](const auto& one) { return one.param.name; });

TEST_P(PublicRobot, MovesAsMujocoHasItAndRunsWithEveryFreeJoint) {
  const Robot& robot = GetParam();
  TaskConfig task = testing::SmallTask();
  task.model = std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/robots/" + robot.name + ".xml";
  task.camera = "front";
  task.physics_hz = 500;
  task.decimation = task.control_decimation = 10;
  task.episode_s = 2;
  task.action.map = "joint_targets";
  task.action.rest.clear();
  task.binding.arm_joints = robot.arm;
  task.binding.palm_site = robot.palm;
  task.binding.tip_sites = robot.tips;
  task.binding.servo_stiffness = {robot.stiffness};
  task.binding.gravity_compensation = true;
  std::unique_ptr<EnvBatch> envs;
  try {
    envs = testing::MakeBatch(task, 2);
  } catch (const InputError& error) {
    if (std::string(error.what()).find("not installed") == std::string::npos) throw;
    GTEST_SKIP() << error.what();
  }
  ASSERT_EQ(envs->ActionSpec().Elements(), static_cast<size_t>(robot.joints));
  envs->Reset({});
  const RobotBinding& bound = envs->Robot();
  const std::unique_ptr<mjData, void (*)(mjData*)> data(mj_makeData(envs->Model(0)), mj_deleteData);
  for (int step = 0; step < 60; ++step) {
    testing::StepRandomly(*envs, 0, step);
    const std::vector<mjtNum> state = testing::StateOf(*envs, 0);
    std::copy_n(state.begin() + 1, envs->Model(0)->nq, data->qpos);
    mj_kinematics(envs->Model(0), data.get());
    std::vector<double> q;
    for (const int address : bound.qpos) q.push_back(data->qpos[address]);
    const Vec3 palm = FramePose(bound.tree, q, bound.palm).pos;
    const mjtNum* site = data->site_xpos + 3 * bound.palm_site;
    EXPECT_NEAR(palm.x, site[0], 1e-9);
    EXPECT_NEAR(palm.y, site[1], 1e-9);
    EXPECT_NEAR(palm.z, site[2], 1e-9);
  }
  EXPECT_EQ(envs->Faults(), 0u);
}

}  // namespace
}  // namespace gripstream
