// Follows a pose target with joint targets: damped least squares on the pose error, with the free motion pulled to a
// rest posture.
//
//   velocity = J^T (J J^T + damping^2 I)^-1 twist(error) + (I - J^+ J) rest_gain (rest - q)
//
// scaled as a whole to the joints' speed limits, integrated over one control tick, and stopped at the joint limits: a
// joint that stands at its limit and would leave it is taken out and the rest is solved again. Pure; allocates nothing
// (at most kMaxServoJoints joints); any number of threads.
#pragma once

#include <span>
#include <vector>

#include "control/kinematic_tree.h"

namespace gripstream {

inline constexpr int kMaxServoJoints = 32;

struct PoseServoParams {
  double position_gain = 8.0;      // 1/s
  double rotation_gain = 6.0;      // 1/s
  double max_linear_speed = 1.5;   // m/s, of the frame towards its target
  double max_angular_speed = 4.0;  // rad/s
  double damping = 0.05;           // of the least squares; larger is slower and calmer near singular postures
  double rest_gain = 1.0;          // 1/s
  double max_joint_speed = 2.5;    // rad/s (m/s for slides)
  std::vector<int> joints;         // the joints that move the frame, by index in the tree
  std::vector<double> rest;        // rest posture of `joints`
};

// Throws InternalError when `joints` and `rest` do not fit the tree.
void CheckPoseServo(const KinematicTree& tree, const PoseServoParams& params);

// One tick of dt_s: moves q (all joints of the tree; only `joints` change) so that `frame` approaches `target`.
void StepPoseServo(const KinematicTree& tree, const PoseServoParams& params, const LinkFrame& frame,
                   const Transform& target, double dt_s, std::span<double> q);

}  // namespace gripstream
