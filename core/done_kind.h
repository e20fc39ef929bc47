// How an action ended its episode, if it did: the values of every record's "done" tensor. A plain value.
#pragma once

#include <cstdint>

namespace gripstream {

enum class DoneKind : uint8_t {
  kRunning = 0,
  kTerminated = 1,  // the task says it is over: nothing follows, the value after it is 0
  kTimedOut = 2,    // cut by the clock: what would have followed is V(final_state), if asked for
  kFaulted = 3,     // the simulation failed: the sample must not be used
  kLost = 4,        // never sent by a simulator: it was lost before it answered, or there was none; no sample
  kCarried = 5,     // never sent either: the trajectory goes on in the next rollout, and counts there, from its start
};

}  // namespace gripstream
