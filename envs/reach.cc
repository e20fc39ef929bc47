#include "envs/reach.h"

#include <algorithm>
#include <cmath>

#include "control/number_writer.h"

namespace gripstream {
namespace {

class Reach final : public Task {
 public:
  explicit Reach(const TaskConfig& config)
      : config_(config),
        held_steps_(static_cast<int>(std::lround(config.reach.wait_s * config.physics_hz / config.decimation))) {}

  std::vector<ObservationField> ProprioFields(const TaskDims& d) const override { return FieldsOf(proprio_.parts, d); }
  std::vector<ObservationField> StateFields(const TaskDims& d) const override {
    return {{"joint_position", d.joints, "rad"}, {"joint_velocity", d.joints, "rad/s"}, {"palm_position", 3, "m"},
            {"commanded_palm", 3, "m"},          {"object_position", 3, "m"},           {"object_rotation", 4, ""},
            {"palm_to_object", 3, "m"},          {"last_action", d.actions, ""},        {"time_left", 1, ""}};
  }
  const std::vector<std::string>& RewardTerms() const override {
    static const std::vector<std::string> terms = {"distance", "aim", "near", "success", "action_rate"};
    return terms;
  }
  std::vector<std::string> Metrics() const override { return {"near", "palm_distance_m"}; }
  std::vector<FailureKind> Failures() const override {
    return {{"never near", "near", true}, {"not near at the end", ""}};
  }

  int HeldSteps() const override { return held_steps_; }

  Transform Spawn(const ObjectInfo& object, double, Rng& rng) const override {
    const auto within = [&](size_t axis) {
      return config_.spawn_center[axis] + config_.spawn_size[axis] * (static_cast<double>(rng.Uniform()) - 0.5);
    };
    const double x = within(0), y = within(1);
    const double yaw = 2 * 3.14159265358979323846 * static_cast<double>(rng.Uniform());
    return {{x, y, config_.table_z_m + object.half_height_m}, AxisAngle({0, 0, 1}, yaw)};
  }

  Outcome Evaluate(const Scene& scene, std::span<const float>, bool ends, std::span<float> terms) const override {
    const ReachConfig& c = config_.reach;
    const double distance = Norm(scene.palm.pos - scene.object.pos);
    const double aim = Norm(scene.palm_target - scene.object.pos);
    const bool near = distance <= c.success_radius_m;
    NumberWriter out(terms);
    out.Put(c.weight_distance * std::exp(-c.distance_sharpness * distance));
    out.Put(c.weight_aim * std::exp(-c.distance_sharpness * aim));
    out.Put(near ? c.weight_near : 0.0);
    out.Put(near && ends ? c.weight_success : 0.0);
    out.Put(-c.weight_action_rate * MeanSquareChange(scene));
    return {.terminated = false, .success = near};
  }

  void Measure(const Scene& scene, std::span<float> metrics) const override {
    const double distance = Norm(scene.palm.pos - scene.object.pos);
    NumberWriter out(metrics);
    out.Put(distance <= config_.reach.success_radius_m ? 1.0 : 0.0);
    out.Put(distance);
  }

  void Observe(const Scene& scene, std::span<float> proprio, std::span<float> state) const override {
    WriteProprio(proprio_, SensesOf(scene), proprio);
    NumberWriter all(state);
    all.Put(scene.q);
    all.Put(scene.qd);
    all.Put(scene.palm.pos);
    all.Put(scene.palm_target);
    all.Put(scene.object.pos);
    all.Put(scene.object.quat);
    all.Put(scene.object.pos - scene.palm.pos);
    all.Put(scene.action);
    all.Put(TimeLeft(scene));
  }

 private:
  static double MeanSquareChange(const Scene& scene) {
    double sum = 0;
    for (size_t i = 0; i < scene.action.size(); ++i) {
      const double change = static_cast<double>(scene.action[i]) - static_cast<double>(scene.last_action[i]);
      sum += change * change;
    }
    return scene.action.empty() ? 0.0 : sum / static_cast<double>(scene.action.size());
  }

  const TaskConfig config_;
  const int held_steps_;
  const ProprioRule proprio_{{SensedPart::kJointPosition, SensedPart::kPalmPosition, SensedPart::kCommandedPalm,
                              SensedPart::kLastAction, SensedPart::kTimeLeft}};
};

}  // namespace

std::unique_ptr<Task> MakeReach(const TaskConfig& config, const RobotBinding&) {
  return std::make_unique<Reach>(config);
}

}  // namespace gripstream
