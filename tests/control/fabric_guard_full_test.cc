// Tests control/fabric_guard.h at length.
#include <gtest/gtest.h>

#include "tests/control/fabric_trials.h"

namespace gripstream {
namespace {

TEST(FabricGuard, NeitherLimitNorBoxIsViolatedFromTenThousandRandomStarts) {
  testing::ExpectSafe(testing::RunTrials(1000, 10000, 120));
}

}  // namespace
}  // namespace gripstream
