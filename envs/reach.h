// The reach task: at the end of an episode the palm is within `reach.success_radius_m` of the object's centre. With
// `reach.wait_s` actions count as zeros first.
//
//   proprio  [J + 3 + 3 + A + 1]           joint positions (rad) as sensed, palm position (m) that follows from them,
//                                          commanded palm position (m), last action, share of the episode that is left
//   state    [2J + 3 + 3 + 3 + 4 + 3 + A + 1]  joint positions, joint velocities (rad/s), palm, commanded palm, object
//                                          position (m) and quaternion wxyz, object minus palm (m), last action, time
//                                          left
//
// J joints, A action components.
#pragma once

#include <memory>

#include "envs/task.h"

namespace gripstream {

std::unique_ptr<Task> MakeReach(const TaskConfig& config, const RobotBinding& robot);

}  // namespace gripstream
