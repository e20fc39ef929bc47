// The robot's side of a trained policy, tick by tick: what has arrived from the robot goes in, joint targets come out.
//
//   joint states, frames -> watchdog -> phase (home, policy, grasped, place, done) -> wanted -> limits -> targets
//                              +------> safe stop: decelerate and hold, until the operator's run counter rises
//
// Knows no sockets and no clock: the caller says what time it is. Not thread-safe. Throws InputError at construction;
// at run time nothing but a broken policy engine throws: what is wrong with the robot's data stops the robot.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/pose_servo.h"
#include "control/target_limiter.h"
#include "deploy/camera_input.h"
#include "deploy/manifest.h"
#include "deploy/policy_driver.h"
#include "deploy/policy_engine.h"
#include "deploy/robot_messages.h"
#include "deploy/runner_config.h"
#include "deploy/stop_reason.h"
#include "deploy/tick_log.h"

namespace gripstream {

class Runner {
 public:
  // `file` is the manifest's, for messages.
  Runner(const Manifest& manifest, const std::string& file, const RunnerConfig& config, PolicyEngine& engine);

  // Data as they arrive; `now_s` on the caller's clock. What does not fit is ignored: the answer says why, empty when
  // all is well.
  std::string TakeJoints(const JointStates& states, double now_s);
  std::string TakeFrame(const CameraFrame& frame, std::span<const std::byte> pixels, double now_s);
  // Something outside is wrong: a connection was lost, deadlines were missed.
  void Stop(StopReason reason, const std::string& why);

  // One control tick.
  void Tick(double now_s);

  bool HasJoints() const { return joints_.has_value(); }
  bool Goodbye() const { return joints_ && (joints_->flags & kGoodbye) != 0; }
  RunnerPhase Phase() const { return phase_; }
  StopReason Stopped() const { return stop_; }
  const std::string& Why() const { return why_; }  // of the stop
  double TickSeconds() const { return driver_.TickSeconds(); }
  const JointTargets& Targets() const { return targets_; }
  // Of the last tick; times are the caller's to add. Refers to this object.
  const TickRecord& Record() const { return record_; }
  // Of the last decision.
  const std::vector<float>& Proprio() const { return driver_.Proprio(); }

 private:
  struct Camera {
    CameraInput input;
    size_t place;  // of its numbers among image_
    std::optional<CameraFrame> last{};
    double arrived_s = 0;
  };

  void AddCameras(const Manifest& manifest);
  std::optional<std::pair<StopReason, std::string>> Trouble(double now_s) const;
  std::optional<std::pair<StopReason, std::string>> CameraTrouble(double now_s) const;
  std::optional<std::pair<StopReason, std::string>> JointTrouble() const;
  double JointsAge(double now_s) const;
  double FrameAge(const Camera& camera, double now_s) const;

  void TakeRun();
  void Enter(RunnerPhase phase, double now_s);
  bool AtHome() const;
  void EndHome(double now_s);
  bool InMotion() const;
  void Act(double now_s);
  void ActByPolicy(double now_s);
  void CarryToPlace(double now_s);
  bool AtPlace() const;
  bool LooksGrasped(double now_s);
  void Publish(double now_s);
  std::span<const double> Q() const { return std::span(joints_->q).first(wanted_.size()); }
  std::span<const double> Qd() const { return std::span(joints_->qd).first(wanted_.size()); }

  const RunnerConfig config_;
  PolicyDriver driver_;
  const int policy_steps_;
  TargetLimiter limiter_;
  std::vector<Camera> cameras_;
  bool sees_depth_ = false;
  std::vector<float> image_;  // all cameras'

  std::optional<JointStates> joints_;
  double joints_arrived_s_ = 0;
  uint32_t run_ = 0;  // obeyed

  RunnerPhase phase_ = RunnerPhase::kWaiting;
  StopReason stop_ = StopReason::kNone;
  std::string why_;
  double since_s_ = 0;        // of the phase
  double high_since_s_ = -1;  // the object's estimate is high since then; negative: it is not
  double open_since_s_ = -1;
  double home_since_s_ = -1;    // at home since then
  std::vector<double> wanted_;  // [J] what the limiter follows
  PoseServoParams carry_;
  Transform place_;
  std::vector<double> open_hand_;
  bool started_ = false;  // the limiter
  uint32_t sequence_ = 0;
  uint64_t ticks_ = 0;
  JointTargets targets_{};
  TickRecord record_;
};

}  // namespace gripstream
