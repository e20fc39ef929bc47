// A moment by which a wait must end. Every wait in gripstream takes one; none is unbounded.
#pragma once

#include <algorithm>
#include <chrono>

namespace gripstream {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;  // wall-clock jumps do not matter

  static Deadline After(double seconds) {
    return Deadline(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  }
  bool Passed() const { return Clock::now() >= when_; }
  // Never negative.
  double RemainingSeconds() const { return std::max(0.0, std::chrono::duration<double>(when_ - Clock::now()).count()); }
  // For poll(2): rounded up, so that a wait does not end a fraction of a millisecond early.
  int RemainingMilliseconds() const { return static_cast<int>(RemainingSeconds() * 1000.0 + 0.999); }
  Clock::time_point When() const { return when_; }

 private:
  explicit Deadline(Clock::time_point when) : when_(when) {}
  Clock::time_point when_;
};

inline Deadline Earlier(Deadline a, Deadline b) {
  return a.When() < b.When() ? a : b;
}

}  // namespace gripstream
