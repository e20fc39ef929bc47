// Reads the files that a task's action map is configured with. Throws InputError naming file and key.
#pragma once

#include <string>

#include "control/action_map.h"
#include "envs/config.h"

namespace gripstream {

// The hand's synergies at `path`, the shipped ones when that is empty; an empty table for a robot without a hand.
SynergyTable ReadSynergyTable(const std::string& path, size_t hand_joints);

// Whatever the configured map needs. The shipped robot's fabric body comes with it.
ActionSetup ReadActionSetup(const TaskConfig& task, const RobotModel& robot);

}  // namespace gripstream
