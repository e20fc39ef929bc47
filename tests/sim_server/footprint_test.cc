// Tests sim_server/footprint.h and simulator_budget.h: plans beside what real simulators take.
#include "sim_server/footprint.h"

#include <gtest/gtest.h>

#include "envs/env_batch.h"

namespace gripstream {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kOtherAllocator = true;
#else
constexpr bool kOtherAllocator = false;
#endif

SimulatorOptions Options(int groups) {
  SimulatorOptions options;
  options.sim.envs = 96;
  options.sim.render_threads = options.physics.threads = 1;
  options.sim.reserve_bytes_per_env = 100'000;
  options.render.width = 16;
  options.render.height = 12;
  options.task.objects = {"cube_50", "mug"};
  options.task.held_out_objects = {};
  options.groups = groups;
  return options;
}

class Footprint : public testing::TestWithParam<int> {};

TEST_P(Footprint, EveryPartIsWhatTheRealOneTakes) {
  if (kOtherAllocator) GTEST_SKIP() << "what malloc hands out is not counted under the sanitizer";
  const SimulatorOptions options = Options(GetParam());
  const SimulatorFootprint measured = MeasureSimulator(options);
  Simulator real(options);
  real.WarmUp();
  const MemoryBudget budget = SimulatorBudget(
      measured, {.slots = 3, .groups = options.groups, .reserve_bytes_per_env = 100'000}, real.RecordSpecs());
  for (const MemoryPart& part : budget.parts) {
    double taken = 0;
    for (const MemoryUse& use : real.Memory()) taken += use.part == part.name ? use.bytes : 0;
    if (part.name == kRecordsPart) {
      taken = 3.0 * static_cast<double>(Layout(real.RecordSpecs(), real.GroupEnvs()).Bytes());
      EXPECT_NEAR(part.Bytes(options.sim.envs), taken, 3 * 64.0 * static_cast<double>(real.RecordSpecs().size()));
    } else if (part.name != "program") {
      EXPECT_NEAR(part.Bytes(options.sim.envs), taken, 0.1 * taken + 65536) << part.name;
    }
  }
  EXPECT_EQ(measured.state, static_cast<double>(real.Envs(0).StateBytes()));
  EXPECT_GT(measured.environment, measured.state);
}

INSTANTIATE_TEST_SUITE_P(Groups, Footprint, testing::Values(1, 2));

}  // namespace
}  // namespace gripstream
