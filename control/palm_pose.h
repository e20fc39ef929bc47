// Action map `palm_pose`: an action is a palm pose (x, y, z in m, then ZYX Euler angles ez, ey, ex in rad; R = Rz Ry
// Rx) and hand synergy coordinates, followed by the pose servo of control. The servo works on the commanded posture,
// not the measured one, so that contact forces do not make it run away.
//
// Memory: joint targets [J], hand goal [H], palm goal [6].
#pragma once

#include "control/action_map.h"

namespace gripstream {

std::unique_ptr<ActionMap> MakePalmPose(const ActionSetup& setup, const RobotModel& robot);

}  // namespace gripstream
