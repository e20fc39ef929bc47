// Joint targets that a robot can take: whatever is wanted, positions stay within limits, and speeds and accelerations
// within bounds.
//
//   wanted positions, tick by tick -> follow them as fast as the bounds allow -> q, qd
//
// Wanted motion within the bounds passes through unchanged. A target that runs away is followed and caught up with at a
// speed from which the joint can still brake; no joint is ever so fast that it could not stop before its limit. Starts
// within limits stay within; from outside only the way back is open. Not thread-safe; no call allocates.
#pragma once

#include <span>
#include <vector>

#include "control/kinematic_tree.h"

namespace gripstream {

// Per joint.
struct MotionBounds {
  std::vector<double> velocity, acceleration;  // rad/s, rad/s2
};

class TargetLimiter {
 public:
  // Bounds of one number hold for all joints. Throws InputError naming `where` on other sizes.
  TargetLimiter(std::span<const JointLimit> limits, const MotionBounds& bounds, const std::string& where);

  // The robot is at q and moves with qd.
  void Start(std::span<const double> q, std::span<const double> qd);
  // What is wanted from now on begins at `wanted`, wherever the joints are.
  void Retarget(std::span<const double> wanted);
  // One tick after what is wanted; its speed is the difference to the last one.
  void Follow(std::span<const double> wanted, double dt_s);
  // One tick towards a place that stands still, within a lower speed and acceleration.
  void FollowSlowly(std::span<const double> wanted, double dt_s, double speed, double acceleration);
  // One tick of braking, harder where a limit is near; true once everything stands.
  bool Brake(double dt_s, double acceleration);

  std::span<const double> Q() const { return q_; }
  std::span<const double> Qd() const { return qd_; }

 private:
  double Stoppable(size_t joint, double speed, double dt_s) const;
  void Move(size_t joint, double wanted, double wanted_speed, double dt_s, double speed, double acceleration);

  std::vector<JointLimit> limits_;
  MotionBounds bounds_;
  std::vector<double> q_, qd_, last_wanted_;
};

}  // namespace gripstream
