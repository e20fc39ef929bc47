// Runs an exported policy as its training environment ran it: observations at the policy's rate, its action map at the
// control rate, from joint values and images alone.
//
//   Begin(q, qd) -> tick by tick: Decide (every policy step) -> Wanted joint positions
//
// Equal sensor values give the action map and the policy the same numbers as in training, bit for bit. Not thread-safe.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "control/action_map.h"
#include "control/senses.h"
#include "deploy/manifest.h"
#include "deploy/policy_engine.h"

namespace gripstream {

class PolicyDriver {
 public:
  // Of a checked manifest; `file` is for messages. Throws InputError when the policy needs what no robot has.
  PolicyDriver(const Manifest& manifest, const std::string& file, PolicyEngine& engine);

  // An episode begins with the robot at q, qd.
  void Begin(std::span<const double> q, std::span<const double> qd);
  // Whether this tick is one at which the policy decides.
  bool Decides() const { return tick_ % ticks_ == 0; }
  // Images as in PolicyInput. Returns false when the policy's output is not finite; nothing is accepted then.
  bool Decide(std::span<const double> q, std::span<const double> qd, std::span<const float> depth,
              std::span<const float> rgb);
  // Moves on by a tick.
  void Tick(std::span<double> wanted);

  double TickSeconds() const { return tick_s_; }
  int Steps() const { return step_; }  // policy steps done
  int EpisodeSteps() const { return episode_steps_; }
  const std::vector<float>& Proprio() const { return proprio_; }  // of the last decision
  const std::vector<float>& Action() const { return action_; }
  const std::vector<float>& Aux() const { return output_.aux; }
  const RobotModel& Robot() const { return robot_; }

  static PolicySizes SizesOf(const Manifest& manifest);

 private:
  void Observe(std::span<const double> q, std::span<const double> qd);

  const RobotModel robot_;
  const std::unique_ptr<ActionMap> map_;
  const ProprioRule rule_;
  const ManifestTask task_;
  PolicyEngine& engine_;
  const int ticks_, episode_steps_;
  const double tick_s_;
  std::vector<LinkFrame> frames_;
  std::vector<FrameMotion> hand_;
  std::vector<double> memory_, command_q_, command_qd_, command_qdd_;
  std::vector<float> proprio_, action_;
  PolicyOutput output_;
  int tick_ = 0, step_ = 0;
};

}  // namespace gripstream
