// Makes joint position servos of a robot's motors and velocity servos, in the model itself: the joint's own controller,
// as a robot has one, stepped with the physics. What the motor could exert at most, the servo can.
//
// Not thread-safe; changes the specification. Throws InputError naming the file, the key and the actuator.
#pragma once

#include <mujoco/mujoco.h>

#include <string>

#include "envs/config.h"

namespace gripstream {

enum class ActuatorKind {
  kPosition,    // drives its joint to the control
  kMotor,       // force in proportion to the control
  kVelocity,    // drives its joint's speed to the control
  kOtherServo,  // force by control and position, which rest where the two do not agree
  kStateful,    // remembers: an activation of its own
  kNoJoint,     // of a tendon, a site, a ball joint, ...
};

ActuatorKind KindOf(const mjModel& model, int actuator);
// In words, with article.
const char* WordsFor(ActuatorKind kind);

// Whether `model`, which `spec` compiles to, has to be compiled again.
bool PrepareRobot(mjSpec* spec, const mjModel& model, const BindingConfig& binding, const std::string& path);

}  // namespace gripstream
