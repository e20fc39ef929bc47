// A loop over [0, n) on a fixed number of threads. The only door to oneTBB.
//
// The pool belongs to the object and is idle between calls. `body` runs on several threads at once over disjoint
// ranges [begin, end) of at most `grain` items each; it must not throw. Calls from several threads are serialised by
// the caller. With one thread the body runs on the calling thread.
#pragma once

#include <functional>
#include <memory>

namespace gripstream {

class ParallelFor {
 public:
  // threads >= 1, the caller's included.
  explicit ParallelFor(int threads);
  ~ParallelFor();
  ParallelFor(const ParallelFor&) = delete;
  ParallelFor& operator=(const ParallelFor&) = delete;

  void operator()(int n, int grain, const std::function<void(int begin, int end)>& body);
  int Threads() const { return threads_; }

 private:
  struct Arena;
  int threads_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace gripstream
