// Tests core/memory_budget.h.
#include "core/memory_budget.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace gripstream {
namespace {

MemoryBudget Example() {
  MemoryBudget budget;
  budget.parts = {{"program", 100}, {"buffer", 0, 10}, {"update", 50, 1, true}, {"checkpoint", 0, 3, true}};
  return budget;
}

TEST(MemoryBudget, HeldPartsAddUpAndTheLargestPassingOneCounts) {
  EXPECT_EQ(Example().Bytes(0), 150);
  EXPECT_EQ(Example().Bytes(10), 100 + 100 + 60);
  EXPECT_EQ(Example().Bytes(100), 100 + 1000 + 300);
}

TEST(MemoryBudget, TheMostThatFitsFitsAndOneMoreDoesNot) {
  const MemoryBudget budget = Example();
  for (const double limit : {150.0, 161.0, 470.0, 1e4, 1e9}) {
    const int64_t most = budget.MostEnvs(limit);
    EXPECT_LE(budget.Bytes(most), limit);
    EXPECT_GT(budget.Bytes(most + 1), limit);
  }
  EXPECT_EQ(budget.MostEnvs(149), -1);
}

TEST(MemoryBudget, WhatDoesNotGrowFitsAnyNumber) {
  MemoryBudget budget;
  budget.parts = {{"program", 100}};
  EXPECT_EQ(budget.MostEnvs(100), MemoryBudget::kMostEnvs);
  EXPECT_EQ(budget.Growing(5), nullptr);
  EXPECT_EQ(budget.Passing(5), nullptr);
}

TEST(MemoryBudget, GrowthIsThatOfTheWorstMoment) {
  MemoryBudget budget = Example();
  EXPECT_EQ(budget.Growing(10)->name, "buffer");
  budget.parts[1].bytes_per_env = 2;
  EXPECT_EQ(budget.Passing(10)->name, "update");
  EXPECT_EQ(budget.Growing(10)->name, "buffer");
  EXPECT_EQ(budget.Growing(1000)->name, "checkpoint");
}

TEST(MemoryBudget, SizesAreReadAndWritten) {
  EXPECT_EQ(ParseBytes("80GB", "--memory"), 80e9);
  EXPECT_EQ(ParseBytes("512 MiB", "--memory"), 512.0 * 1024 * 1024);
  EXPECT_EQ(ParseBytes("1.5e9", "--memory"), 1.5e9);
  EXPECT_EQ(FormatBytes(1.25e9), "1.25 GB");
  EXPECT_EQ(FormatBytes(38400), "38.4 kB");
  EXPECT_EQ(FormatBytes(12), "12 B");
  EXPECT_EQ(FormatBytes(999.9e6), "1 GB");
}

TEST(MemoryBudget, WhatIsNoSizeIsRefusedByName) {
  for (const char* text : {"", "GB", "-1GB", "0", "4 gigs", "nan", "inf", "1GB2"}) {
    try {
      ParseBytes(text, "--memory");
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("--memory"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace gripstream
