// A wall clock that jumps by hours whenever it is read, for LD_PRELOAD: what waits by it waits too long or not at all.
// The steady clock is as it is.
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace {

// Hours ahead and hours back, in turn.
time_t Jump() {
  static std::atomic<unsigned> reads = 0;
  const unsigned read = ++reads;
  return (read % 2 == 0 ? 1 : -1) * 3600 * static_cast<time_t>(1 + read % 7);
}

bool IsWallClock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* out) {
  const long result = syscall(SYS_clock_gettime, clock, out);
  if (result == 0 && IsWallClock(clock)) out->tv_sec += Jump();
  return static_cast<int>(result);
}

int gettimeofday(timeval* __restrict out, void* __restrict) {
  timespec now;
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  *out = {now.tv_sec, now.tv_nsec / 1000};
  return result;
}

time_t time(time_t* out) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
