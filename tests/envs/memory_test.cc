// Tests envs/env_batch.h: as many environments as a GPU would hold, for as long as a run takes, in memory that does not
// grow.
#include <gtest/gtest.h>

#include "core/process_memory.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Memory of this process in RAM, without what the allocator keeps for later (MB).
double ResidentMegabytes() {
  ReleaseFreeHeap();
  return static_cast<double>(OwnMemory().ResidentBytes()) / 1e6;
}

TEST(EnvMemory, FourThousandEnvironmentsHoldFlatMemory) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer's own memory grows";
  TaskConfig task = testing::SmallTask();
  task.name = "grasp";
  task.action.map = "fabric";
  task.decimation = 2;
  task.episode_s = 0.1;  // six steps: every environment begins episodes, with models of its own, all the time
  task.randomise.enabled = true;
  task.curriculum.start = task.curriculum.levels;
  const auto envs = testing::MakeBatch(task, 4096);
  envs->Reset({});
  const auto run = [&](int steps) {
    for (int step = 0; step < steps; ++step) testing::StepRandomly(*envs, 0, step);
    return ResidentMegabytes();
  };
  const double before = run(8), after = run(24);
  EXPECT_LE(after, 1.01 * before) << "four more episodes of each";
  RecordProperty("resident_MB", static_cast<int>(after));
  EXPECT_LE(after / 4096, 0.2) << "MB per environment";
}

}  // namespace
}  // namespace gripstream
