// Action map `joint_targets`: an action is the absolute joint targets themselves. Memory: targets [J].
#pragma once

#include "envs/action_map.h"

namespace gripstream {

std::unique_ptr<ActionMap> MakeJointTargets(const ActionConfig& config, const RobotBinding& robot);

}  // namespace gripstream
