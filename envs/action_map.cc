#include "envs/action_map.h"

#include <algorithm>
#include <cmath>

#include "control/pose_servo.h"
#include "control/synergies.h"
#include "core/error.h"

namespace gripstream {
namespace {

// The ranges of an action's components; those with low equal to high are constants.
class Ranges {
 public:
  Ranges(std::vector<double> low, std::vector<double> high, const std::string& key)
      : low_(std::move(low)), high_(std::move(high)) {
    if (low_.size() != high_.size())
      throw InputError("task", key,
                       std::to_string(low_.size()) + " low and " + std::to_string(high_.size()) + " high values",
                       "as many low as high values");
    for (size_t i = 0; i < low_.size(); ++i) {
      if (!(low_[i] <= high_[i]))
        throw InputError("task", key, std::to_string(low_[i]) + " to " + std::to_string(high_[i]), "low <= high");
      if (low_[i] < high_[i]) free_.push_back(i);
    }
  }
  int Free() const { return static_cast<int>(free_.size()); }
  size_t Size() const { return low_.size(); }
  // All components from the free ones.
  void Expand(std::span<const float> action, std::span<double> out) const {
    std::copy(low_.begin(), low_.end(), out.begin());
    for (size_t k = 0; k < free_.size(); ++k) {
      const size_t i = free_[k];
      out[i] = low_[i] + 0.5 * (static_cast<double>(action[k]) + 1.0) * (high_[i] - low_[i]);
    }
  }

 private:
  std::vector<double> low_, high_;
  std::vector<size_t> free_;
};

// Absolute joint targets. Memory: targets [J].
class JointTargets final : public ActionMap {
 public:
  JointTargets(const ActionConfig& config, const RobotBinding& robot)
      : robot_(robot), ranges_(MakeRanges(config, robot.tree)) {}

  int Size() const override { return ranges_.Free(); }
  int MemorySize() const override { return robot_.tree.Joints(); }
  void Begin(std::span<const double> q, std::span<double> memory) const override {
    std::copy(q.begin(), q.end(), memory.begin());
  }
  void Accept(std::span<const float> action, std::span<double> memory) const override {
    ranges_.Expand(action, memory);
  }
  void Tick(double, std::span<double> memory, std::span<double> targets) const override {
    std::copy(memory.begin(), memory.end(), targets.begin());
  }
  Vec3 PalmTarget(std::span<const double> memory) const override {
    return FramePose(robot_.tree, memory, robot_.palm).pos;
  }

 private:
  static Ranges MakeRanges(const ActionConfig& config, const KinematicTree& tree) {
    std::vector<double> low, high;
    for (const JointLimit& limit : tree.limits) {
      low.push_back(limit.lower);
      high.push_back(limit.upper);
    }
    const auto replace = [&](std::vector<double>& range, const std::vector<double>& given, const char* key) {
      if (given.empty()) return;
      if (given.size() != range.size())
        throw InputError("task", key, std::to_string(given.size()) + " numbers",
                         std::to_string(range.size()) + ", one per joint");
      for (size_t i = 0; i < given.size(); ++i)
        range[i] = std::clamp(given[i], tree.limits[i].lower, tree.limits[i].upper);
    };
    replace(low, config.joint_low, "action.joint_low");
    replace(high, config.joint_high, "action.joint_high");
    return Ranges(low, high, "action.joint_low");
  }

  const RobotBinding& robot_;
  Ranges ranges_;
};

std::vector<std::vector<double>> ReadSynergies(const std::string& path) {
  struct File {
    std::vector<double> whole, thumb, spread, proximal, tips;
    void Fields(FieldVisitor& v) {
      v.Floats("whole", whole, 0, {.doc = "direction 1", .required = true});
      v.Floats("thumb", thumb, 0, {.doc = "direction 2", .required = true});
      v.Floats("spread", spread, 0, {.doc = "direction 3", .required = true});
      v.Floats("proximal", proximal, 0, {.doc = "direction 4", .required = true});
      v.Floats("tips", tips, 0, {.doc = "direction 5", .required = true});
    }
  } file;
  ConfigFile(path, std::vector<std::string>()).Read(file);
  return {file.whole, file.thumb, file.spread, file.proximal, file.tips};
}

// Palm pose and hand synergies, followed by the pose servo on the commanded posture.
// Memory: joint targets [J], hand goal [H], palm target x y z ez ey ex [6].
class PalmPose final : public ActionMap {
 public:
  PalmPose(const ActionConfig& config, const RobotBinding& robot)
      : robot_(robot), path_(SynergyPath(config)), synergies_(ReadSynergies(path_), path_), config_(config) {
    const size_t joints = static_cast<size_t>(Joints());
    if (config.rest.size() != joints)
      throw InputError("task", "action.rest", std::to_string(config.rest.size()) + " numbers",
                       std::to_string(joints) + ", one per joint");
    arm_ = static_cast<size_t>(robot.arm_joints);
    hand_ = joints - arm_;
    if (static_cast<size_t>(synergies_.Joints()) != hand_)
      throw InputError(path_, "synergies", std::to_string(synergies_.Joints()) + " joints",
                       std::to_string(hand_) + ", those of the hand");
    hand_rest_.assign(config.rest.begin() + robot.arm_joints, config.rest.end());
    ranges_ = std::make_unique<Ranges>(MakeRanges());
    for (int j = 0; j < robot.arm_joints; ++j) servo_.joints.push_back(j);
    servo_.rest.assign(config.rest.begin(), config.rest.begin() + robot.arm_joints);
    servo_.position_gain = config.position_gain;
    servo_.rotation_gain = config.rotation_gain;
    servo_.max_linear_speed = config.max_linear_speed;
    servo_.max_angular_speed = config.max_angular_speed;
    servo_.damping = config.damping;
    servo_.rest_gain = config.rest_gain;
    servo_.max_joint_speed = config.max_joint_speed;
    CheckPoseServo(robot.tree, servo_);
  }

  int Size() const override { return ranges_->Free(); }
  int MemorySize() const override { return Joints() + static_cast<int>(hand_) + 6; }

  void Begin(std::span<const double> q, std::span<double> memory) const override {
    std::copy(q.begin(), q.end(), memory.begin());
    std::copy(q.begin() + static_cast<ptrdiff_t>(arm_), q.end(), HandGoal(memory).begin());
    const Transform palm = FramePose(robot_.tree, q, robot_.palm);
    const std::span<double> target = PalmGoal(memory);
    target[0] = palm.pos.x;
    target[1] = palm.pos.y;
    target[2] = palm.pos.z;
    std::copy_n(config_.palm_low.begin() + 3, 3, target.begin() + 3);
  }
  void Accept(std::span<const float> action, std::span<double> memory) const override {
    constexpr size_t kMaxSynergies = 32;
    double values[6 + kMaxSynergies];
    const size_t count = static_cast<size_t>(synergies_.Count());
    GS_CHECK(count <= kMaxSynergies, "too many synergies");
    ranges_->Expand(action, std::span(values, 6 + count));
    std::copy_n(values, 6, PalmGoal(memory).begin());
    synergies_.Lift(std::span(values + 6, count), hand_rest_, HandGoal(memory));
  }
  void Tick(double dt_s, std::span<double> memory, std::span<double> targets) const override {
    const std::span<double> q = memory.first(static_cast<size_t>(Joints()));
    const std::span<double> goal = PalmGoal(memory);
    const Transform target{{goal[0], goal[1], goal[2]}, EulerZyx(goal[3], goal[4], goal[5])};
    StepPoseServo(robot_.tree, servo_, robot_.palm, target, dt_s, q);
    const std::span<double> hand = HandGoal(memory);
    const double step = config_.max_hand_speed * dt_s;
    for (size_t j = 0; j < hand_; ++j) {
      const JointLimit& limit = robot_.tree.limits[arm_ + j];
      const double wanted = std::clamp(hand[j], limit.lower, limit.upper);
      q[arm_ + j] += std::clamp(wanted - q[arm_ + j], -step, step);
    }
    std::copy(q.begin(), q.end(), targets.begin());
  }
  Vec3 PalmTarget(std::span<const double> memory) const override {
    const std::span<const double> goal = memory.subspan(static_cast<size_t>(Joints()) + hand_, 6);
    return {goal[0], goal[1], goal[2]};
  }

 private:
  static std::string SynergyPath(const ActionConfig& config) {
    return config.synergies.empty() ? std::string(GRIPSTREAM_ASSETS_DIR) + "/hand_synergies.yaml" : config.synergies;
  }
  int Joints() const { return robot_.tree.Joints(); }
  std::span<double> HandGoal(std::span<double> memory) const {
    return memory.subspan(static_cast<size_t>(Joints()), hand_);
  }
  std::span<double> PalmGoal(std::span<double> memory) const {
    return memory.subspan(static_cast<size_t>(Joints()) + hand_, 6);
  }
  Ranges MakeRanges() const {
    std::vector<double> low = config_.palm_low, high = config_.palm_high;
    const size_t count = static_cast<size_t>(synergies_.Count());
    std::vector<double> rest(count);
    synergies_.Project(hand_rest_, rest);
    const auto append = [&](std::vector<double>& to, const std::vector<double>& given, const char* key) {
      if (!given.empty() && given.size() != count)
        throw InputError("task", key, std::to_string(given.size()) + " numbers",
                         std::to_string(count) + ", one per synergy");
      const std::vector<double>& from = given.empty() ? rest : given;
      to.insert(to.end(), from.begin(), from.end());
    };
    append(low, config_.synergy_low, "action.synergy_low");
    append(high, config_.synergy_high, "action.synergy_high");
    return Ranges(low, high, "action.palm_low");
  }

  const RobotBinding& robot_;
  const std::string path_;
  const HandSynergies synergies_;
  const ActionConfig config_;
  size_t arm_ = 0, hand_ = 0;
  std::vector<double> hand_rest_;
  std::unique_ptr<Ranges> ranges_;
  PoseServoParams servo_;
};

}  // namespace

const std::vector<std::string>& ActionMapNames() {
  static const std::vector<std::string> names = {"palm_pose", "joint_targets"};
  return names;
}

std::unique_ptr<ActionMap> MakeActionMap(const ActionConfig& config, const RobotBinding& robot) {
  if (config.map == "palm_pose") return std::make_unique<PalmPose>(config, robot);
  if (config.map == "joint_targets") return std::make_unique<JointTargets>(config, robot);
  throw InputError("task", "action.map", config.map, "palm_pose or joint_targets");
}

}  // namespace gripstream
