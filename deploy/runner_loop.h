// The runner with its link and its clock, until the robot says goodbye, the process is interrupted, or, in lock-step,
// the robot falls silent.
//
//   real_time   ticks at the control rate by this machine's clock; late ticks count as missed deadlines
//   lockstep    a tick for each joint states message, time by its stamp: a simulation as fast as it goes
//
// One thread. Throws RunError when no robot appears within runner.patience_s.
#pragma once

#include <string>

#include "deploy/robot_link.h"
#include "deploy/runner.h"

namespace gripstream {

// Returns when it ends; a runner that is stopped then has said why in the log and in Why().
void ServeRobot(Runner& runner, RobotLink& link, const RunnerConfig& config, TickLog& log);

}  // namespace gripstream
