// Why the runner stopped the robot. The numbers are part of the robot interface: never renumber.
#pragma once

#include <cstdint>

namespace gripstream {

enum class StopReason : uint32_t {
  kNone = 0,
  kStaleJoints = 1,
  kStaleCamera = 2,
  kBadNumber = 3,
  kMissedDeadline = 4,
  kLostConnection = 5,
  kOutOfLimits = 6,   // a measured joint is beyond its limits
  kNotFollowing = 7,  // a measured joint is far from its target
};

inline const char* NameOf(StopReason reason) {
  switch (reason) {
    case StopReason::kNone:
      return "none";
    case StopReason::kStaleJoints:
      return "stale_joints";
    case StopReason::kStaleCamera:
      return "stale_camera";
    case StopReason::kBadNumber:
      return "bad_number";
    case StopReason::kMissedDeadline:
      return "missed_deadline";
    case StopReason::kLostConnection:
      return "lost_connection";
    case StopReason::kOutOfLimits:
      return "out_of_limits";
    case StopReason::kNotFollowing:
      return "not_following";
  }
  return "unknown";
}

}  // namespace gripstream
