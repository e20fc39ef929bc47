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

// Every weight is 1 at any level, and nothing is too far to succeed.
void OpenEveryReward(TaskConfig& task) {
  ReachConfig& reach = task.reach;
  reach.weight_success = reach.weight_action_rate = 1;
  reach.success_radius_m = 1;
  task.grasp.weight_lift = task.grasp.weight_curl = {1, 1};
  task.grasp.weight_grip = 1;
  task.grasp.grip_n = 0;
}

TEST(Registry, EveryTaskRunsHundredRandomStepsWithEveryActionMapAndPaysEveryReward) {
  ASSERT_FALSE(TaskNames().empty());
  ASSERT_FALSE(ActionMapNames().empty());
  for (const std::string& name : TaskNames()) {
    for (const std::string& map : ActionMapNames()) {
      SCOPED_TRACE(name + " with " + map);
      TaskConfig task = testing::SmallTask();
      task.name = name;
      task.action.map = map;
      OpenEveryReward(task);
      const auto envs = MakeBatch(task, 4);
      envs->Reset({});
      Record record(*envs);
      std::vector<bool> paid(envs->RewardTerms().size(), false);
      for (int step = 0; step < 100; ++step) {
        testing::StepRandomly(*envs, 0, step);
        record.Read();
        ExpectFinite(record, *envs);
        const std::vector<float> terms = record.Get<float>("reward_terms", 0);
        ASSERT_EQ(terms.size(), paid.size());
        for (size_t i = 0; i < terms.size(); ++i) paid[i] = paid[i] || terms[i] != 0;
      }
      for (size_t i = 0; i < paid.size(); ++i) EXPECT_TRUE(paid[i]) << envs->RewardTerms()[i];
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
