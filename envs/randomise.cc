#include "envs/randomise.h"

namespace gripstream {
namespace {

double Uniform(Rng& rng, double low, double high) {
  return low + (high - low) * static_cast<double>(rng.Uniform());
}

double In(Rng& rng, const std::vector<double>& ramp, double level) {
  const Range range = RangeAt(ramp, level);
  return Uniform(rng, range.low, range.high);
}

NoiseDraw DrawNoise(Rng& rng, const std::vector<double>& noise, const std::vector<double>& bias, double level) {
  const double width = Uniform(rng, 0, RampAt(noise, level));
  const double bias_width = Uniform(rng, 0, RampAt(bias, level));
  return {width, bias_width * Uniform(rng, -0.5, 0.5)};
}

}  // namespace

double RampAt(const std::vector<double>& ramp, double level) {
  return ramp[0] + level * (ramp[1] - ramp[0]);
}

Range RangeAt(const std::vector<double>& ramp, double level) {
  return {ramp[0] + level * (ramp[2] - ramp[0]), ramp[1] + level * (ramp[3] - ramp[1])};
}

EpisodeSettings DrawSettings(const RandomiseConfig& config, double level, Rng rng) {
  EpisodeSettings s;
  s.level = level;
  s.start_position = RampAt(config.start_position, level);
  s.start_velocity = RampAt(config.start_velocity, level);
  s.velocity_target = RampAt(config.velocity_target, level);
  s.push = RampAt(config.push, level);
  s.position = DrawNoise(rng, config.position_noise, config.position_bias, level);
  s.velocity = DrawNoise(rng, config.velocity_noise, config.velocity_bias, level);
  s.object_position = DrawNoise(rng, config.object_position_noise, config.object_position_bias, level);
  s.object_rotation = DrawNoise(rng, config.object_rotation_noise, config.object_rotation_bias, level);
  s.tuning.fabric_damping = RampAt(config.fabric_damping, level);
  return s;
}

PhysicsDraw DrawPhysics(const RandomiseConfig& config, const RobotBinding& robot, double level, Rng rng) {
  PhysicsDraw draw;
  draw.robot_friction = In(rng, config.robot_friction, level);
  draw.object_friction = In(rng, config.object_friction, level);
  draw.object_mass = In(rng, config.object_mass, level);
  for (size_t j = 0; j < robot.qpos.size(); ++j) {
    const bool arm = static_cast<int>(j) < robot.arm_joints;
    draw.stiffness[j] = In(rng, config.stiffness, level);
    draw.damping[j] = In(rng, config.damping, level);
    draw.joint_friction[j] =
        In(rng, config.joint_friction, level) * (arm ? config.arm_joint_friction : config.hand_joint_friction);
  }
  return draw;
}

}  // namespace gripstream
