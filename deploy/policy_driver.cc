#include "deploy/policy_driver.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "deploy/manifest_robot.h"

namespace gripstream {
namespace {

bool Finite(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float x) { return std::isfinite(x); });
}

}  // namespace

PolicySizes PolicyDriver::SizesOf(const Manifest& manifest) {
  PolicySizes sizes{.proprio = ProprioSize(manifest),
                    .actions = manifest.policy.actions,
                    .aux = manifest.policy.aux,
                    .memory = manifest.policy.memory};
  for (const std::string& input : manifest.policy.inputs) {
    if (input == "depth") {
      sizes.depth_height = manifest.camera.height_px;
      sizes.depth_width = manifest.camera.width_px;
    } else if (input == "rgb") {
      sizes.cameras = manifest.second_camera.name.empty() ? 1 : 2;
      sizes.rgb_height = manifest.camera.height_px;
      sizes.rgb_width = manifest.camera.width_px;
    }
  }
  return sizes;
}

PolicyDriver::PolicyDriver(const Manifest& manifest, const std::string& file, PolicyEngine& engine)
    : robot_(RobotOf(manifest)),
      map_(MakeActionMap(ActionSetupOf(manifest), robot_)),
      rule_(ProprioRuleOf(manifest, file)),
      task_(manifest.task),
      engine_(engine),
      ticks_(static_cast<int>(std::lround(manifest.control.target_hz / manifest.control.policy_hz))),
      episode_steps_(static_cast<int>(std::lround(manifest.control.episode_s * manifest.control.policy_hz))),
      tick_s_(1 / manifest.control.target_hz) {
  if (std::ranges::find(manifest.policy.inputs, "state") != manifest.policy.inputs.end())
    throw InputError(file, "policy.inputs", "state", "a policy that sees images: no robot knows the true state");
  if (map_->Size() != manifest.policy.actions)
    throw InputError(file, "policy.actions", std::to_string(manifest.policy.actions),
                     std::to_string(map_->Size()) + ", what the group action takes");
  const size_t joints = robot_.home.size();
  frames_.push_back(robot_.palm);
  frames_.insert(frames_.end(), robot_.tips.begin(), robot_.tips.end());
  hand_.resize(frames_.size());
  memory_.resize(static_cast<size_t>(map_->MemorySize()));
  command_q_.resize(joints);
  command_qd_.resize(joints);
  command_qdd_.resize(joints);
  proprio_.resize(static_cast<size_t>(ProprioSize(manifest)));
  action_.resize(static_cast<size_t>(map_->Size()));
  output_.memory.resize(static_cast<size_t>(manifest.policy.memory));
}

void PolicyDriver::Begin(std::span<const double> q, std::span<const double> qd) {
  tick_ = step_ = 0;
  std::ranges::fill(action_, 0.0f);
  std::ranges::fill(output_.memory, 0.0f);
  output_.aux.clear();
  map_->Begin(q, qd, {.fabric_damping = task_.fabric_damping}, memory_);
}

void PolicyDriver::Observe(std::span<const double> q, std::span<const double> qd) {
  FrameMotions(robot_.tree, q, qd, frames_, hand_);
  map_->Commanded(memory_, {command_q_, command_qd_, command_qdd_});
  WriteProprio(rule_,
               {.q = q,
                .qd = qd,
                .hand = hand_,
                .action = action_,
                .commanded_palm = map_->PalmTarget(memory_),
                .command_q = command_q_,
                .command_qd = command_qd_,
                .command_qdd = command_qdd_,
                .time_left = 1.0 - static_cast<double>(step_) / episode_steps_,
                .velocity_factor = task_.velocity_factor,
                .goal = {task_.goal_m[0], task_.goal_m[1], task_.goal_m[2]}},
               proprio_);
}

bool PolicyDriver::Decide(std::span<const double> q, std::span<const double> qd, std::span<const float> depth,
                          std::span<const float> rgb) {
  Observe(q, qd);
  const std::vector<float> memory = output_.memory;
  engine_.Run({.proprio = proprio_, .depth = depth, .rgb = rgb, .memory = memory}, output_);
  if (!Finite(output_.action) || !Finite(output_.aux) || !Finite(output_.memory)) return false;
  for (size_t i = 0; i < action_.size(); ++i) action_[i] = std::clamp(output_.action[i], -1.0f, 1.0f);
  map_->Accept(action_, memory_);
  ++step_;
  return true;
}

void PolicyDriver::Tick(std::span<double> wanted) {
  map_->Tick(tick_s_, memory_, wanted);
  ++tick_;
}

}  // namespace gripstream
