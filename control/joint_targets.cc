#include "control/joint_targets.h"

#include <algorithm>

#include "control/action_ranges.h"
#include "core/error.h"

namespace gripstream {
namespace {

// The joints' limits, narrowed to what is configured.
std::vector<double> Narrowed(const std::vector<double>& given, const KinematicTree& tree, bool lower, const char* key) {
  std::vector<double> range;
  for (const JointLimit& limit : tree.limits) range.push_back(lower ? limit.lower : limit.upper);
  if (given.empty()) return range;
  if (given.size() != range.size())
    throw InputError("task", key, std::to_string(given.size()) + " numbers",
                     std::to_string(range.size()) + ", one per joint");
  for (size_t i = 0; i < given.size(); ++i) range[i] = std::clamp(given[i], tree.limits[i].lower, tree.limits[i].upper);
  return range;
}

class JointTargets final : public ActionMap {
 public:
  JointTargets(const ActionSetup& setup, const RobotModel& robot)
      : robot_(robot),
        ranges_(Narrowed(setup.config.joint_low, robot.tree, true, "action.joint_low"),
                Narrowed(setup.config.joint_high, robot.tree, false, "action.joint_high"), "action.joint_low") {}

  int Size() const override { return ranges_.Free(); }
  int MemorySize() const override { return robot_.tree.Joints(); }
  void Begin(std::span<const double> q, std::span<const double>, const ActionTuning&,
             std::span<double> memory) const override {
    std::copy(q.begin(), q.end(), memory.begin());
  }
  void Accept(std::span<const float> action, std::span<double> memory) const override {
    ranges_.Expand(action, memory);
  }
  void Tick(double, std::span<double> memory, std::span<double> targets) const override {
    std::copy(memory.begin(), memory.end(), targets.begin());
  }
  void Commanded(std::span<const double> memory, const CommandedMotion& out) const override {
    std::copy_n(memory.begin(), out.q.size(), out.q.begin());
    std::ranges::fill(out.qd, 0.0);
    std::ranges::fill(out.qdd, 0.0);
  }
  Vec3 PalmTarget(std::span<const double> memory) const override {
    return FramePose(robot_.tree, memory, robot_.palm).pos;
  }

 private:
  const RobotModel& robot_;
  const ActionRanges ranges_;
};

}  // namespace

std::unique_ptr<ActionMap> MakeJointTargets(const ActionSetup& setup, const RobotModel& robot) {
  return std::make_unique<JointTargets>(setup, robot);
}

}  // namespace gripstream
