// Tests deploy/tick_log.h.
#include "deploy/tick_log.h"

#include <gmock/gmock.h>

#include "core/error.h"

namespace gripstream {
namespace {

using ::testing::HasSubstr;

TEST(LatencyStatistics, PercentilesAreThoseOfTheSortedDurations) {
  LatencyStatistics latency;
  EXPECT_EQ(latency.Percentile(0.99), 0);
  for (int i = 100; i >= 1; --i) latency.Add(1e-3 * i);
  EXPECT_NEAR(latency.Percentile(0), 0.001, 1e-12);
  EXPECT_NEAR(latency.Percentile(0.5), 0.051, 1e-12);
  EXPECT_NEAR(latency.Percentile(0.99), 0.1, 1e-12);
  EXPECT_NEAR(latency.Percentile(1), 0.1, 1e-12);
}

TEST(LatencyStatistics, TheHistogramCountsEveryDurationOnce) {
  LatencyStatistics latency;
  for (const double ms : {0.1, 0.3, 4.5, 4.6, 4.7, 1000.0}) latency.Add(1e-3 * ms);
  const std::string text = latency.ToText("ticks");
  EXPECT_THAT(text, HasSubstr("ticks: 6, p50 4.60 ms"));
  EXPECT_THAT(text, HasSubstr("4.00 to 5.00   ms        3"));
  EXPECT_THAT(text, HasSubstr("100.00 to inf    ms        1"));
}

TEST(TickLog, ATickOfWhichNothingIsKnownLeavesItsFieldsEmpty) {
  const std::string path = ::testing::TempDir() + "/ticks.csv";
  TickLog log(path, {"shoulder"}, 1);
  const float action = 0.5f;
  const double q = 1.25;
  TickRecord record{.tick = 3, .phase = RunnerPhase::kPolicy, .run = 2, .action = {&action, 1}};
  record.q = record.target = {&q, 1};
  record.object[0] = std::nan("");
  log.Add(record);
  log.Flush();
  std::ifstream in(path);
  std::string header, line;
  std::getline(in, header);
  std::getline(in, line);
  EXPECT_THAT(header, HasSubstr("action_0,shoulder,target_shoulder"));
  EXPECT_EQ(line, "3,0,policy,none,2,0,0,0,0,0,0,0,,0,0,0.5,1.25,1.25");
  EXPECT_THROW(TickLog("/nowhere/ticks.csv", {}, 0), InputError);
}

}  // namespace
}  // namespace gripstream
