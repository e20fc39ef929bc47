// Tests envs/servos.h: what drives a joint is told apart, and motors and velocity servos become position servos.
#include "envs/servos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// An arm of one hinge with the given actuator, and a ball.
std::string ArmWith(const std::string& actuator) {
  return "<mujoco><compiler autolimits='true' angle='radian'/><option integrator='implicitfast'/><worldbody>"
         "<camera name='depth' pos='0 -1 1'/><geom type='plane' size='0 0 1'/>"
         "<body name='arm' pos='0 0 0.5'><joint name='turn' axis='0 1 0' range='-2 1.5' damping='0.2'/>"
         "<geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.02'/><site name='hand' pos='0.3 0 0'/></body>"
         "<body name='object' pos='1 1 0.05'><freejoint/><geom size='0.05'/></body></worldbody><actuator>" +
         actuator + "</actuator><keyframe><key name='home' qpos='0.2 1 1 0.05 1 0 0 0'/></keyframe></mujoco>";
}

TaskConfig TaskWith(const std::string& actuator) {
  static int count = 0;
  TaskConfig task;
  task.model = testing::TemporaryFile("servo_arm_" + std::to_string(++count) + ".xml", ArmWith(actuator));
  task.objects.clear();
  task.held_out_objects.clear();
  task.table_z_m = 0;
  task.spawn_center = {1, 1};
  task.spawn_size = {0, 0};
  task.episode_s = 10;
  task.start_noise_rad = 0;
  task.binding.arm_joints = 1;
  task.binding.palm_site = "hand";
  task.binding.tip_sites = {};
  task.action.map = "joint_targets";
  task.action.rest.clear();
  return task;
}

std::string Refusal(const TaskConfig& task) {
  try {
    testing::MakeBatch(task, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

// Where the joint is after it was told for three seconds to be in the middle of its range, -0.25.
double RestsAt(const TaskConfig& task, EnvBatch** keep = nullptr) {
  static std::unique_ptr<EnvBatch> envs;
  envs = testing::MakeBatch(task, 1);
  envs->Reset({});
  const std::vector<float> action(envs->ActionSpec().Elements(), 0.0f);
  for (int step = 0; step < 30; ++step) envs->Step(action.data());
  if (keep != nullptr) *keep = envs.get();
  return testing::StateOf(*envs, 0)[1];
}

TEST(Servos, WhatNeedsGainsIsRefusedByNameWithout) {
  EXPECT_THAT(Refusal(TaskWith("<motor name='m' joint='turn'/>")),
              AllOf(HasSubstr("task.binding.servo_stiffness"), HasSubstr("'m', a motor")));
  EXPECT_THAT(Refusal(TaskWith("<velocity name='v' joint='turn' kv='3'/>")), HasSubstr("'v', a velocity servo"));
  EXPECT_THAT(Refusal(TaskWith("<general name='g' joint='turn' gainprm='500' biastype='affine' biasprm='0 -200'/>")),
              HasSubstr("'g', a servo that does not rest where its control says"));
}

TEST(Servos, WhatCannotBeAServoIsRefusedByNameWithGainsToo) {
  TaskConfig stateful = TaskWith("<intvelocity name='i' joint='turn' kp='10' actrange='-1 1'/>");
  stateful.binding.servo_stiffness = {10};
  EXPECT_THAT(Refusal(stateful), AllOf(HasSubstr("task.binding.actuators"), HasSubstr("i, an actuator with a state")));
  TaskConfig of_site = TaskWith("<motor name='s' site='hand' gear='0 0 1 0 0 0'/>");
  of_site.binding.servo_stiffness = {10};
  EXPECT_THAT(Refusal(of_site), HasSubstr("s, not on a hinge or slide"));
}

TEST(Servos, GainsThatDoNotFitAreRefused) {
  TaskConfig task = TaskWith("<motor name='m' joint='turn'/>");
  task.binding.servo_stiffness = {10, 20, 30};
  EXPECT_THAT(Refusal(task), AllOf(HasSubstr("servo_stiffness"), HasSubstr("3 numbers")));
  task.binding.servo_stiffness = {10};
  task.binding.servo_damping = {1, 2};
  EXPECT_THAT(Refusal(task), AllOf(HasSubstr("servo_damping"), HasSubstr("2 numbers")));
}

TEST(Servos, MotorWithGainsMovesLikeThePositionServoOfTheSameGains) {
  TaskConfig motor = TaskWith("<motor name='m' joint='turn'/>");
  motor.binding.servo_stiffness = {40};
  motor.binding.servo_damping = {3};
  const TaskConfig servo = TaskWith("<position name='p' joint='turn' kp='40' kv='3' ctrlrange='-2 1.5'/>");
  EXPECT_EQ(RestsAt(motor), RestsAt(servo));
  TaskConfig velocity = TaskWith("<velocity name='v' joint='turn' kv='30'/>");
  velocity.binding = motor.binding;
  EXPECT_EQ(RestsAt(velocity), RestsAt(servo));
}

TEST(Servos, ServoExertsNoMoreThanTheMotorThroughItsGear) {
  TaskConfig task = TaskWith("<motor name='m' joint='turn' gear='5' ctrlrange='-0.4 0.4'/>");
  task.binding.servo_stiffness = {1000};
  EnvBatch* envs = nullptr;
  RestsAt(task, &envs);
  EXPECT_EQ(envs->Model(0)->actuator_forcelimited[0], 1);
  EXPECT_DOUBLE_EQ(envs->Model(0)->actuator_forcerange[1], 2.0);
  EXPECT_DOUBLE_EQ(envs->Model(0)->actuator_gear[0], 1.0);
  // Critical damping without a number for it: 2 sqrt(k m).
  const double mass = envs->Model(0)->dof_M0[envs->Robot().dofs[0]];
  EXPECT_NEAR(-envs->Model(0)->actuator_biasprm[2], 2 * std::sqrt(1000 * mass), 0.02 * std::sqrt(1000 * mass));
}

TEST(Servos, WithGravityCompensationTheArmRestsWhereItIsTold) {
  TaskConfig task = TaskWith("<motor name='m' joint='turn'/>");
  task.binding.servo_stiffness = {20};
  EXPECT_GT(std::abs(RestsAt(task) + 0.25), 0.01) << "it sags";
  task.binding.gravity_compensation = true;
  EnvBatch* envs = nullptr;
  EXPECT_NEAR(RestsAt(task, &envs), -0.25, 1e-4);
  EXPECT_EQ(envs->Model(0)->body_gravcomp[envs->Robot().object_body], 0) << "the object falls";
}

TEST(Servos, OneNumberLeavesPositionServosTheirOwn) {
  TaskConfig task = TaskWith("<position name='p' joint='turn' kp='40' ctrlrange='-2 1.5'/>");
  EnvBatch* envs = nullptr;
  task.binding.servo_stiffness = {70};
  RestsAt(task, &envs);
  EXPECT_EQ(envs->Model(0)->actuator_gainprm[0], 40) << "one number is for those that need it";
}

}  // namespace
}  // namespace gripstream
