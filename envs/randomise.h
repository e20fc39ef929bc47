// What differs between episodes of a task by chance and by the curriculum's level.
//
// Everything follows from (configuration, level, draws of the episode), so that nothing but the level of an episode
// needs to be saved. Pure; thread-safe.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "control/action_map.h"
#include "envs/config.h"
#include "envs/model.h"

namespace gripstream {

// A ramp's value, and a ramp of ranges' range, at `level` in [0, 1].
double RampAt(const std::vector<double>& ramp, double level);
struct Range {
  double low, high;
};
Range RangeAt(const std::vector<double>& ramp, double level);

// Width of an observation's noise in this episode, and its bias, the same for all components.
struct NoiseDraw {
  double width = 0, bias = 0;
};

// Of one episode.
struct EpisodeSettings {
  double level = 0;  // [0, 1]
  double start_position = 0, start_velocity = 0;
  double velocity_target = 0;
  double push = 0;
  NoiseDraw position, velocity, object_position, object_rotation;
  ActionTuning tuning;
};

// `rng` belongs to the episode.
EpisodeSettings DrawSettings(const RandomiseConfig& config, double level, Rng rng);

// Factors on the model of one episode; joint friction in Nm.
struct PhysicsDraw {
  double robot_friction = 1, object_friction = 1, object_mass = 1;
  std::array<double, kMaxRobotJoints> stiffness, damping, joint_friction;
};

PhysicsDraw DrawPhysics(const RandomiseConfig& config, const RobotBinding& robot, double level, Rng rng);

// Every ramp of a task at `level` of its curriculum by name, for logs; ranges as name.low and name.high.
std::vector<std::pair<std::string, double>> DescribeLevel(const TaskConfig& task, int level);

}  // namespace gripstream
