// Proprioception: what a policy is told besides its images, put together from a robot's sensors and commands. The one
// implementation for environments and for the robot's computer, so that both give the same numbers, bit for bit, from
// the same sensor values.
//
//   parts (a task's, or by name from a manifest) + Senses of a moment -> WriteProprio -> numbers in the parts' order
//
// Pure; allocates nothing; any number of threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "control/frame_motion.h"
#include "control/math3.h"
#include "control/number_writer.h"

namespace gripstream {

// One part of an observation, in order; for descriptions and for whoever takes an observation apart.
struct ObservationField {
  std::string name;
  int size;
  std::string unit;
};

// Sizes that layouts depend on.
struct TaskDims {
  int joints, actions, hand_points, touches, objects;
};

enum class SensedPart {
  kJointPosition,
  kJointVelocity,
  kPalmPosition,
  kHandPosition,  // of each hand point
  kHandVelocity,
  kObjectPosition,  // the object's: only a simulator knows
  kObjectRotation,
  kGoal,
  kObjectIdentity,  // one-hot
  kObjectScale,
  kLastAction,
  kCommandedPalm,
  kCommandedPosition,
  kCommandedVelocity,
  kCommandedAcceleration,
  kTimeLeft,  // share of the episode
};

// A moment, in the robot's base frame and joint order.
struct Senses {
  std::span<const double> q, qd;                                     // rad, rad/s, as the robot's sensors have them
  std::span<const FrameMotion> hand;                                 // palm, then fingertips: FrameMotions of q and qd
  std::span<const float> action;                                     // the last one; zeros at the start of an episode
  Vec3 commanded_palm{};                                             // of the action map
  std::span<const double> command_q{}, command_qd{}, command_qdd{};  // of the action map
  double time_left = 0;
  double velocity_factor = 1;  // on all speeds and accelerations
  Vec3 goal{};
  // Where they are known.
  Transform object{};
  int object_index = 0, objects = 0;
};

struct ProprioRule {
  std::vector<SensedPart> parts;
  double clip = 0;  // numbers are held within +- this; 0: free
};

std::vector<ObservationField> FieldsOf(std::span<const SensedPart> parts, const TaskDims& dims);
// False where no part has the name.
bool FindPart(const std::string& name, SensedPart& part);
// Whether a robot can sense or know it by itself.
bool KnownToRobot(SensedPart part);

void WriteParts(std::span<const SensedPart> parts, const Senses& senses, NumberWriter& out);
// Fills `out`, whose size must be that of the fields (checked).
void WriteProprio(const ProprioRule& rule, const Senses& senses, std::span<float> out);

}  // namespace gripstream
