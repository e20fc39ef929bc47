// Tests envs/env_batch.h: saving and loading environments.
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using testing::MakeBatch;
using testing::Record;
using testing::SmallTask;
using testing::StepRandomly;

std::vector<std::byte> Save(const EnvBatch& envs, int env) {
  std::vector<std::byte> block(envs.StateBytes());
  envs.SaveState(env, block.data());
  return block;
}

void ExpectSameFuture(EnvBatch& a, int env_a, EnvBatch& b, int env_b) {
  EXPECT_EQ(Record(a).Bytes(env_a), Record(b).Bytes(env_b));
  EXPECT_EQ(testing::StateOf(a, env_a), testing::StateOf(b, env_b));
}

TEST(EnvState, LoadedEnvironmentsContinueBitForBitThroughTheEndOfTheirEpisodes) {
  const auto original = MakeBatch(SmallTask(), 3), restored = MakeBatch(SmallTask(), 3);
  original->Reset({.first_episode = 7});
  for (int step = 0; step < 17; ++step) StepRandomly(*original, 0, step);
  for (int env = 0; env < 3; ++env) restored->LoadState(env, Save(*original, env).data());
  restored->FinishLoad();
  for (int env = 0; env < 3; ++env) ExpectSameFuture(*original, env, *restored, env);
  for (int step = 17; step < 40; ++step) {
    StepRandomly(*original, 0, step);
    StepRandomly(*restored, 0, step);
    for (int env = 0; env < 3; ++env) ExpectSameFuture(*original, env, *restored, env);
  }
}

TEST(EnvState, ImagesAfterLoadingAreOfTheLoadedState) {
  const auto original = MakeBatch(SmallTask(), 2), restored = MakeBatch(SmallTask(), 2);
  original->Reset({});
  for (int step = 0; step < 5; ++step) StepRandomly(*original, 0, step);
  for (int env = 0; env < 2; ++env) restored->LoadState(env, Save(*original, env).data());
  restored->FinishLoad();
  for (int env = 0; env < 2; ++env) {
    EXPECT_EQ(original->Object(env).name, restored->Object(env).name);
    for (int i = 0; i < 3 * static_cast<int>(original->Model(env)->ngeom); ++i)
      ASSERT_EQ(original->GeomXpos(env)[i], restored->GeomXpos(env)[i]);
  }
}

TEST(EnvState, BlocksMayBeRegroupedOverBatches) {
  const auto whole = MakeBatch(SmallTask(), 4), right = MakeBatch(SmallTask(), 2, 5, 2);
  whole->Reset({});
  for (int step = 0; step < 5; ++step) StepRandomly(*whole, 0, step);
  for (int env = 0; env < 2; ++env) right->LoadState(env, Save(*whole, env + 2).data());
  right->FinishLoad();
  for (int step = 5; step < 20; ++step) {
    StepRandomly(*whole, 0, step);
    StepRandomly(*right, 2, step);
  }
  for (int env = 0; env < 2; ++env) ExpectSameFuture(*whole, env + 2, *right, env);
}

TEST(EnvState, EvaluationContinuesAsEvaluation) {
  const auto original = MakeBatch(SmallTask(), 2), restored = MakeBatch(SmallTask(), 2);
  original->Reset({.mode = ResetRequest::Mode::kEval, .eval_seed = 3, .total_envs = 2, .held_out = true});
  for (int step = 0; step < 3; ++step) StepRandomly(*original, 0, step);
  for (int env = 0; env < 2; ++env) restored->LoadState(env, Save(*original, env).data());
  restored->FinishLoad();
  for (int step = 3; step < 30; ++step) {
    StepRandomly(*original, 0, step);
    StepRandomly(*restored, 0, step);
  }
  for (int env = 0; env < 2; ++env) ExpectSameFuture(*original, env, *restored, env);
}

TEST(EnvState, ForeignBlocksAreRefused) {
  const auto envs = MakeBatch(SmallTask(), 2);
  envs->Reset({});
  const std::vector<std::byte> good = Save(*envs, 0);
  const auto refused = [&](std::vector<std::byte> block, EnvBatch& into, int env) {
    EXPECT_THROW(into.LoadState(env, block.data()), InputError);
  };
  std::vector<std::byte> wrong_magic = good, wrong_version = good;
  wrong_magic[0] = std::byte{'X'};
  wrong_version[4] = std::byte{99};
  refused(wrong_magic, *envs, 0);
  refused(wrong_version, *envs, 0);
  refused(good, *envs, 1);                          // another environment
  refused(good, *MakeBatch(SmallTask(), 2, 6), 0);  // another seed
  TaskConfig other = SmallTask();
  other.action.map = "joint_targets";
  const auto other_envs = MakeBatch(other, 2);
  std::vector<std::byte> padded = good;
  padded.resize(std::max(good.size(), other_envs->StateBytes()));
  refused(padded, *other_envs, 0);  // another action map
}

}  // namespace
}  // namespace gripstream
