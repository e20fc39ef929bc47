// From a policy's action to joint targets.
//
//   Begin(q, qd)  at the start of an episode -> memory
//   Accept(action)  once per policy step -> memory
//   Tick(dt)  every control tick         -> joint targets; depends on nothing but the memory
//
// An object is immutable; all that changes is in the caller's memory block of MemorySize() numbers per environment, so
// that environments can be stepped on any thread and saved. No call allocates.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "control/action_config.h"
#include "control/robot_model.h"
#include "control/synergy_table.h"

namespace gripstream {

// What a curriculum changes from episode to episode; holds for the whole of one.
struct ActionTuning {
  double fabric_damping = 10;  // 1/s
};

// The motion that is commanded, [J] each.
struct CommandedMotion {
  std::span<double> q, qd, qdd;  // rad, rad/s, rad/s2
};

// One environment's memory and the joint targets that a tick writes.
struct ActionRow {
  std::span<double> memory, targets;
};

class ActionMap {
 public:
  virtual ~ActionMap() = default;

  virtual int Size() const = 0;  // components of an action, each in [-1, 1]
  virtual int MemorySize() const = 0;
  // q, qd: joint positions and speeds the episode starts from.
  virtual void Begin(std::span<const double> q, std::span<const double> qd, const ActionTuning& tuning,
                     std::span<double> memory) const = 0;
  virtual void Accept(std::span<const float> action, std::span<double> memory) const = 0;
  // Writes the joint targets of the next dt_s.
  virtual void Tick(double dt_s, std::span<double> memory, std::span<double> targets) const = 0;
  // The same for several environments, which may be cheaper together; an environment's bits do not depend on it.
  virtual void TickAll(double dt_s, std::span<const ActionRow> rows) const {
    for (const ActionRow& row : rows) Tick(dt_s, row.memory, row.targets);
  }
  // Where the palm is commanded to be, in the base frame.
  virtual Vec3 PalmTarget(std::span<const double> memory) const = 0;
  // Speeds and accelerations are 0 for a map that commands positions only.
  virtual void Commanded(std::span<const double> memory, const CommandedMotion& out) const = 0;
};

// Everything that an action map is made from, with the files that the configuration names already read: `synergies` is
// empty for a robot without a hand and for a map that needs none.
struct ActionSetup {
  ActionConfig config;
  SynergyTable synergies;
  FabricBody body;
};

// The maps that `task.action.map` may name. The map refers to `robot`. Throws InputError when the setup does not fit
// the robot.
std::unique_ptr<ActionMap> MakeActionMap(const ActionSetup& setup, const RobotModel& robot);
const std::vector<std::string>& ActionMapNames();

}  // namespace gripstream
