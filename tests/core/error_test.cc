// Tests core/error.h.
#include "core/error.h"

#include <gtest/gtest.h>

namespace gripstream {
namespace {

TEST(RunMain, MapsEachKindOfFailureToItsExitCode) {
  EXPECT_EQ(RunMain([](int, char**) { return kExitOk; }, 0, nullptr), 0);
  EXPECT_EQ(RunMain([](int, char**) -> int { throw RunError("peer died"); }, 0, nullptr), 1);
  EXPECT_EQ(RunMain([](int, char**) -> int { throw InputError("f", "k", "v", "w"); }, 0, nullptr), 2);
  EXPECT_EQ(RunMain([](int, char**) -> int { throw std::bad_alloc(); }, 0, nullptr), 1);
}

TEST(RunMain, PrintsOneLineWhateverTheMessageHolds) {
  testing::internal::CaptureStderr();
  RunMain([](int, char**) -> int { throw RunError("first\nsecond\n"); }, 0, nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gripstream: first second\n");
}

TEST(Check, ThrowsWithTheConditionAndTheMessage) {
  try {
    GS_CHECK(1 + 1 == 3, "sums are off");
    FAIL() << "passed";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("sums are off (violated: 1 + 1 == 3)"), std::string::npos);
  }
}

}  // namespace
}  // namespace gripstream
