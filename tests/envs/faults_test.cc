// Tests envs/env_batch.h: quarantine of environments whose physics fails.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using testing::MakeBatch;
using testing::Record;
using testing::SmallTask;
using testing::StepRandomly;

bool AllFinite(const std::vector<float>& values) {
  for (const float value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

void ExpectQuarantinedAlone(EnvBatch& envs, EnvBatch& healthy, int faulty) {
  const Record record(envs), expected(healthy);
  for (int env = 0; env < envs.Envs(); ++env) {
    if (env != faulty) {
      EXPECT_EQ(record.Bytes(env), expected.Bytes(env)) << env;
      continue;
    }
    EXPECT_EQ(record.One<uint8_t>("done", env), static_cast<uint8_t>(DoneKind::kFaulted));
    EXPECT_EQ(record.One<uint8_t>("success", env), 0);
    EXPECT_EQ(record.One<uint32_t>("episode_step", env), 0u);
    EXPECT_EQ(record.One<float>("reward", env), 0.0f);
    for (const char* name : {"obs.proprio", "state", "final_state", "aux.object_position", "reward_terms"})
      EXPECT_TRUE(AllFinite(record.Get<float>(name, env))) << name;
  }
}

TEST(Faults, InjectedNanIsQuarantinedCountedAndResetWhileTheOthersGoOn) {
  const auto envs = MakeBatch(SmallTask(), 4), healthy = MakeBatch(SmallTask(), 4);
  envs->Reset({});
  healthy->Reset({});
  for (int step = 0; step < 3; ++step) {
    StepRandomly(*envs, 0, step);
    StepRandomly(*healthy, 0, step);
  }
  std::vector<mjtNum> state = testing::StateOf(*envs, 1);
  state[5] = std::numeric_limits<double>::quiet_NaN();
  envs->Physics().WriteState(1, state.data());
  StepRandomly(*envs, 0, 3);
  StepRandomly(*healthy, 0, 3);
  EXPECT_EQ(envs->Faults(), 1u);
  EXPECT_EQ(healthy->Faults(), 0u);
  ExpectQuarantinedAlone(*envs, *healthy, 1);
  // It is sound again, in its next episode.
  StepRandomly(*envs, 0, 4);
  EXPECT_EQ(Record(*envs).One<uint8_t>("done", 1), 0);
  EXPECT_EQ(Record(*envs).One<uint32_t>("episode", 1), 1u);
  EXPECT_EQ(envs->Faults(), 1u);
}

TEST(Faults, NanActionIsQuarantinedToo) {
  const auto envs = MakeBatch(SmallTask(), 3), healthy = MakeBatch(SmallTask(), 3);
  envs->Reset({});
  healthy->Reset({});
  std::vector<float> actions = testing::RandomActions(*envs, 0, 0);
  healthy->Step(actions.data());
  actions[3] = std::numeric_limits<float>::quiet_NaN();
  envs->Step(actions.data());
  EXPECT_EQ(envs->Faults(), 1u);
  ExpectQuarantinedAlone(*envs, *healthy, 1);
}

// The shipped model with little memory: an object on two boxes needs more than there is.
std::string ModelWithMemory(const std::string& memory) {
  std::ifstream file(testing::kAssets + "kuka_allegro.xml");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string roomy = "memory=\"1M\"";
  EXPECT_NE(text.find(roomy), std::string::npos);
  text.replace(text.find(roomy), roomy.size(), "memory=\"" + memory + "\"");
  return testing::TemporaryFile("memory_" + memory + ".xml", text);
}

class OverflowTest : public ::testing::TestWithParam<std::pair<const char*, SimHealth>> {};

TEST_P(OverflowTest, EnvironmentThatRunsOutOfMemoryIsQuarantinedWhileTheOthersGoOn) {
  const auto [memory, kind] = GetParam();
  TaskConfig task = SmallTask();
  const auto healthy = MakeBatch(task, 3);
  task.model = ModelWithMemory(memory);
  const auto envs = MakeBatch(task, 3);
  envs->Reset({});
  healthy->Reset({});
  StepRandomly(*envs, 0, 0);
  StepRandomly(*healthy, 0, 0);
  int faulty = 0;
  while (envs->Object(faulty).name != "L_block") ++faulty;
  EXPECT_EQ(envs->Faults(), 1u);
  ExpectQuarantinedAlone(*envs, *healthy, faulty);
}

TEST_P(OverflowTest, PhysicsTellsWhatHappened) {
  const auto [memory, kind] = GetParam();
  TaskConfig task = SmallTask();
  task.objects = {"L_block"};
  task.model = ModelWithMemory(memory);
  const auto envs = MakeBatch(task, 1);
  envs->Reset({});
  envs->Physics().Step(
      1, 12, [](int, int, const SimView&) {}, [](int, const SimView&) {});
  EXPECT_EQ(envs->Physics().Health(0), kind);
}

INSTANTIATE_TEST_SUITE_P(Faults, OverflowTest,
                         ::testing::Values(std::pair("22K", SimHealth::kOverflow), std::pair("32K", SimHealth::kError)),
                         [](const auto& test) { return std::string(test.param.first); });

}  // namespace
}  // namespace gripstream
