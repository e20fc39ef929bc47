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

std::vector<std::pair<std::string, double>> DescribeLevel(const TaskConfig& task, int level) {
  const double share = static_cast<double>(level) / task.curriculum.levels;
  std::vector<std::pair<std::string, double>> out;
  const auto ramp = [&](const char* name, const std::vector<double>& r) { out.emplace_back(name, RampAt(r, share)); };
  const auto range = [&](const std::string& name, const std::vector<double>& r) {
    out.emplace_back(name + ".low", RangeAt(r, share).low);
    out.emplace_back(name + ".high", RangeAt(r, share).high);
  };
  if (task.name == "grasp") {
    const GraspConfig& g = task.grasp;
    ramp("spawn_x", g.spawn_x), ramp("spawn_y", g.spawn_y), ramp("spawn_rotation", g.spawn_rotation);
    ramp("goal_sharpness", g.goal_sharpness), ramp("weight_lift", g.weight_lift), ramp("weight_curl", g.weight_curl);
    ramp("velocity_inputs", g.velocity_inputs);
  }
  const RandomiseConfig& r = task.randomise;
  ramp("fabric_damping", r.fabric_damping);
  if (!r.enabled) return out;
  if (r.physics) {
    range("robot_friction", r.robot_friction), range("object_friction", r.object_friction);
    range("stiffness", r.stiffness), range("damping", r.damping);
    range("joint_friction", r.joint_friction), range("object_mass", r.object_mass);
  }
  ramp("push", r.push), ramp("velocity_target", r.velocity_target);
  ramp("start_position", r.start_position), ramp("start_velocity", r.start_velocity);
  ramp("position_noise", r.position_noise), ramp("position_bias", r.position_bias);
  ramp("velocity_noise", r.velocity_noise), ramp("velocity_bias", r.velocity_bias);
  ramp("object_position_noise", r.object_position_noise), ramp("object_position_bias", r.object_position_bias);
  ramp("object_rotation_noise", r.object_rotation_noise), ramp("object_rotation_bias", r.object_rotation_bias);
  return out;
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
