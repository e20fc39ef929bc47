// Tests launch/command_bench.cc and main_bench.cc: the benchmarks that need LibTorch, in little. Those that do not have
// tests beside their own folders' (tests/envs, tests/sim_server/render, tests/wire).
#include <gmock/gmock.h>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

class TinyBenchmark : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Each, TinyBenchmark, testing::Values("pipeline", "gradients", "learner"));

TEST_P(TinyBenchmark, GivesRowsWithFiguresOrTheReasonWhyNot) {
  const ScratchFolder folder;
  const Ended ended = RunGripstream(
      {"bench", GetParam(), "--seconds", "0.01", "--json", folder / "rows.json", "--markdown", folder / "rows.md"},
      240);
  ASSERT_EQ(ended.code, 0) << ended.output;
  const nlohmann::json rows = ReadJson(folder / "rows.json");
  ASSERT_GT(rows.size(), 0u);
  std::ifstream in(folder / "rows.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(page, testing::HasSubstr("CPUs for this process"));
  for (const nlohmann::json& row : rows) {
    if (row["ratio"].is_null()) {
      EXPECT_FALSE(row.value("why", "").empty()) << row;
    } else {
      EXPECT_GT(row["ratio"], 0) << row;
    }
    EXPECT_THAT(page, testing::HasSubstr("| " + row["name"].get<std::string>() + " | "));
  }
}

}  // namespace
}  // namespace gripstream
