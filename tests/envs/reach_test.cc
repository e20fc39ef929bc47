// Tests envs/reach.h.
#include "envs/reach.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using testing::MakeBatch;
using testing::Record;

struct SceneParts {
  std::vector<double> q = {0.1, 0.2}, qd = {0.3, 0.4};
  std::vector<float> action = {0.5f}, last_action = {-0.5f};
  std::vector<FrameMotion> hand{1};

  Scene Make(Vec3 palm, Vec3 target, Vec3 object, int step) {
    hand[0].pos = palm;
    return {.q = q,
            .qd = qd,
            .palm = {palm, {}},
            .object = {object, AxisAngle({0, 0, 1}, 1.0)},
            .palm_target = target,
            .action = action,
            .last_action = last_action,
            .step = step,
            .episode_steps = 4,
            .q_seen = q,
            .qd_seen = qd,
            .hand_seen = hand};
  }
};

size_t SizeOfFields(const std::vector<ObservationField>& fields) {
  int size = 0;
  for (const ObservationField& field : fields) size += field.size;
  return static_cast<size_t>(size);
}

TEST(Reach, RewardTermsAreTheirFormulasTimesTheirWeights) {
  TaskConfig config;
  config.reach = {.success_radius_m = 0.06,
                  .distance_sharpness = 10,
                  .weight_distance = 2,
                  .weight_aim = 3,
                  .weight_near = 5,
                  .weight_success = 7,
                  .weight_action_rate = 11};
  const auto task = MakeReach(config, {});
  SceneParts parts;
  std::vector<float> terms(task->RewardTerms().size());
  // Palm 5 cm from the object, commanded 20 cm from it.
  const Scene scene = parts.Make({0.03, 0.04, 0}, {0, 0, 0.2}, {}, 4);
  EXPECT_TRUE(task->Evaluate(scene, {}, true, terms).success);
  EXPECT_NEAR(terms[0], 2 * std::exp(-0.5), 1e-6);
  EXPECT_NEAR(terms[1], 3 * std::exp(-2.0), 1e-6);
  EXPECT_EQ(terms[2], 5.0f);
  EXPECT_EQ(terms[3], 7.0f);
  EXPECT_NEAR(terms[4], -11.0, 1e-6);  // the action changed by 1
}

// In the steps of the wait nothing that is seen afterwards can depend on what was done.
TEST(Reach, ActionsCountAsZerosUntilTheWaitIsOver) {
  TaskConfig config = testing::SmallTask();
  config.reach.wait_s = 0.3;  // three of twelve steps
  const auto acts = MakeBatch(config, 1), rests = MakeBatch(config, 1);
  acts->Reset({});
  rests->Reset({});
  const std::vector<float> action(3, 0.7f), zeros(3, 0.0f);
  for (int step = 0; step < 4; ++step) {
    acts->Step(action.data());
    rests->Step(zeros.data());
    EXPECT_EQ(Record(*acts).Bytes(0) == Record(*rests).Bytes(0), step < 3) << step;
  }
}

TEST(Reach, SuccessIsCountedWithinTheRadiusAndItsBonusPaidAtTheEndOnly) {
  TaskConfig config;
  config.reach.weight_success = 1;
  const auto task = MakeReach(config, {});
  SceneParts parts;
  std::vector<float> terms(task->RewardTerms().size());
  EXPECT_FALSE(task->Evaluate(parts.Make({0.061, 0, 0}, {}, {}, 4), {}, true, terms).success);
  EXPECT_EQ(terms[2], 0.0f);
  EXPECT_EQ(terms[3], 0.0f);
  task->Evaluate(parts.Make({0.059, 0, 0}, {}, {}, 3), {}, false, terms);
  EXPECT_GT(terms[2], 0.0f);
  EXPECT_EQ(terms[3], 0.0f);
}

TEST(Reach, ObservationsAreLaidOutAsDeclaredAndProprioceptionHidesTheObject) {
  const auto task = MakeReach(TaskConfig(), {});
  SceneParts parts;
  std::vector<float> proprio(SizeOfFields(task->ProprioFields({2, 1, 0, 0, 1})));
  std::vector<float> state(SizeOfFields(task->StateFields({2, 1, 0, 0, 1})));
  task->Observe(parts.Make({1, 2, 3}, {4, 5, 6}, {7, 8, 9}, 1), proprio, state);
  EXPECT_EQ(proprio, (std::vector<float>{0.1f, 0.2f, 1, 2, 3, 4, 5, 6, 0.5f, 0.75f}));
  const float w = static_cast<float>(std::cos(0.5)), z = static_cast<float>(std::sin(0.5));
  EXPECT_EQ(state,
            (std::vector<float>{0.1f, 0.2f, 0.3f, 0.4f, 1, 2, 3, 4, 5, 6, 7, 8, 9, w, 0, 0, z, 6, 6, 6, 0.5f, 0.75f}));
  std::vector<float> elsewhere(proprio.size());
  task->Observe(parts.Make({1, 2, 3}, {4, 5, 6}, {-7, 0, 1}, 1), elsewhere, state);
  EXPECT_EQ(elsewhere, proprio);
}

// Success per object over a fixed set, the palm being sent to `aim(object position)`.
template <class Aim>
std::map<std::string, std::pair<int, int>> Play(int episodes, Aim aim) {
  const TaskConfig task;
  constexpr int kEnvs = 60;
  const auto envs = MakeBatch(task, kEnvs);
  envs->Reset({.mode = ResetRequest::Mode::kEval, .eval_seed = 7, .total_envs = kEnvs});
  Record record(*envs);
  std::map<std::string, std::pair<int, int>> tally;
  for (int done = 0; done < episodes;) {
    std::vector<float> actions;
    std::vector<std::string> names;
    for (int env = 0; env < kEnvs; ++env) {
      const std::vector<float> target = aim(record.Get<float>("aux.object_position", env));
      names.push_back(envs->Object(env).name);
      for (size_t i = 0; i < 3; ++i) {
        const double low = task.action.palm_low[i], high = task.action.palm_high[i];
        actions.push_back(static_cast<float>(2 * (static_cast<double>(target[i]) - low) / (high - low) - 1));
      }
    }
    envs->Step(actions.data());
    record.Read();
    for (int env = 0; env < kEnvs; ++env) {
      if (record.One<uint8_t>("done", env) == 0) continue;
      auto& [succeeded, of] = tally[names[static_cast<size_t>(env)]];
      succeeded += record.One<uint8_t>("success", env);
      ++of;
      ++done;
    }
  }
  return tally;
}

std::pair<int, int> Sum(const std::map<std::string, std::pair<int, int>>& tally) {
  std::pair<int, int> sum{0, 0};
  for (const auto& [name, counts] : tally) {
    sum.first += counts.first;
    sum.second += counts.second;
  }
  return sum;
}

TEST(Reach, PolicyThatKnowsTheObjectReachesEveryTrainingObject) {
  const auto tally = Play(500, [](const std::vector<float>& object) { return object; });
  EXPECT_EQ(tally.size(), 20u);
  for (const auto& [name, counts] : tally) {
    std::printf("  %-16s %d of %d\n", name.c_str(), counts.first, counts.second);
    EXPECT_GE(counts.first, counts.second - 1) << name;
  }
  const auto [succeeded, of] = Sum(tally);
  EXPECT_GE(succeeded, 0.99 * of);
}

TEST(Reach, PolicyThatKnowsNothingRarelySucceeds) {
  const TaskConfig task;
  const auto [succeeded, of] = Sum(Play(480, [&](const std::vector<float>&) {
    return std::vector<float>{static_cast<float>(task.spawn_center[0]), static_cast<float>(task.spawn_center[1]),
                              0.28f};
  }));
  EXPECT_LT(succeeded, 0.10 * of);
}

}  // namespace
}  // namespace gripstream
