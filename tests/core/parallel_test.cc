// Tests core/parallel.h.
#include "core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace gripstream {
namespace {

TEST(ParallelFor, VisitsEveryItemOnceAtAnyThreadCount) {
  for (const int threads : {1, 2, 4}) {
    ParallelFor loop(threads);
    for (const int n : {0, 1, 7, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
      loop(n, 3, [&](int begin, int end) {
        for (int i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
      });
      for (const auto& count : visits) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ParallelFor, OneThreadMeansTheCallersThread) {
  ParallelFor loop(1);
  std::thread::id where;
  loop(5, 1, [&](int, int) { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
}

}  // namespace
}  // namespace gripstream
