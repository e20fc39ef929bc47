// Action map `joint_targets`: an action is the absolute joint targets themselves. Memory: targets [J].
#pragma once

#include "control/action_map.h"

namespace gripstream {

std::unique_ptr<ActionMap> MakeJointTargets(const ActionSetup& setup, const RobotModel& robot);

}  // namespace gripstream
