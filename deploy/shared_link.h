// The robot interface over a file that both ends map: messages of deploy/robot_messages.h in slots of fixed places,
// each holding the newest message of its kind.
//
//   offset 0    SharedHead
//   64          slot 0: joint states (written by the robot)
//   + stride    slot 1: joint targets (written by the runner)
//   + stride    slots 2 to 5: camera frames, a camera each (written by the robot)
//
// A slot is a lock counter, the size of its message, and the message. The writer makes the counter odd, writes, makes
// it even; who reads the same even number before and after copying has a whole message, else tries again. The counters
// of news in the head rise after a write; who waits sleeps on them (futex) or looks again a little later. The robot
// makes the file, anew every time it starts, and removes it when it leaves; put it on a tmpfs, /dev/shm for example.
//
// One thread per end. Throws InputError for a file that cannot be made or does not appear, RunError for one of another
// layout or a message that does not fit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "deploy/robot_link.h"

namespace gripstream {

inline constexpr char kSharedMagic[] = "GSSM";
inline constexpr uint32_t kSharedSlots = 6;
inline constexpr uint32_t kSharedStride = 16 << 20;  // bytes of a slot, its head included

struct SharedHead {
  char magic[4];
  uint32_t version;  // kRobotInterfaceVersion
  uint32_t slots, stride;
  uint32_t robot_news;   // rises with every message of the robot
  uint32_t runner_news;  // and of the runner
  uint32_t robot_here;   // 0 once the robot has left
  uint32_t zero[9];
};
static_assert(sizeof(SharedHead) == 64);

struct SharedSlot {
  uint32_t lock;   // odd: being written
  uint32_t bytes;  // of the message behind it; 0: none yet
  uint32_t zero[14];
};
static_assert(sizeof(SharedSlot) == 64);

// `path` as in the address shm:PATH.
std::unique_ptr<RobotLink> SharedRunnerLink(const std::string& path);
std::unique_ptr<RobotLink> SharedRobotLink(const std::string& path);

}  // namespace gripstream
