// Tests core/progress.h, core/statistics.h.
#include "core/progress.h"

#include <gtest/gtest.h>

#include "core/statistics.h"

namespace gripstream {
namespace {

TEST(Format, DurationsAndCountsReadWell) {
  EXPECT_EQ(FormatDuration(0), "0:00");
  EXPECT_EQ(FormatDuration(850), "14:10");
  EXPECT_EQ(FormatDuration(3725), "1:02:05");
  EXPECT_EQ(FormatDuration(-5), "0:00");
  EXPECT_EQ(FormatCount(950), "950");
  EXPECT_EQ(FormatCount(51200), "51.2 k");
  EXPECT_EQ(FormatCount(1234567), "1.23 M");
  EXPECT_EQ(FormatCount(2.5e9), "2.50 G");
}

TEST(ProgressLine, IsPlainLinesWhenStdoutIsNotATerminal) {
  testing::internal::CaptureStdout();
  ProgressLine line;
  EXPECT_TRUE(line.Due());
  line.Show("one");
  EXPECT_FALSE(line.Due());
  line.Show("two");
  line.Finish();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "one\ntwo\n");
}

// Published example (Newcombe 1998, table I): 81 of 263, Wilson 0.2553 to 0.3662; and 0 of 20, 0 to 0.1611.
TEST(Wilson, GivesThePublishedIntervals) {
  const auto [low, high] = WilsonInterval(81, 263);
  EXPECT_NEAR(low, 0.2553, 5e-5);
  EXPECT_NEAR(high, 0.3662, 5e-5);
  const auto [none_low, none_high] = WilsonInterval(0, 20);
  EXPECT_NEAR(none_low, 0.0, 1e-12);
  EXPECT_NEAR(none_high, 0.1611, 5e-5);
  EXPECT_EQ(WilsonInterval(0, 0), (std::pair<double, double>{0.0, 1.0}));
}

}  // namespace
}  // namespace gripstream
