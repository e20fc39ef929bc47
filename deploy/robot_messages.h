// The interface between the runner and a robot: three messages of fixed layout, the same over ZeroMQ and shared memory.
//
//   robot  -> runner   joint states, camera frames
//   runner -> robot    joint targets
//
// Little-endian, offsets as the structures below have them in C (all fields are naturally aligned); sizes are pinned.
// A message is one ZeroMQ part; its first four bytes are its kind, by which subscribers filter. docs/robot.md has the
// same as a table, tools/robot_client.py as Python. A receiver ignores messages of another version and says so once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gripstream {

inline constexpr uint16_t kRobotInterfaceVersion = 1;
inline constexpr int kMaxMessageJoints = 64;

inline constexpr char kJointStatesKind[] = "GSJS";
inline constexpr char kCameraFrameKind[] = "GSCF";
inline constexpr char kJointTargetsKind[] = "GSJT";

struct MessageHead {
  char kind[4];      // of the above, without a terminating zero
  uint16_t version;  // kRobotInterfaceVersion
  uint16_t zero;
  uint32_t sequence;  // counts messages of this kind (and camera) from 1
  uint32_t run;  // joint states: the operator's counter; 0: stand still, a rise: begin anew. Targets: the run obeyed
  int64_t stamp_ns;  // when it was measured. States and frames of one clock; only differences matter
};
static_assert(sizeof(MessageHead) == 24);

inline constexpr uint32_t kGoodbye = 1;  // in JointStates::flags: the robot leaves, the runner ends

struct JointStates {
  MessageHead head;
  uint32_t joints;  // used of the arrays below, in the manifest's order
  uint32_t flags;
  double q[kMaxMessageJoints];   // rad
  double qd[kMaxMessageJoints];  // rad/s
};
static_assert(sizeof(JointStates) == 1056);

// What the runner is doing.
enum class RunnerPhase : uint32_t {
  kWaiting = 0,  // for data, or for run to rise
  kHome = 1,     // moves to the home posture
  kPolicy = 2,   // the policy acts
  kGrasped = 3,  // the object estimate is high: the arm slows down
  kPlace = 4,    // carries it to the place and opens the hand
  kDone = 5,     // holds
  kStopped = 6,  // safe stop: decelerated, holds until run rises
};

struct JointTargets {
  MessageHead head;
  uint32_t joints;
  uint32_t phase;                // RunnerPhase
  uint32_t answers;              // sequence of the newest joint states behind it
  uint32_t stop;                 // StopReason, 0 unless phase is kStopped
  double object[3];              // the policy's estimate in the base frame (m); NaN: none
  double q[kMaxMessageJoints];   // rad
  double qd[kMaxMessageJoints];  // rad/s, the rate at which q changes
};
static_assert(sizeof(JointTargets) == 1088);

enum class PixelFormat : uint32_t {
  kDepth16 = 1,  // uint16, times depth_unit_m; 0: nothing was seen
  kRgb8 = 2,     // red, green, blue bytes
};

struct CameraFrame {
  MessageHead head;
  char camera[32];  // its name in the manifest, filled up with zeros
  uint32_t width, height;
  uint32_t format;  // PixelFormat
  uint32_t bytes;   // of pixels that follow, row by row from the top, without padding
  double depth_unit_m;
};
static_assert(sizeof(CameraFrame) == 80);

inline MessageHead MakeHead(const char* kind, uint32_t sequence, uint32_t run, int64_t stamp_ns) {
  MessageHead head{};
  std::memcpy(head.kind, kind, sizeof(head.kind));
  head.version = kRobotInterfaceVersion;
  head.sequence = sequence;
  head.run = run;
  head.stamp_ns = stamp_ns;
  return head;
}

inline bool IsKind(const MessageHead& head, const char* kind) {
  return std::memcmp(head.kind, kind, sizeof(head.kind)) == 0;
}

}  // namespace gripstream
