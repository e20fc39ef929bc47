// Tests replay/rollout.h.
#include "replay/rollout.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/error.h"

namespace gripstream {
namespace {

std::vector<TensorSpec> Specs() {
  return {{"obs.depth", DType::kUint16, {3, 4}, "m", 1e-4},
          {"reward", DType::kFloat32, {}, "", 1.0},
          {"done", DType::kUint8, {}, "", 1.0},
          {"env_id", DType::kUint32, {}, "", 1.0}};
}

TEST(RolloutStore, KeepsTheTypesAndShapesOfTheSpecs) {
  const RolloutStore store(Specs(), 5, 7, 2);
  EXPECT_EQ(store.Record("obs.depth").sizes(), (std::vector<int64_t>{6, 7, 3, 4}));
  EXPECT_EQ(store.Record("obs.depth").scalar_type(), torch::kUInt16);
  EXPECT_EQ(store.Record("reward").sizes(), (std::vector<int64_t>{6, 7}));
  EXPECT_EQ(store.Record("env_id").scalar_type(), torch::kUInt32);
  EXPECT_EQ(store.AfterAction("done").sizes(), (std::vector<int64_t>{5, 7}));
  EXPECT_EQ(store.Action().sizes(), (std::vector<int64_t>{5, 7, 2}));
  EXPECT_EQ(store.Value().sizes(), (std::vector<int64_t>{6, 7}));
}

TEST(RolloutStore, TakesARecordsBytesWhereTheyBelong) {
  RolloutStore store(Specs(), 2, 4, 1);
  std::vector<uint16_t> images(2 * 12);
  for (size_t i = 0; i < images.size(); ++i) images[i] = static_cast<uint16_t>(60000 + i);
  const std::span<std::byte> slice = store.Slice("obs.depth", 1, 2, 2);
  ASSERT_EQ(slice.size(), images.size() * sizeof(uint16_t));
  std::memcpy(slice.data(), images.data(), slice.size());
  const torch::Tensor depth = store.Record("obs.depth").to(torch::kInt32);
  EXPECT_EQ(depth.index({1, 2, 0, 0}).item<int>(), 60000);
  EXPECT_EQ(depth.index({1, 3, 2, 3}).item<int>(), 60023);
  EXPECT_EQ(depth.sum().item<int64_t>(), 24 * 60000 + 23 * 12);  // and nowhere else
}

TEST(RolloutStore, HoldsWhatItsArithmeticSays) {
  for (const ImageStorage images : {ImageStorage::kAsRecorded, ImageStorage::kFloat32}) {
    const RolloutStore store(Specs(), 5, 7, 2, {}, images);
    EXPECT_EQ(store.Bytes(), 7 * RolloutBytes(Specs(), 5, 2, images));
  }
  // 6 rows of 12 pixels, a reward, a done and an id; 5 of three actions of two; 5 likelihoods and versions, 6 values.
  EXPECT_EQ(RolloutBytes(Specs(), 5, 2, ImageStorage::kAsRecorded), 6u * (24 + 4 + 1 + 4) + 5 * 24 + 5 * 8 + 4 * 11);
}

TEST(RolloutStore, PutsABlockAsItIsOrWidened) {
  std::vector<uint16_t> images(2 * 12);
  for (size_t i = 0; i < images.size(); ++i) images[i] = static_cast<uint16_t>(60000 + i);
  RolloutStore compact(Specs(), 2, 4, 1), wide(Specs(), 2, 4, 1, {}, ImageStorage::kFloat32);
  compact.Put(0, 1, 2, 2, std::as_bytes(std::span(images)));
  wide.Put(0, 1, 2, 2, std::as_bytes(std::span(images)));
  EXPECT_EQ(wide.Record("obs.depth").scalar_type(), torch::kFloat32);
  EXPECT_TRUE(at::equal(compact.Record("obs.depth").to(torch::kFloat32), wide.Record("obs.depth")));
  EXPECT_EQ(wide.Record("obs.depth").index({1, 3, 2, 3}).item<float>(), 60023.0f);
  EXPECT_THROW(compact.Put(0, 1, 2, 1, std::as_bytes(std::span(images))), InternalError);
  EXPECT_THROW(wide.Put(0, 1, 2, 1, std::as_bytes(std::span(images))), InternalError);
}

TEST(RolloutStore, SlicesOfAllEnvironmentsTileTheTensor) {
  RolloutStore store(Specs(), 1, 5, 1);
  std::byte* begin = store.Slice("reward", 0, 0, 5).data();
  EXPECT_EQ(store.Slice("reward", 0, 3, 2).data(), begin + 3 * sizeof(float));
  EXPECT_EQ(store.Slice("reward", 1, 0, 5).data(), begin + 5 * sizeof(float));
  EXPECT_EQ(store.Slice(1, 0, 0, 5).data(), begin);
}

TEST(RolloutStore, AfterActionIsTheRowThatTheActionBrought) {
  RolloutStore store(Specs(), 3, 1, 1);
  for (int t = 0; t <= 3; ++t) *reinterpret_cast<float*>(store.Slice("reward", t, 0, 1).data()) = static_cast<float>(t);
  EXPECT_EQ(store.AfterAction("reward")[0].item<float>(), 1.0f);
  EXPECT_EQ(store.AfterAction("reward")[2].item<float>(), 3.0f);
}

TEST(RolloutStore, BeginAfterMakesTheLastRowTheFirst) {
  RolloutStore store(Specs(), 3, 2, 1);
  store.Slice("done", 3, 1, 1)[0] = std::byte{2};
  store.BeginAfter(store);
  EXPECT_EQ(store.Step("done", 0)[1].item<int>(), 2);
  EXPECT_EQ(store.Step("done", 0)[0].item<int>(), 0);
}

TEST(RolloutStore, HoldsWhatTheLayoutsArithmeticSays) {
  const size_t record = 12 * 2 + 4 + 1 + 4;                   // bytes per environment and row
  const size_t policy = 5 * 7 * (3 * 2 + 1) * 4 + 6 * 7 * 4;  // action, mean, log_std, log_prob, value
  const size_t versions = 5 * 7 * 8;
  EXPECT_EQ(RolloutStore(Specs(), 5, 7, 2).Bytes(), 6 * 7 * record + policy + versions);
  const size_t memory = 4 * 7 * 11 * 4;  // before steps 0 and 3, after the last, and between
  const size_t one_row = 7 * record + 7 * (3 * 2 + 1 + 1) * 4 + 7 * 8;  // one step more
  EXPECT_EQ(RolloutStore(Specs(), 6, 7, 2, {11, 3}).Bytes(), 6 * 7 * record + policy + versions + one_row + memory);
}

TEST(RolloutStore, RefusesWhatIsNotThere) {
  RolloutStore store(Specs(), 2, 4, 1);
  EXPECT_THROW(store.Record("obs.rgb"), InternalError);
  EXPECT_THROW(store.Slice("reward", 3, 0, 1), InternalError);
  EXPECT_THROW(store.Slice("reward", 0, 3, 2), InternalError);
  EXPECT_THROW(store.Slice("reward", -1, 0, 1), InternalError);
  std::vector<TensorSpec> twice = Specs();
  twice.push_back(twice[1]);
  EXPECT_THROW(RolloutStore(twice, 2, 4, 1), InternalError);
}

}  // namespace
}  // namespace gripstream
