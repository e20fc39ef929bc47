// Ctrl-C and SIGTERM as a flag that loops look at, so that a run ends at a point where nothing is half done.
//
// The handlers are process-wide. Thread-safe.
#pragma once

namespace gripstream {

// From now on SIGINT and SIGTERM set the flag; the same signal a second time ends the process at once.
// A reader of our output that leaves no longer ends the process.
void CatchInterrupts();
// A role that ends when its launcher says so, not when the terminal sends Ctrl-C to everybody at once.
void IgnoreCtrlC();
bool Interrupted();

}  // namespace gripstream
