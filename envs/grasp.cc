#include "envs/grasp.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "control/number_writer.h"
#include "core/error.h"
#include "envs/randomise.h"

namespace gripstream {
namespace {

constexpr double kPi = 3.14159265358979323846;

// What the task remembers of an episode.
enum Memory : size_t { kStepsInRegion = 0, kEverHeld, kMemorySize };

std::vector<double> CurlPosture(const GraspConfig& config, const RobotBinding& robot) {
  const size_t arm = static_cast<size_t>(robot.arm_joints), hand = robot.home.size() - arm;
  if (config.curl.size() == hand) return config.curl;
  if (!config.curl.empty())
    throw InputError("task", "grasp.curl", std::to_string(config.curl.size()) + " numbers",
                     std::to_string(hand) + ", one per hand joint, or none for the home posture");
  return {robot.home.begin() + robot.arm_joints, robot.home.end()};
}

class Grasp final : public Task {
 public:
  Grasp(const TaskConfig& task, const RobotBinding& robot)
      : task_(task),
        config_(task.grasp),
        teacher_{RobotParts(true)},
        proprio_{RobotParts(config_.proprio == "teacher"), config_.observation_clip},
        critic_as_teacher_(config_.state == "teacher"),
        arm_(static_cast<size_t>(robot.arm_joints)),
        curl_(CurlPosture(config_, robot)),
        goal_{config_.goal[0], config_.goal[1], config_.goal[2]},
        step_s_(static_cast<double>(task.decimation) / task.physics_hz) {}

  std::vector<ObservationField> ProprioFields(const TaskDims& d) const override { return FieldsOf(proprio_.parts, d); }
  double ObservationClip() const override { return proprio_.clip; }
  Vec3 Goal() const override { return goal_; }
  double VelocityFactor(double level) const override { return RampAt(config_.velocity_inputs, level); }

  std::vector<ObservationField> StateFields(const TaskDims& d) const override {
    if (critic_as_teacher_) return FieldsOf(teacher_.parts, d);
    std::vector<ObservationField> fields = {{"joint_position", d.joints, "rad"},
                                            {"joint_velocity", d.joints, "rad/s"},
                                            {"hand_position", 3 * d.hand_points, "m"},
                                            {"hand_twist", 6 * d.hand_points, "m/s rad/s"},
                                            {"touch", d.touches, "N"},
                                            {"actuator_torque", d.joints, "Nm"},
                                            {"object_position", 3, "m"},
                                            {"object_rotation", 4, ""},
                                            {"object_twist", 6, "m/s rad/s"},
                                            {"goal", 3, "m"}};
    const std::vector<ObservationField> rest = FieldsOf(kRest, d);
    fields.insert(fields.end(), rest.begin(), rest.end());
    return fields;
  }

  const std::vector<std::string>& RewardTerms() const override {
    static const std::vector<std::string> terms = {"reach", "goal", "curl", "lift", "grip"};
    return terms;
  }
  std::vector<std::string> Metrics() const override {
    return {"lifted", "in_region", "goal_distance_m", "hand_distance_m", "reached", "within_reach"};
  }
  std::vector<FailureKind> Failures() const override {
    return {{"out of reach", "within_reach"},
            {"never reached", "reached", true},
            {"reached, not lifted", "lifted", true},
            {"dropped", "lifted"},
            {"lifted, not at the goal", ""}};
  }
  int MemorySize() const override { return kMemorySize; }

  Transform Spawn(const ObjectInfo& object, double level, Rng& rng) const override {
    const auto centred = [&] { return static_cast<double>(rng.Uniform()) - 0.5; };
    const double x = task_.spawn_center[0] + RampAt(config_.spawn_x, level) * centred();
    const double y = task_.spawn_center[1] + RampAt(config_.spawn_y, level) * centred();
    const double turn = 2 * kPi * RampAt(config_.spawn_rotation, level);
    const double about_x = turn * centred(), about_y = turn * centred();
    const double rest = task_.table_z_m + object.half_height_m;
    if (config_.spawn_z_m <= 0) return {{x, y, rest}, AxisAngle({0, 0, 1}, about_x)};  // upright, turned on the spot
    return {{x, y, config_.spawn_z_m}, AxisAngle({1, 0, 0}, about_x) * AxisAngle({0, 1, 0}, about_y)};
  }

  void Remember(const Scene& scene, std::span<float> memory) const override {
    const bool inside = InRegion(scene);
    memory[kStepsInRegion] = inside ? memory[kStepsInRegion] + 1 : 0;
    if (inside && static_cast<double>(memory[kStepsInRegion]) * step_s_ >= config_.hold_s) memory[kEverHeld] = 1;
  }

  Outcome Evaluate(const Scene& scene, std::span<const float> memory, bool, std::span<float> terms) const override {
    NumberWriter out(terms);
    out.Put(ReachReward(scene));
    out.Put(GoalReward(scene));
    out.Put(CurlReward(scene));
    out.Put(LiftReward(scene));
    out.Put(GripReward(scene));
    const double held_s = static_cast<double>(memory[kStepsInRegion]) * step_s_;
    const bool held = InRegion(scene) && held_s >= config_.hold_s;
    const bool enough = config_.end_after_hold_s > 0 && held_s >= config_.end_after_hold_s;
    return {.terminated = OutOfReach(scene) || enough,
            .success = config_.success == "ever" ? memory[kEverHeld] > 0 : held};
  }

  void Measure(const Scene& scene, std::span<float> metrics) const override {
    NumberWriter out(metrics);
    out.Put(scene.object.pos.z > task_.table_z_m + config_.lift_m ? 1.0 : 0.0);
    out.Put(InRegion(scene) ? 1.0 : 0.0);
    out.Put(Norm(scene.object.pos - goal_));
    out.Put(HandDistance(scene));
    out.Put(Reached(scene) ? 1.0 : 0.0);
    out.Put(OutOfReach(scene) ? 0.0 : 1.0);
  }

  void Observe(const Scene& scene, std::span<float> proprio, std::span<float> state) const override {
    Senses seen = SensesOf(scene);
    seen.goal = goal_;
    seen.velocity_factor = VelocityFactor(scene.level);
    WriteProprio(proprio_, seen, proprio);
    const Senses truth = Truth(scene);
    if (critic_as_teacher_)
      WriteProprio(teacher_, truth, state);
    else
      ObserveState(scene, truth, state);
  }

 private:
  // What a robot knows of itself, and with `teacher` of the object as well.
  static std::vector<SensedPart> RobotParts(bool teacher) {
    using enum SensedPart;
    std::vector<SensedPart> parts = {kJointPosition, kJointVelocity, kHandPosition, kHandVelocity};
    if (teacher) parts.insert(parts.end(), {kObjectPosition, kObjectRotation});
    parts.push_back(kGoal);
    if (teacher) parts.insert(parts.end(), {kObjectIdentity, kObjectScale});
    parts.insert(parts.end(), {kLastAction, kCommandedPosition, kCommandedVelocity, kCommandedAcceleration});
    return parts;
  }
  // The end of the full state.
  static constexpr SensedPart kRest[] = {SensedPart::kObjectIdentity,    SensedPart::kObjectScale,
                                         SensedPart::kLastAction,        SensedPart::kCommandedPosition,
                                         SensedPart::kCommandedVelocity, SensedPart::kCommandedAcceleration};

  Senses Truth(const Scene& scene) const {
    Senses truth = SensesOf(scene);
    truth.q = scene.q;
    truth.qd = scene.qd;
    truth.hand = scene.hand;
    truth.object = scene.object;
    truth.goal = goal_;
    return truth;
  }

  // 1. The hand's points come near the object, the farthest counts.
  double ReachReward(const Scene& scene) const {
    return config_.weight_reach * std::exp(-config_.reach_sharpness * HandDistance(scene));
  }
  // 2. The object comes near the goal.
  double GoalReward(const Scene& scene) const {
    const double sharpness = RampAt(config_.goal_sharpness, scene.level);
    return config_.weight_goal * std::exp(-sharpness * Norm(scene.object.pos - goal_));
  }
  // 3. Fingers stay near a posture that is ready to grasp.
  double CurlReward(const Scene& scene) const {
    double square = 0;
    for (size_t j = 0; j < curl_.size(); ++j) {
      const double off = scene.q[arm_ + j] - curl_[j];
      square += off * off;
    }
    return -RampAt(config_.weight_curl, scene.level) * square;
  }
  // 4. The object leaves the table.
  double LiftReward(const Scene& scene) const {
    const double below = std::abs(goal_.z - scene.object.pos.z);
    return RampAt(config_.weight_lift, scene.level) * std::exp(-config_.lift_sharpness * below);
  }

  // 5. Thumb and a finger press on something near the object, which is on the way to a grasp.
  double GripReward(const Scene& scene) const {
    if (config_.weight_grip == 0 || scene.touch.empty()) return 0;
    const std::span<const double> fingers = scene.touch.first(scene.touch.size() - 1);
    const auto felt = [this](double force) { return force >= config_.grip_n; };
    if (!felt(scene.touch.back()) || std::ranges::none_of(fingers, felt)) return 0;
    return config_.weight_grip * std::exp(-config_.reach_sharpness * HandDistance(scene));
  }

  static double HandDistance(const Scene& scene) {
    double farthest = 0;
    for (const FrameMotion& point : scene.hand) farthest = std::max(farthest, Norm(point.pos - scene.object.pos));
    return farthest;
  }
  bool Reached(const Scene& scene) const {
    return std::ranges::any_of(
        scene.hand, [&](const FrameMotion& point) { return Norm(point.pos - scene.object.pos) <= config_.reached_m; });
  }
  bool InRegion(const Scene& scene) const { return Norm(scene.object.pos - goal_) <= config_.goal_tolerance_m; }
  bool OutOfReach(const Scene& scene) const {
    const Vec3& p = scene.object.pos;
    return std::abs(p.x - config_.reach_center[0]) > 0.5 * config_.reach_size[0] ||
           std::abs(p.y - config_.reach_center[1]) > 0.5 * config_.reach_size[1] || p.z < config_.reach_z_m;
  }

  void ObserveState(const Scene& scene, const Senses& truth, std::span<float> state) const {
    NumberWriter out(state);
    out.Put(scene.q);
    out.Put(scene.qd);
    for (const FrameMotion& point : scene.hand) out.Put(point.pos);
    for (const FrameMotion& point : scene.hand) {
      out.Put(point.linear);
      out.Put(point.angular);
    }
    out.Put(scene.touch);
    out.Put(scene.torque);
    out.Put(scene.object.pos);
    out.Put(scene.object.quat);
    out.Put(scene.object_linear);
    out.Put(scene.object_angular);
    out.Put(goal_);
    WriteParts(kRest, truth, out);
    GS_CHECK(out.Written() == state.size(), "state is not filled as declared");
  }

  const TaskConfig task_;
  const GraspConfig config_;
  const ProprioRule teacher_, proprio_;
  const bool critic_as_teacher_;
  const size_t arm_;
  const std::vector<double> curl_;
  const Vec3 goal_;
  const double step_s_;
};

}  // namespace

std::unique_ptr<Task> MakeGrasp(const TaskConfig& config, const RobotBinding& robot) {
  return std::make_unique<Grasp>(config, robot);
}

}  // namespace gripstream
