// Action map `fabric`: an action is a palm pose (x, y, z in m, then ZYX Euler angles ez, ey, ex in rad; R = Rz Ry Rx)
// and hand synergy coordinates, which a geometric fabric (control/fabric_step.h) follows within limits on acceleration,
// away from joint limits and from the boxes of the world. Synergies that are not configured range over what the synergy
// file says. The fabric moves its own joints, not the measured ones; its positions are the targets.
//
// Memory: q [J], qd [J], qdd [J], palm goal as position [3] and quaternion [4], synergy goal [S], damping [1].
#pragma once

#include "control/action_map.h"

namespace gripstream {

std::unique_ptr<ActionMap> MakeFabricMap(const ActionSetup& setup, const RobotModel& robot);

}  // namespace gripstream
