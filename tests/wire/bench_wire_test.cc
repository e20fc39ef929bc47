// Tests wire/bench_wire.h: that a tiny run completes, not what it measures.
#include "wire/bench_wire.h"

#include <gtest/gtest.h>

#include <set>

namespace gripstream {
namespace {

TEST(BenchWire, MeasuresEveryRow) {
  const std::vector<BenchRow> rows = BenchWire(0.01);
  std::set<std::string> names;
  for (const BenchRow& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_GT(row.ours, 0) << row.name;
    EXPECT_GT(row.peer, 0) << row.name;
    EXPECT_DOUBLE_EQ(row.ratio, row.ours / row.peer) << row.name;
  }
  EXPECT_EQ(rows.size(), 11u);
}

}  // namespace
}  // namespace gripstream
