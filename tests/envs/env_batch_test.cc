// Tests envs/env_batch.h: records, resets, random streams, grouping.
#include "envs/env_batch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using testing::MakeBatch;
using testing::Record;
using testing::SmallTask;
using testing::StepRandomly;

ResetRequest Eval(uint64_t seed, uint32_t total_envs, bool held_out = false) {
  return {.mode = ResetRequest::Mode::kEval, .eval_seed = seed, .total_envs = total_envs, .held_out = held_out};
}

TEST(EnvBatch, RecordHoldsTheTensorsThatTheLearnerReliesOn) {
  const auto envs = MakeBatch(SmallTask(), 2);
  std::set<std::string> names;
  for (const TensorSpec& spec : envs->RecordSpecs()) names.insert(spec.name);
  const std::set<std::string> expected = {"obs.proprio",  "state",        "final_state", "aux.object_position",
                                          "reward",       "reward_terms", "done",        "success",
                                          "episode_step", "episode",      "env_id",      "object_id",   "metrics"};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(envs->ActionSpec().shape, std::vector<int>{3});
  EXPECT_EQ(envs->EpisodeSteps(), 12);
}

TEST(EnvBatch, ActionsBeyondTheRangeCountAsItsEnds) {
  const auto beyond = MakeBatch(SmallTask(), 2), ends = MakeBatch(SmallTask(), 2);
  beyond->Reset({});
  ends->Reset({});
  beyond->Step(std::vector<float>{7, -7, 1, -1, 1e9f, 0}.data());
  ends->Step(std::vector<float>{1, -1, 1, -1, 1, 0}.data());
  EXPECT_EQ(Record(*beyond).Bytes(0), Record(*ends).Bytes(0));
  EXPECT_EQ(Record(*beyond).Bytes(1), Record(*ends).Bytes(1));
}

TEST(EnvBatch, EpisodeEndsOnTimeAndTheNextObservationBelongsToTheNewOne) {
  const auto envs = MakeBatch(SmallTask(), 3);
  envs->Reset({});
  Record record(*envs);
  std::vector<std::vector<float>> first_object;
  for (int env = 0; env < 3; ++env) first_object.push_back(record.Get<float>("aux.object_position", env));
  for (int step = 0; step < 12; ++step) {
    for (int env = 0; env < 3; ++env) {
      EXPECT_EQ(record.One<uint32_t>("episode_step", env), static_cast<uint32_t>(step));
      EXPECT_EQ(record.One<uint8_t>("done", env), 0);
      EXPECT_EQ(record.Get<float>("final_state", env), std::vector<float>(66, 0.0f));
    }
    StepRandomly(*envs, 0, step);
    record.Read();
  }
  for (int env = 0; env < 3; ++env) {
    EXPECT_EQ(record.One<uint8_t>("done", env), static_cast<uint8_t>(DoneKind::kTimedOut));
    EXPECT_EQ(record.One<uint32_t>("episode_step", env), 0u);
    EXPECT_EQ(record.One<uint32_t>("episode", env), 1u);
    EXPECT_NE(record.Get<float>("aux.object_position", env), first_object[static_cast<size_t>(env)]);
    // `state` tells of the start of the new episode, `final_state` of the end of the old one.
    const std::vector<float> now = record.Get<float>("state", env), last = record.Get<float>("final_state", env);
    EXPECT_EQ(now.back(), 1.0f);
    EXPECT_EQ(last.back(), 0.0f);
    // The renderer's poses too: the object's first geom sits where the new observation says.
    const mjModel* model = envs->Model(env);
    const int body = mj_name2id(model, mjOBJ_BODY, "object");
    const std::vector<float> position = record.Get<float>("aux.object_position", env);
    const mjtNum* geom = envs->GeomXpos(env) + 3 * model->body_geomadr[body];
    EXPECT_LT(std::hypot(geom[0] - static_cast<double>(position[0]), geom[1] - static_cast<double>(position[1])), 0.05);
  }
}

TEST(EnvBatch, EnvironmentsHoldDifferentObjectsThatAreReallyDifferent) {
  const auto envs = MakeBatch(SmallTask(), 4);
  envs->Reset({});
  const Record record(*envs);
  std::set<int32_t> ids;
  std::set<double> masses;
  for (int env = 0; env < 3; ++env) {
    ids.insert(record.One<int32_t>("object_id", env));
    const mjModel* model = envs->Model(env);
    masses.insert(model->body_mass[mj_name2id(model, mjOBJ_BODY, "object")]);
  }
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(masses.size(), 3u);
  EXPECT_EQ(envs->Model(0), envs->Model(3));  // three objects, shared in turn
  EXPECT_EQ(envs->DistinctModels().size(), 4u);
}

TEST(EnvBatch, StartsDifferBetweenEnvironmentsEpisodesAndSeedsAndOnlyBetweenThose) {
  const auto envs = MakeBatch(SmallTask(), 4, 5), same = MakeBatch(SmallTask(), 4, 5),
             other = MakeBatch(SmallTask(), 4, 6);
  for (EnvBatch* batch : {envs.get(), same.get(), other.get()}) batch->Reset({});
  std::set<std::vector<float>> starts;
  for (int env = 0; env < 4; ++env) {
    EXPECT_EQ(Record(*envs).Bytes(env), Record(*same).Bytes(env));
    EXPECT_NE(Record(*envs).Get<float>("state", env), Record(*other).Get<float>("state", env));
    starts.insert(Record(*envs).Get<float>("aux.object_position", env));
  }
  envs->Reset({.first_episode = 1});
  for (int env = 0; env < 4; ++env) starts.insert(Record(*envs).Get<float>("aux.object_position", env));
  EXPECT_EQ(starts.size(), 8u);
}

// How long each environment's episodes are that end within `steps`.
std::vector<std::vector<uint32_t>> Lengths(EnvBatch& envs, int steps) {
  std::vector<std::vector<uint32_t>> lengths(static_cast<size_t>(envs.Envs()));
  std::vector<uint32_t> running(lengths.size());
  for (int step = 0; step < steps; ++step) {
    testing::StepRandomly(envs, 0, step);
    const Record record(envs);
    for (size_t env = 0; env < lengths.size(); ++env) {
      ++running[env];
      if (record.One<uint8_t>("done", static_cast<int>(env)) == 0) continue;
      lengths[env].push_back(running[env]);
      running[env] = 0;
    }
  }
  return lengths;
}

TEST(EnvBatch, StaggeredFirstEpisodesEndOneByOneAndTheLaterOnesAreWhole) {
  TaskConfig task = SmallTask();
  task.stagger = true;
  const auto envs = MakeBatch(task, 16);
  envs->Reset({});
  std::set<uint32_t> first;
  for (const std::vector<uint32_t>& lengths : Lengths(*envs, 24)) {
    ASSERT_GE(lengths.size(), 1u);
    EXPECT_LE(lengths[0], 12u);
    first.insert(lengths[0]);
    for (size_t i = 1; i < lengths.size(); ++i) EXPECT_EQ(lengths[i], 12u);
  }
  EXPECT_GT(first.size(), 5u) << "of 12 lengths, drawn 16 times";
}

TEST(EnvBatch, EvaluationsAreNeverStaggered) {
  TaskConfig task = SmallTask();
  task.stagger = true;
  const auto envs = MakeBatch(task, 4);
  envs->Reset(Eval(99, 4));
  for (const std::vector<uint32_t>& lengths : Lengths(*envs, 12)) EXPECT_EQ(lengths, std::vector<uint32_t>{12});
}

TEST(EnvBatch, SpawnsFillTheAreaEvenly) {
  TaskConfig task = SmallTask();
  const auto envs = MakeBatch(task, 400);
  envs->Reset({});
  const Record record(*envs);
  double sum_x = 0, sum_y = 0;
  int left_front = 0;
  for (int env = 0; env < 400; ++env) {
    const std::vector<float> p = record.Get<float>("aux.object_position", env);
    EXPECT_LE(std::abs(static_cast<double>(p[0]) + 0.55), 0.15 + 1e-6);
    EXPECT_LE(std::abs(static_cast<double>(p[1]) - 0.1), 0.2 + 1e-6);
    sum_x += static_cast<double>(p[0]);
    sum_y += static_cast<double>(p[1]);
    left_front += p[0] < -0.55f && p[1] < 0.1f ? 1 : 0;
  }
  // Four standard errors of a uniform mean, and of a share of a quarter.
  EXPECT_NEAR(sum_x / 400, -0.55, 4 * 0.3 / std::sqrt(12.0 * 400));
  EXPECT_NEAR(sum_y / 400, 0.1, 4 * 0.4 / std::sqrt(12.0 * 400));
  EXPECT_NEAR(left_front / 400.0, 0.25, 4 * std::sqrt(0.25 * 0.75 / 400));
}

TEST(EnvBatch, SplittingTheEnvironmentsOverProcessesChangesNoBit) {
  const auto whole = MakeBatch(SmallTask(), 5), left = MakeBatch(SmallTask(), 2, 5, 0, 1),
             right = MakeBatch(SmallTask(), 3, 5, 2, 1);
  for (EnvBatch* batch : {whole.get(), left.get(), right.get()}) batch->Reset({});
  for (int step = 0; step < 30; ++step) {
    StepRandomly(*whole, 0, step);
    StepRandomly(*left, 0, step);
    StepRandomly(*right, 2, step);
  }
  for (int env = 0; env < 5; ++env)
    EXPECT_EQ(Record(*whole).Bytes(env), env < 2 ? Record(*left).Bytes(env) : Record(*right).Bytes(env - 2)) << env;
}

class EveryTask : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(EnvBatch, EveryTask, ::testing::ValuesIn(TaskNames()),
                         [](const auto& one) { return one.param; });

TEST_P(EveryTask, SameSeedGivesTheSameTrajectoryOverThousandStepsAtOneTwoAndFourThreads) {
  TaskConfig task = SmallTask();
  task.name = GetParam();
  task.decimation = 2;
  if (task.name != "reach") task.action.map = "fabric";
  task.randomise.enabled = true;
  task.curriculum.start = task.curriculum.levels;
  const auto hash = [&](int threads) {
    const auto envs = MakeBatch(task, 5, 5, 0, threads);
    envs->Reset({});
    Record record(*envs);
    uint64_t sum = 0;
    for (int step = 0; step < 1000; ++step) {
      StepRandomly(*envs, 0, step);
      record.Read();
      for (int env = 0; env < 5; ++env) {
        const std::vector<std::byte> bytes = record.Bytes(env);
        sum = MixBits(sum ^ HashName({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
      }
    }
    return sum;
  };
  const uint64_t one = hash(1);
  EXPECT_EQ(hash(2), one);
  EXPECT_EQ(hash(4), one);
}

TEST(EnvBatch, EvaluationSetIsTheSameForAnyNumberOfEnvironments) {
  const auto starts = [](int n) {
    const auto envs = MakeBatch(SmallTask(), n, 5);
    envs->Reset(Eval(99, static_cast<uint32_t>(n)));
    std::vector<std::vector<float>> by_episode(12);
    std::vector<int32_t> objects(12, -1);
    Record record(*envs);
    for (int step = 0; step < 12 * 12; ++step) {
      for (int env = 0; env < n; ++env) {
        const uint32_t episode = record.One<uint32_t>("episode", env);
        if (episode >= 12 || record.One<uint32_t>("episode_step", env) != 0) continue;
        by_episode[episode] = record.Get<float>("state", env);
        objects[episode] = record.One<int32_t>("object_id", env);
      }
      StepRandomly(*envs, 0, step);
      record.Read();
    }
    return std::pair(by_episode, objects);
  };
  const auto one = starts(1), four = starts(4);
  EXPECT_EQ(one, four);
  EXPECT_EQ(std::set<std::vector<float>>(one.first.begin(), one.first.end()).size(), 12u);
  EXPECT_EQ(std::set<int32_t>(one.second.begin(), one.second.end()).size(), 3u);
}

TEST(EnvBatch, EvaluationDoesNotDependOnTheRunsSeedButOnItsOwn) {
  const auto a = MakeBatch(SmallTask(), 2, 5), b = MakeBatch(SmallTask(), 2, 6);
  a->Reset(Eval(99, 2));
  b->Reset(Eval(99, 2));
  EXPECT_EQ(Record(*a).Get<float>("state", 0), Record(*b).Get<float>("state", 0));
  b->Reset(Eval(98, 2));
  EXPECT_NE(Record(*a).Get<float>("state", 0), Record(*b).Get<float>("state", 0));
}

TEST(EnvBatch, HeldOutObjectsAppearInHeldOutEvaluationOnly) {
  const auto envs = MakeBatch(SmallTask(), 3);
  envs->Reset({});
  for (int env = 0; env < 3; ++env) EXPECT_NE(envs->Object(env).name, "mug");
  envs->Reset(Eval(1, 3));
  for (int env = 0; env < 3; ++env) EXPECT_NE(envs->Object(env).name, "mug");
  envs->Reset(Eval(1, 3, true));
  for (int env = 0; env < 3; ++env) EXPECT_EQ(envs->Object(env).name, "mug");
}

TEST(EnvBatch, ResetAfterEvaluationRestartsTraining) {
  const auto envs = MakeBatch(SmallTask(), 2), fresh = MakeBatch(SmallTask(), 2);
  envs->Reset(Eval(1, 2, true));
  StepRandomly(*envs, 0, 0);
  envs->Reset({.first_episode = 4});
  fresh->Reset({.first_episode = 4});
  EXPECT_EQ(Record(*envs).Bytes(0), Record(*fresh).Bytes(0));
}

TEST(EnvBatch, PlacedObjectRestsStably) {
  TaskConfig task;  // every training object
  const auto envs = MakeBatch(task, 20);
  envs->Reset({});
  Record record(*envs);
  std::vector<std::vector<float>> before;
  for (int env = 0; env < 20; ++env) before.push_back(record.Get<float>("aux.object_position", env));
  // The hand goes to the far corner; whatever it cannot touch must not have moved.
  std::vector<float> actions;
  for (int env = 0; env < 20; ++env) actions.insert(actions.end(), {1, -1, 1});
  for (int step = 0; step < 6; ++step) envs->Step(actions.data());
  record.Read();
  for (int env = 0; env < 20; ++env) {
    const std::vector<float> a = before[static_cast<size_t>(env)], b = record.Get<float>("aux.object_position", env);
    if (a[1] < 0.15f) continue;
    EXPECT_LT(std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]), 2e-3f) << envs->Object(env).name;
  }
}

}  // namespace
}  // namespace gripstream
