// What a user may set of the map from a policy's action to joint targets. Plain values with the defaults of the shipped
// robot.
#pragma once

#include <string>
#include <vector>

#include "control/fabric_params.h"
#include "core/config.h"

namespace gripstream {

// From the policy's numbers in [-1, 1] to joint targets. A component whose low equals its high is a constant of the
// task and no part of the action.
struct ActionConfig {
  std::string map = "palm_pose";
  std::vector<double> palm_low = {-0.76, -0.16, 0.26, -1.8, 0.3, 3.34};
  std::vector<double> palm_high = {-0.34, 0.36, 0.32, -1.8, 0.3, 3.34};
  std::vector<double> synergy_low, synergy_high;
  std::vector<double> joint_low, joint_high;
  std::vector<double> rest = {-0.85, -0.5, 0.76, 1.25, -1.76, 0.9,  0.64, 0,    -0.15, -0.1,  -0.1, 0,
                              -0.15, -0.1, -0.1, 0,    -0.15, -0.1, -0.1, 0.28, 1.1,   -0.25, -0.25};
  std::string synergies, fabric_body;
  FabricGains fabric;
  double position_gain = 8.0, rotation_gain = 6.0, damping = 0.05, rest_gain = 1.0;
  double max_linear_speed = 1.5, max_angular_speed = 4.0, max_joint_speed = 2.5, max_hand_speed = 6.0;

  void Fields(FieldVisitor& v) {
    v.Choice("map", map, {"palm_pose", "joint_targets", "fabric"}, {.doc = "what an action commands"});
    v.Floats("palm_low", palm_low, 6, {.doc = "least palm x, y, z (m) and ZYX Euler angles ez, ey, ex (rad)"});
    v.Floats("palm_high", palm_high, 6, {.doc = "greatest palm x, y, z (m) and ez, ey, ex (rad)"});
    v.Floats("synergy_low", synergy_low, 0,
             {.doc = "least hand synergy coordinates; empty: those of `rest`, fixed, or for `fabric` the file's"});
    v.Floats("synergy_high", synergy_high, 0, {.doc = "greatest hand synergy coordinates; empty: as for the least"});
    v.Floats("joint_low", joint_low, 0,
             {.doc = "joint_targets: least target per joint; empty: the model's limits", .unit = "rad"});
    v.Floats("joint_high", joint_high, 0,
             {.doc = "joint_targets: greatest target per joint; empty: the model's limits", .unit = "rad"});
    v.Floats("rest", rest, 0,
             {.doc = "posture that free motion is drawn to, in joint order; empty: home", .unit = "rad"});
    v.String("synergies", synergies, {.doc = "file with the hand's synergy directions; empty: the shipped one"});
    v.String("fabric_body", fabric_body,
             {.doc = "file with the robot's limits, body spheres and boxes; empty: the shipped robot's, else none"});
    v.Group("fabric", fabric, "the geometric fabric");
    v.Float("position_gain", position_gain, {.doc = "palm servo, position", .unit = "1/s"}, {0, 100});
    v.Float("rotation_gain", rotation_gain, {.doc = "palm servo, orientation", .unit = "1/s"}, {0, 100});
    v.Float("damping", damping, {.doc = "palm servo, damping of the least squares"}, {1e-4, 10});
    v.Float("rest_gain", rest_gain, {.doc = "palm servo, pull of the free motion to `rest`", .unit = "1/s"}, {0, 100});
    v.Float("max_linear_speed", max_linear_speed, {.doc = "of the palm target", .unit = "m/s"}, {1e-3, 100});
    v.Float("max_angular_speed", max_angular_speed, {.doc = "of the palm target", .unit = "rad/s"}, {1e-3, 100});
    v.Float("max_joint_speed", max_joint_speed, {.doc = "of an arm joint's target", .unit = "rad/s"}, {1e-3, 100});
    v.Float("max_hand_speed", max_hand_speed, {.doc = "of a hand joint's target", .unit = "rad/s"}, {1e-3, 100});
  }
};

}  // namespace gripstream
