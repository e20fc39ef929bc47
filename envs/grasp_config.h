// What a user writes under task.grasp, task.curriculum and task.randomise. Plain values; the published numbers are the
// defaults. A ramp is two numbers, at the curriculum's first and last level; a ramp of ranges is four, the range's ends
// at the first and at the last level.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"

namespace gripstream {

struct GraspConfig {
  std::string proprio = "student", state = "privileged", success = "at_end";
  std::vector<double> goal = {-0.5, 0, 0.75};
  double goal_tolerance_m = 0.1, lift_m = 0.15, reached_m = 0.08, hold_s = 0, end_after_hold_s = 0;
  std::vector<double> reach_center = {-0.55, 0.1}, reach_size = {0.5, 0.8};
  double reach_z_m = 0.2, spawn_z_m = 0.5;
  std::vector<double> spawn_x = {0, 0.5}, spawn_y = {0, 0.8}, spawn_rotation = {0, 1};
  double weight_reach = 1, weight_goal = 5, reach_sharpness = 10, lift_sharpness = 8.5;
  double weight_grip = 0, grip_n = 0.1;
  std::vector<double> goal_sharpness = {15, 20}, weight_lift = {5, 0}, weight_curl = {0.01, 0.01};
  std::vector<double> curl = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1.5, 0.60147215, 0.33795027, 0.60845138};
  std::vector<double> velocity_inputs = {0, 0};
  double observation_clip = 5;

  void Fields(FieldVisitor& v) {
    v.Choice("proprio", proprio, {"student", "teacher"},
             {.doc = "obs.proprio: what a robot knows; teacher: the object's pose and identity as well"});
    v.Choice(
        "state", state, {"privileged", "teacher"},
        {.doc = "state, which the critic reads: true motion and forces of everything; teacher: what obs.proprio of a "
                "teacher has, free of noise"});
    v.Choice("success", success, {"at_end", "ever"},
             {.doc = "in the goal region for hold_s when the episode ends, or at any time in it"});
    v.Floats("goal", goal, 3, {.doc = "where the object is to be", .unit = "m"});
    v.Float("goal_tolerance_m", goal_tolerance_m, {.doc = "radius of the goal region", .unit = "m"}, {1e-3, 10});
    v.Float("lift_m", lift_m, {.doc = "height over the table that counts as lifted", .unit = "m"}, {0, 10});
    v.Float("reached_m", reached_m,
            {.doc = "from the palm or a fingertip to the object's middle: counts as reached", .unit = "m"}, {0, 10});
    v.Float("hold_s", hold_s, {.doc = "time in the goal region without a break that success takes", .unit = "s"},
            {0, 3600});
    v.Float("end_after_hold_s", end_after_hold_s,
            {.doc = "an episode ends after this time in the region; 0: it goes on", .unit = "s"}, {0, 3600});
    v.Floats("reach_center", reach_center, 2, {.doc = "middle of the area beyond which an episode ends", .unit = "m"});
    v.Floats("reach_size", reach_size, 2, {.doc = "extent of that area, x y", .unit = "m"}, {0, 100});
    v.Float("reach_z_m", reach_z_m, {.doc = "height below which an episode ends", .unit = "m"});
    v.Float("spawn_z_m", spawn_z_m, {.doc = "height that objects are dropped from; 0: they rest on the table"},
            {0, 10});
    v.Floats("spawn_x", spawn_x, 2, {.doc = "ramp: width of the spawn area about task.spawn_center", .unit = "m"});
    v.Floats("spawn_y", spawn_y, 2, {.doc = "ramp: its depth", .unit = "m"});
    v.Floats("spawn_rotation", spawn_rotation, 2, {.doc = "ramp: turn about x, then y, within +- pi times this"});
    v.Float("weight_reach", weight_reach, {.doc = "of exp(-k d), d from the object to the farthest hand point"});
    v.Float("reach_sharpness", reach_sharpness, {.doc = "that k", .unit = "1/m"}, {0, 1000});
    v.Float("weight_goal", weight_goal, {.doc = "of exp(-k d), d from the object to the goal"});
    v.Floats("goal_sharpness", goal_sharpness, 2, {.doc = "ramp: that k", .unit = "1/m"}, {0, 1000});
    v.Floats("weight_lift", weight_lift, 2, {.doc = "ramp: of exp(-k d), d the object's height from the goal's"});
    v.Float("lift_sharpness", lift_sharpness, {.doc = "that k", .unit = "1/m"}, {0, 1000});
    v.Float(
        "weight_grip", weight_grip,
        {.doc = "of the reach term once more, while the last touch sensor (the thumb's) and another feel something"});
    v.Float("grip_n", grip_n, {.doc = "force that counts as felt", .unit = "N"}, {0, 1000});
    v.Floats("weight_curl", weight_curl, 2, {.doc = "ramp: of -|hand - curl|^2"});
    v.Floats("curl", curl, 0, {.doc = "hand posture that fingers are drawn to; empty: home", .unit = "rad"});
    v.Floats("velocity_inputs", velocity_inputs, 2,
             {.doc = "ramp: factor of speeds and accelerations in obs.proprio; 0 as published"});
    v.Float("observation_clip", observation_clip, {.doc = "numbers in obs.proprio are held within +- this; 0: free"},
            {0, 1e6});
  }
};

struct CurriculumConfig {
  int levels = 50, start = 0, eval_level = -1;
  bool advance = false;
  double gate = 0.4;
  int min_steps = 3000;
  bool step_down = false;
  double collapse = 0.05;

  void Fields(FieldVisitor& v) {
    v.Int("levels", levels, {.doc = "increments from the first ends of all ramps to the last"}, {1, 100000});
    v.Int("start", start, {.doc = "level at the start"}, {0, 100000});
    v.Int("eval_level", eval_level, {.doc = "level of evaluations; -1: the training's"}, {-1, 100000});
    v.Bool("advance", advance, {.doc = "the learner raises the level when the gate is passed"});
    v.Float("gate", gate, {.doc = "mean of metric in_region over all environments that passes it"}, {0, 1});
    v.Int("min_steps", min_steps, {.doc = "policy steps between two changes of level"}, {0, 1 << 30});
    v.Bool("step_down", step_down, {.doc = "lower the level when the mean falls below collapse"});
    v.Float("collapse", collapse, {.doc = "mean of in_region that counts as collapsed"}, {0, 1});
  }
};

struct RandomiseConfig {
  bool enabled = false, physics = true;
  std::vector<double> robot_friction = {1, 1, 0.5, 1.2}, object_friction = {1, 1, 0.5, 1.2};
  std::vector<double> stiffness = {1, 1, 0.5, 2}, damping = {1, 1, 0.5, 2};
  std::vector<double> joint_friction = {0, 0, 0, 5}, object_mass = {1, 1, 0.5, 3};
  double arm_joint_friction = 1, hand_joint_friction = 0.01;
  std::vector<double> push = {0, 10};
  double push_period_s = 1, push_lever_m = 0.01, push_distance_m = 0.3;
  std::vector<double> start_position = {0, 0.35}, start_velocity = {0, 1};
  std::vector<double> position_noise = {0, 0.08}, position_bias = {0, 0.08};
  std::vector<double> velocity_noise = {0, 0.18}, velocity_bias = {0, 0.08};
  std::vector<double> object_position_noise = {0, 0.03}, object_position_bias = {0, 0.02};
  std::vector<double> object_rotation_noise = {0, 0.1}, object_rotation_bias = {0, 0.08};
  std::vector<double> velocity_target = {1, 0}, fabric_damping = {10, 20};

  void Fields(FieldVisitor& v) {
    v.Bool("enabled", enabled, {.doc = "all of this group"});
    v.Bool("physics", physics, {.doc = "friction, gains, joint friction and mass per environment and episode"});
    v.Floats("robot_friction", robot_friction, 4, {.doc = "ramp of ranges: factor of the robot's sliding friction"},
             {0, 100});
    v.Floats("object_friction", object_friction, 4,
             {.doc = "ramp of ranges: the same of everything else; contacts take the greater of two"}, {0, 100});
    v.Floats("stiffness", stiffness, 4, {.doc = "ramp of ranges: factor per actuator"}, {0, 100});
    v.Floats("damping", damping, 4, {.doc = "ramp of ranges: factor per actuator"}, {0, 100});
    v.Floats("joint_friction", joint_friction, 4, {.doc = "ramp of ranges: times the friction below"}, {0, 1000});
    v.Float("arm_joint_friction", arm_joint_friction, {.doc = "Coulomb friction of arm joints", .unit = "Nm"},
            {0, 1e4});
    v.Float("hand_joint_friction", hand_joint_friction, {.doc = "and of hand joints", .unit = "Nm"}, {0, 1e4});
    v.Floats("object_mass", object_mass, 4, {.doc = "ramp of ranges: factor of mass and inertia"}, {1e-3, 1000});
    v.Floats("push", push, 2, {.doc = "ramp: greatest acceleration of random pushes on the object", .unit = "m/s2"},
             {0, 1000});
    v.Float("push_period_s", push_period_s, {.doc = "time between new pushes", .unit = "s"}, {1e-3, 3600});
    v.Float("push_lever_m", push_lever_m, {.doc = "torque of a push per force", .unit = "m"}, {0, 10});
    v.Float("push_distance_m", push_distance_m, {.doc = "only while the hand is this near", .unit = "m"}, {0, 100});
    v.Floats("start_position", start_position, 2, {.doc = "ramp: joints start within +- this of home", .unit = "rad"});
    v.Floats("start_velocity", start_velocity, 2, {.doc = "ramp: and with speeds within +-", .unit = "rad/s"});
    Noise(v, "position", "rad", position_noise, position_bias);
    Noise(v, "velocity", "rad/s", velocity_noise, velocity_bias);
    Noise(v, "object_position", "m", object_position_noise, object_position_bias);
    Noise(v, "object_rotation", "", object_rotation_noise, object_rotation_bias);
    v.Floats("velocity_target", velocity_target, 2, {.doc = "ramp: share of commanded speeds fed forward"}, {0, 10});
    v.Floats("fabric_damping", fabric_damping, 2, {.doc = "ramp: damping of the fabric", .unit = "1/s"}, {0, 1000});
  }

 private:
  static void Noise(FieldVisitor& v, const std::string& of, const std::string& unit, std::vector<double>& noise,
                    std::vector<double>& bias) {
    v.Floats(of + "_noise", noise, 2, {.doc = "ramp: greatest width of the observation's noise", .unit = unit});
    v.Floats(of + "_bias", bias, 2, {.doc = "ramp: greatest width of its bias per episode", .unit = unit});
  }
};

}  // namespace gripstream
