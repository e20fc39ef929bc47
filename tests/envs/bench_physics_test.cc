// Tests envs/bench_physics.h: a tiny run, which also checks that both sides end in the same state.
#include "envs/bench_physics.h"

#include <gtest/gtest.h>

namespace gripstream {
namespace {

TEST(BenchPhysics, TinyRunYieldsPositiveFiguresForEveryRow) {
  const std::vector<BenchRow> rows = BenchPhysics({.envs = 4, .threads = 2, .rounds = 2});
  ASSERT_EQ(rows.size(), 3u);
  for (const BenchRow& row : rows) {
    EXPECT_GT(row.ours, 0) << row.name;
    EXPECT_GT(row.peer, 0) << row.name;
    EXPECT_GT(row.ratio, 0) << row.name;
    EXPECT_EQ(row.peer_name, "mjb_step");
  }
}

}  // namespace
}  // namespace gripstream
