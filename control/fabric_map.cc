#include "control/fabric_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "control/action_parts.h"
#include "control/action_ranges.h"
#include "control/fabric.h"
#include "core/error.h"

namespace gripstream {
namespace {

constexpr size_t kPose = 6;
constexpr size_t kGoal = 7;  // position and quaternion

class FabricMap final : public ActionMap {
 public:
  FabricMap(const ActionSetup& setup, const RobotModel& robot)
      : joints_(static_cast<size_t>(robot.tree.Joints())),
        arm_(static_cast<size_t>(robot.arm_joints)),
        speed_(setup.config.fabric.speed),
        robot_(robot),
        rest_(RestPosture(setup.config, robot)),
        synergies_(setup.synergies.Rows("task.action.synergies")),
        ranges_(PalmAndSynergies(setup.config, setup.synergies, synergies_, std::span(rest_).subspan(arm_))),
        model_(MakeFabricModel(robot.tree, robot.palm, robot.arm_joints, synergies_, rest_, setup.config.fabric,
                               setup.body,
                               setup.config.fabric_body.empty() ? "task.action" : setup.config.fabric_body)) {}

  int Size() const override { return ranges_.Free(); }
  int MemorySize() const override { return static_cast<int>(3 * joints_ + kGoal + Synergies() + 1); }

  void Begin(std::span<const double> q, std::span<const double> qd, const ActionTuning& tuning,
             std::span<double> memory) const override {
    std::ranges::copy(q, memory.begin());
    std::ranges::copy(qd, memory.subspan(joints_).begin());
    std::ranges::fill(memory.subspan(2 * joints_, joints_), 0.0);
    SetGoal(FramePose(robot_.tree, q, robot_.palm), memory);
    synergies_.Project(q.subspan(arm_), SynergyGoal(memory));
    memory.back() = tuning.fabric_damping;
  }

  void Accept(std::span<const float> action, std::span<double> memory) const override {
    std::array<double, kPose + kMaxSynergies> values;
    ranges_.Expand(action, std::span(values).first(ranges_.Size()));
    SetGoal({{values[0], values[1], values[2]}, EulerZyx(values[3], values[4], values[5])}, memory);
    std::copy_n(values.begin() + kPose, Synergies(), SynergyGoal(memory).begin());
  }

  void Tick(double dt_s, std::span<double> memory, std::span<double> targets) const override {
    const ActionRow row{memory, targets};
    TickAll(dt_s, std::span(&row, 1));
  }

  void TickAll(double dt_s, std::span<const ActionRow> rows) const override {
    const int steps = std::max(1, static_cast<int>(std::lround(dt_s * speed_ / model_.dt_s)));
    std::array<FabricEnv, kMaxFabricLanes> envs;
    for (size_t begin = 0; begin < rows.size(); begin += envs.size()) {
      const std::span<const ActionRow> some = rows.subspan(begin, std::min(envs.size(), rows.size() - begin));
      for (size_t i = 0; i < some.size(); ++i) envs[i] = EnvOf(some[i].memory);
      StepFabrics(model_, std::span(envs).first(some.size()), steps);
      for (const ActionRow& row : some) std::ranges::copy(row.memory.first(joints_), row.targets.begin());
    }
  }

  Vec3 PalmTarget(std::span<const double> memory) const override { return Goal(memory).pos; }

  void Commanded(std::span<const double> memory, const CommandedMotion& out) const override {
    std::ranges::copy(memory.first(joints_), out.q.begin());
    std::ranges::copy(memory.subspan(joints_, joints_), out.qd.begin());
    std::ranges::copy(memory.subspan(2 * joints_, joints_), out.qdd.begin());
  }

 private:
  FabricEnv EnvOf(std::span<double> memory) const {
    double* q = memory.data();
    return {{Goal(memory), SynergyGoal(memory).data(), memory.back()}, q, q + joints_, q + 2 * joints_};
  }
  size_t Synergies() const { return static_cast<size_t>(synergies_.Count()); }
  std::span<double> SynergyGoal(std::span<double> memory) const {
    return memory.subspan(3 * joints_ + kGoal, Synergies());
  }
  void SetGoal(const Transform& pose, std::span<double> memory) const {
    const double goal[kGoal] = {pose.pos.x, pose.pos.y, pose.pos.z, pose.quat.w, pose.quat.x, pose.quat.y, pose.quat.z};
    std::ranges::copy(goal, memory.subspan(3 * joints_).begin());
  }
  Transform Goal(std::span<const double> memory) const {
    const std::span<const double> g = memory.subspan(3 * joints_, kGoal);
    return {{g[0], g[1], g[2]}, {g[3], g[4], g[5], g[6]}};
  }

  const size_t joints_, arm_;
  const double speed_;
  const RobotModel& robot_;
  const std::vector<double> rest_;
  const HandSynergies synergies_;
  const ActionRanges ranges_;
  const FabricModel model_;
};

}  // namespace

std::unique_ptr<ActionMap> MakeFabricMap(const ActionSetup& setup, const RobotModel& robot) {
  return std::make_unique<FabricMap>(setup, robot);
}

}  // namespace gripstream
