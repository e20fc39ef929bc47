// Tests the lists of tasks and action maps: every combination is run.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using testing::MakeBatch;
using testing::Record;

void ExpectFinite(const Record& record, const EnvBatch& envs) {
  for (const TensorSpec& spec : envs.RecordSpecs()) {
    if (spec.dtype != DType::kFloat32) continue;
    for (int env = 0; env < envs.Envs(); ++env) {
      const std::vector<float> row = record.Get<float>(spec.name, env);
      ASSERT_EQ(row.size(), spec.Elements());
      for (const float value : row) ASSERT_TRUE(std::isfinite(value)) << spec.name;
    }
  }
}

TEST(Registry, EveryTaskRunsHundredRandomStepsWithEveryActionMap) {
  ASSERT_FALSE(TaskNames().empty());
  ASSERT_FALSE(ActionMapNames().empty());
  for (const std::string& name : TaskNames()) {
    for (const std::string& map : ActionMapNames()) {
      SCOPED_TRACE(name + " with " + map);
      TaskConfig task = testing::SmallTask();
      task.name = name;
      task.action.map = map;
      const auto envs = MakeBatch(task, 4);
      envs->Reset({});
      Record record(*envs);
      for (int step = 0; step < 100; ++step) {
        testing::StepRandomly(*envs, 0, step);
        record.Read();
        ExpectFinite(record, *envs);
      }
      EXPECT_EQ(record.Get<float>("reward_terms", 0).size(), envs->RewardTerms().size());
      EXPECT_EQ(envs->Faults(), 0u);
    }
  }
}

TEST(Registry, ConfigurationOffersExactlyTheRegisteredNames) {
  const auto accepted = [](const std::string& text) {
    TaskConfig task;
    ConfigFile::FromText(text, "task.yaml").Read(task);
  };
  for (const std::string& name : TaskNames()) EXPECT_NO_THROW(accepted("name: " + name));
  for (const std::string& name : ActionMapNames()) EXPECT_NO_THROW(accepted("action: {map: " + name + "}"));
  EXPECT_THROW(accepted("name: nothing"), InputError);
  EXPECT_THROW(accepted("action: {map: nothing}"), InputError);
}

TEST(Registry, DefaultsSurviveBeingWrittenAndReadBack) {
  TaskConfig task;
  task.episode_s = 1.7;
  const std::string text = ToYaml(task);
  TaskConfig back;
  ConfigFile::FromText(text, "task.yaml").Read(back);
  EXPECT_EQ(ToYaml(back), text);
}

}  // namespace
}  // namespace gripstream
