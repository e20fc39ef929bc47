// Tests what envs says about wrong models, names and configurations: one line with file, key, value and what is
// expected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/error.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The message with which making a batch of this task is refused.
std::string Refusal(const std::function<void(TaskConfig&)>& change, const PhysicsConfig& physics = {}) {
  TaskConfig task = testing::SmallTask();
  change(task);
  try {
    EnvBatch::Make(task, physics, 1, 0, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

std::string RefusalOfModel(const std::string& name, const std::string& text) {
  const std::string path = testing::TemporaryFile(name, text);
  return Refusal([&](TaskConfig& task) { task.model = path; });
}

TEST(BadInput, MissingModelFileIsNamed) {
  EXPECT_THAT(Refusal([](TaskConfig& task) { task.model = "/nowhere/robot.xml"; }), HasSubstr("/nowhere/robot.xml"));
}

TEST(BadInput, MalformedModelsAreRefusedInOneLineWithTheLibrarysWords) {
  const std::string broken = RefusalOfModel("broken.xml", "<mujoco><worldbody></mujoco>");
  EXPECT_THAT(broken, AllOf(HasSubstr("broken.xml"), HasSubstr("XML"), Not(HasSubstr("\n"))));
  const std::string unknown = RefusalOfModel("unknown.xml", "<mujoco><worldbody><geon size='1'/></worldbody></mujoco>");
  EXPECT_THAT(unknown, AllOf(HasSubstr("unknown.xml"), HasSubstr("geon"), Not(HasSubstr("\n"))));
  const std::string empty_geom =
      RefusalOfModel("size.xml", "<mujoco><worldbody><geom type='box'/></worldbody></mujoco>");
  EXPECT_THAT(empty_geom, AllOf(HasSubstr("size.xml"), HasSubstr("size"), Not(HasSubstr("\n"))));
  EXPECT_THAT(RefusalOfModel("text.xml", "this is no model"), AllOf(HasSubstr("text.xml"), Not(HasSubstr("\n"))));
}

TEST(BadInput, WrongNamesAreRefusedWithTheNearestAndWhatThereIs) {
  EXPECT_THAT(Refusal([](TaskConfig& task) {
                task.binding.actuators = {"iiwa7_act_1", "iiwa_act_2"};
              }),
              AllOf(HasSubstr("kuka_allegro.xml: task.binding.actuators: got 'iiwa_act_2'"),
                    HasSubstr("'iiwa7_act_2'?"), HasSubstr("thumb_act_3")));
  EXPECT_THAT(Refusal([](TaskConfig& task) { task.camera = "dept"; }),
              AllOf(HasSubstr("task.camera: got 'dept'"), HasSubstr("'depth'?"), HasSubstr("stereo_left")));
  EXPECT_THAT(Refusal([](TaskConfig& task) { task.binding.palm_site = "plam"; }),
              AllOf(HasSubstr("task.binding.palm_site"), HasSubstr("'palm'?")));
  EXPECT_THAT(Refusal([](TaskConfig& task) { task.binding.tip_sites = {"index_tipp"}; }), HasSubstr("'index_tip'?"));
  EXPECT_THAT(Refusal([](TaskConfig& task) { task.binding.object_body = "objekt"; }), HasSubstr("'object'?"));
  EXPECT_THAT(Refusal([](TaskConfig& task) { task.binding.home_key = "house"; }), HasSubstr("home"));
}

TEST(BadInput, BodyThatCannotBeTheObjectIsRefused) {
  EXPECT_THAT(Refusal([](TaskConfig& task) { task.binding.object_body = "palm_link"; }), HasSubstr("free joint"));
}

TEST(BadInput, NumbersThatDoNotFitTogetherAreRefused) {
  EXPECT_THAT(Refusal([](TaskConfig& task) { task.control_decimation = 5; }), HasSubstr("task.control_decimation"));
  EXPECT_THAT(Refusal([](TaskConfig& task) { task.episode_s = 0.01; }), HasSubstr("task.episode_s"));
  EXPECT_THAT(Refusal([](TaskConfig& task) { task.binding.arm_joints = 24; }), HasSubstr("task.binding.arm_joints"));
  EXPECT_THAT(Refusal([](TaskConfig& task) { task.action.palm_low[0] = 1; }), HasSubstr("action.palm_low"));
}

TEST(BadInput, BackendThatIsNotBuiltInIsRefusedByName) {
  EXPECT_THAT(Refusal([](TaskConfig&) {}, {.backend = "mjwarp"}),
              AllOf(HasSubstr("physics.backend"), HasSubstr("mjwarp")));
}

TEST(BadInput, HeldOutEvaluationWithoutHeldOutObjectsIsRefused) {
  TaskConfig task = testing::SmallTask();
  task.held_out_objects.clear();
  const auto envs = testing::MakeBatch(task, 1);
  EXPECT_THROW(envs->Reset({.mode = ResetRequest::Mode::kEval, .held_out = true}), InputError);
}

// Not bad at all: a user's own small robot, no hand, no catalogue.
TEST(BadInput, AnotherRobotNeedsNothingButNames) {
  const std::string text =
      "<mujoco><compiler autolimits='true'/><worldbody><geom type='plane' size='0 0 1'/>"
      "<camera name='eye' pos='0 -1 1'/>"
      "<body name='arm' pos='0 0 0.2'><joint name='turn' axis='0 0 1' range='-2 2'/><geom type='capsule' "
      "fromto='0 0 0 0.3 0 0' size='0.02'/><body name='slider' pos='0.3 0 0'><joint name='out' type='slide' "
      "axis='1 0 0' range='0 0.2'/><geom size='0.03'/><site name='hand'/></body></body>"
      "<body name='ball' pos='0.4 0.1 0.05'><freejoint/><geom size='0.05'/></body></worldbody>"
      "<actuator><position name='a' joint='turn' kp='20' ctrlrange='-2 2'/>"
      "<position name='b' joint='out' kp='20' ctrlrange='0 0.2'/></actuator>"
      "<keyframe><key name='rest' qpos='0.5 0.1 0.4 0.1 0.05 1 0 0 0'/></keyframe></mujoco>";
  TaskConfig task;
  task.model = testing::TemporaryFile("small_robot.xml", text);
  task.objects.clear();
  task.camera = "eye";
  task.table_z_m = 0;
  task.spawn_center = {0.4, 0.1};
  task.spawn_size = {0.1, 0.1};
  task.binding = {.actuators = {},
                  .arm_joints = 2,
                  .palm_site = "hand",
                  .tip_sites = {},
                  .object_body = "ball",
                  .home_key = "rest"};
  task.action.rest.clear();
  for (const std::string& map : ActionMapNames()) {
    task.action.map = map;
    const auto envs = testing::MakeBatch(task, 2);
    envs->Reset({});
    for (int step = 0; step < 20; ++step) testing::StepRandomly(*envs, 0, step);
    EXPECT_EQ(envs->Faults(), 0u);
    EXPECT_NEAR(testing::Record(*envs).Get<float>("aux.object_position", 0)[2], 0.05f, 0.01f);
  }
}

}  // namespace
}  // namespace gripstream
