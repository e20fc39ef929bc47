#include "core/interrupt.h"

#include <atomic>
#include <csignal>

namespace gripstream {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

// A terminal sends Ctrl-C to launcher and roles alike, and the launcher then sends SIGTERM to its roles: only the same
// signal twice is somebody's impatience. SA_RESETHAND sees to that: the second one meets the default action.
void OnSignal(int) {
  interrupted = true;
}

}  // namespace

void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  std::signal(SIGPIPE, SIG_IGN);  // whoever read our output may leave; the run goes on
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void IgnoreCtrlC() {
  std::signal(SIGINT, SIG_IGN);
}

bool Interrupted() {
  return interrupted.load();
}

}  // namespace gripstream
