// The grasp task: pick the object up and hold it within `grasp.goal_tolerance_m` of a fixed goal.
//
// obs.proprio, J joints, H hand points (palm, then fingertips), A action components, O objects of the task:
//   student  q [J], qd [J], hand positions [3H], hand velocities [3H], goal [3], last action [A],
//            commanded q, qd, qdd [3J]
//   teacher  the same with object position [3], quaternion wxyz [4] before the goal and, after it, one-hot object [O]
//            and object scale [1]
// q and qd are the sensors', with noise and bias; hand points follow from them. Speeds and accelerations carry the
// factor `grasp.velocity_inputs`.
//
// state, T touch sensors, all of it true: q [J], qd [J], hand positions [3H], hand linear and angular velocities [6H],
//   touch [T], actuator torques [J], object position [3], quaternion [4], linear and angular velocity [6], goal [3],
//   one-hot object [O], scale [1], last action [A], commanded q, qd, qdd [3J]
//
// Rewards, with d_h from the object to the farthest hand point and d_g from the object to the goal:
//   reach  w exp(-k d_h)    goal  w exp(-k d_g)    curl  -w |q_hand - curl|^2    lift  w exp(-k |z_goal - z_object|)
//   grip   w exp(-k d_h) while the last touch sensor (the thumb's) and another one feel something; no published term,
//          w is 0 by default
#pragma once

#include <memory>

#include "envs/task.h"

namespace gripstream {

std::unique_ptr<Task> MakeGrasp(const TaskConfig& config, const RobotBinding& robot);

}  // namespace gripstream
