#include "deploy/sim_robot/manifest_task.h"

#include "deploy/manifest_robot.h"
#include "envs/action_files.h"
#include "envs/randomise.h"

namespace gripstream {
namespace {

ManifestVector VectorOf(const std::vector<ObservationField>& fields) {
  ManifestVector parts;
  for (const ObservationField& field : fields) {
    parts.names.push_back(field.name);
    parts.sizes.push_back(field.size);
    parts.units.push_back(field.unit);
  }
  return parts;
}

}  // namespace

void DescribeTaskIn(Manifest& manifest, const TaskConfig& config, const EnvBatch& envs, double level) {
  const RobotModel& robot = envs.Robot();
  const Task& task = envs.TheTask();
  manifest.control = {.policy_hz = static_cast<double>(config.physics_hz) / config.decimation,
                      .target_hz = static_cast<double>(config.physics_hz) / config.control_decimation,
                      .episode_s = config.episode_s};
  const Vec3 goal = task.Goal();
  manifest.task = {.name = config.name,
                   .goal_m = {goal.x, goal.y, goal.z},
                   .velocity_factor = task.VelocityFactor(level),
                   .observation_clip = task.ObservationClip(),
                   .fabric_damping = RampAt(config.randomise.fabric_damping, level)};
  manifest.joints = JointsOf(robot);
  manifest.chain = ChainOf(robot);
  const ActionSetup setup = ReadActionSetup(config, robot);
  manifest.action = setup.config;
  manifest.action.synergies.clear();  // the files are in the manifest itself
  manifest.action.fabric_body.clear();
  manifest.synergies = setup.synergies;
  manifest.fabric_body = setup.body;
  manifest.proprio = VectorOf(envs.ProprioFields());
  manifest.state = VectorOf(envs.StateFields());
}

}  // namespace gripstream
