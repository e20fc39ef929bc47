#include "control/palm_pose.h"

#include <algorithm>
#include <array>

#include "control/action_parts.h"
#include "control/action_ranges.h"
#include "control/pose_servo.h"
#include "control/synergies.h"
#include "core/error.h"

namespace gripstream {
namespace {

constexpr size_t kPose = 6;

PoseServoParams ServoParams(const ActionConfig& config, const RobotModel& robot, const std::vector<double>& rest) {
  PoseServoParams params;
  params.position_gain = config.position_gain;
  params.rotation_gain = config.rotation_gain;
  params.max_linear_speed = config.max_linear_speed;
  params.max_angular_speed = config.max_angular_speed;
  params.damping = config.damping;
  params.rest_gain = config.rest_gain;
  params.max_joint_speed = config.max_joint_speed;
  for (int joint = 0; joint < robot.arm_joints; ++joint) params.joints.push_back(joint);
  params.rest.assign(rest.begin(), rest.begin() + robot.arm_joints);
  CheckPoseServo(robot.tree, params);
  return params;
}

class PalmPose final : public ActionMap {
 public:
  PalmPose(const ActionSetup& setup, const RobotModel& robot)
      : robot_(robot),
        joints_(static_cast<size_t>(robot.tree.Joints())),
        arm_(static_cast<size_t>(robot.arm_joints)),
        hand_(joints_ - arm_),
        hand_speed_(setup.config.max_hand_speed),
        rest_(RestPosture(setup.config, robot)),
        synergies_(setup.synergies.Rows("task.action.synergies")),
        ranges_(PalmAndSynergies(setup.config, {}, synergies_, HandRest())),
        servo_(ServoParams(setup.config, robot, rest_)) {}

  int Size() const override { return ranges_.Free(); }
  int MemorySize() const override { return static_cast<int>(joints_ + hand_ + kPose); }

  void Begin(std::span<const double> q, std::span<const double>, const ActionTuning&,
             std::span<double> memory) const override {
    std::ranges::copy(q, memory.begin());
    std::ranges::copy(q.subspan(arm_), HandGoal(memory).begin());
    const Vec3 palm = FramePose(robot_.tree, q, robot_.palm).pos;
    const double goal[kPose] = {palm.x, palm.y, palm.z, 0, 0, 0};  // angles come with the first action
    std::ranges::copy(goal, PalmGoal(memory).begin());
  }

  void Accept(std::span<const float> action, std::span<double> memory) const override {
    std::array<double, kPose + kMaxSynergies> values;
    ranges_.Expand(action, std::span(values).first(ranges_.Size()));
    std::copy_n(values.begin(), kPose, PalmGoal(memory).begin());
    synergies_.Lift(std::span(values).subspan(kPose, ranges_.Size() - kPose), HandRest(), HandGoal(memory));
  }

  void Tick(double dt_s, std::span<double> memory, std::span<double> targets) const override {
    const std::span<double> q = memory.first(joints_);
    const std::span<const double> goal = PalmGoal(memory);
    const Transform pose{{goal[0], goal[1], goal[2]}, EulerZyx(goal[3], goal[4], goal[5])};
    StepPoseServo(robot_.tree, servo_, robot_.palm, pose, dt_s, q);
    const std::span<const double> hand = HandGoal(memory);
    const double step = hand_speed_ * dt_s;
    for (size_t j = 0; j < hand_; ++j) {
      const JointLimit& limit = robot_.tree.limits[arm_ + j];
      const double wanted = std::clamp(hand[j], limit.lower, limit.upper);
      q[arm_ + j] += std::clamp(wanted - q[arm_ + j], -step, step);
    }
    std::ranges::copy(q, targets.begin());
  }

  void Commanded(std::span<const double> memory, const CommandedMotion& out) const override {
    std::copy_n(memory.begin(), out.q.size(), out.q.begin());
    std::ranges::fill(out.qd, 0.0);
    std::ranges::fill(out.qdd, 0.0);
  }
  Vec3 PalmTarget(std::span<const double> memory) const override {
    const std::span<const double> goal = memory.subspan(joints_ + hand_, kPose);
    return {goal[0], goal[1], goal[2]};
  }

 private:
  std::span<const double> HandRest() const { return std::span(rest_).subspan(arm_); }
  std::span<double> HandGoal(std::span<double> memory) const { return memory.subspan(joints_, hand_); }
  std::span<double> PalmGoal(std::span<double> memory) const { return memory.subspan(joints_ + hand_, kPose); }

  const RobotModel& robot_;
  const size_t joints_, arm_, hand_;
  const double hand_speed_;  // rad/s
  const std::vector<double> rest_;
  const HandSynergies synergies_;
  const ActionRanges ranges_;
  const PoseServoParams servo_;
};

}  // namespace

std::unique_ptr<ActionMap> MakePalmPose(const ActionSetup& setup, const RobotModel& robot) {
  return std::make_unique<PalmPose>(setup, robot);
}

}  // namespace gripstream
