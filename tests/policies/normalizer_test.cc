// Tests policies/normalizer.h and policies/image_normalizer.h.
#include "policies/normalizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "policies/image_normalizer.h"
#include "policies/initialise.h"

namespace gripstream {
namespace {

torch::Tensor Rows(int64_t rows, int64_t features, uint64_t seed) {
  return NormalTensor(RandomStream(seed, "normalizer test").At(0, 0), {rows, features}, 2.0) + 3.0;
}

TEST(Normalizer, FindsMeanAndDeviationOfAllRowsSeen) {
  const torch::Tensor rows = Rows(1000, 3, 1).contiguous();
  Normalizer normalizer(3, 5.0);
  normalizer.Update(rows.narrow(0, 0, 10));
  normalizer.Update(rows.narrow(0, 10, 700));
  normalizer.Update(rows.narrow(0, 710, 290));
  const torch::Tensor mean = rows.to(torch::kFloat64).mean(0), std = rows.to(torch::kFloat64).std(0, false);
  EXPECT_EQ(normalizer.Count(), 1000.0);
  for (int f = 0; f < 3; ++f) {
    EXPECT_NEAR(normalizer.Mean()[static_cast<size_t>(f)], mean[f].item<double>(), 1e-12);
    EXPECT_NEAR(normalizer.Deviation()[static_cast<size_t>(f)], std[f].item<double>(), 1e-12);
  }
}

TEST(Normalizer, ResultHasMeanZeroAndDeviationOneAndIsClipped) {
  const torch::Tensor rows = Rows(5000, 2, 2).contiguous();
  Normalizer normalizer(2, 1.5);
  normalizer.Update(rows);
  const torch::Tensor clipped = normalizer.Normalise(rows);
  EXPECT_FLOAT_EQ(clipped.max().item<float>(), 1.5f);
  EXPECT_FLOAT_EQ(clipped.min().item<float>(), -1.5f);
  Normalizer wide(2, 100.0);
  wide.Update(rows);
  const torch::Tensor normal = wide.Normalise(rows);
  EXPECT_LT(normal.mean(0).abs().max().item<float>(), 1e-5f);
  EXPECT_NEAR(normal.std(0, false).max().item<float>(), 1.0f, 1e-5f);
  EXPECT_LT((wide.Denormalise(normal) - rows).abs().max().item<float>(), 1e-5f);
}

TEST(Normalizer, LeavesARolloutsNumbersAloneUntilUpdated) {
  Normalizer normalizer(2, 5.0);
  const torch::Tensor row = at::full({1, 2}, 2.0f);
  EXPECT_TRUE(normalizer.Normalise(row).equal(row));  // nothing seen yet
}

TEST(Normalizer, AConstantFeatureBecomesZeroAndIsNotBlownUp) {
  Normalizer normalizer(1, 5.0);
  normalizer.Update(at::full({100, 1}, 7.0f));
  EXPECT_EQ(normalizer.Normalise(at::full({1, 1}, 7.0f)).item<float>(), 0.0f);
  EXPECT_NEAR(normalizer.Normalise(at::full({1, 1}, 7.001f)).item<float>(), 1.0f, 0.01f);
}

TEST(Normalizer, NoDeviationCountsAsLessThanTheLeast) {
  Normalizer normalizer(2, 5.0, 0.5);
  normalizer.Update(torch::tensor({{7.0f, 7.0f}, {7.0f, 9.0f}}));
  const torch::Tensor moved = normalizer.Normalise(torch::tensor({{8.0f, 9.0f}}));
  EXPECT_NEAR(moved[0][0].item<float>(), 2.0f, 1e-6f) << "constant so far, then off by two times the least";
  EXPECT_NEAR(moved[0][1].item<float>(), 1.0f, 1e-6f) << "its own deviation is greater";
}

TEST(Normalizer, StateCarriesEverythingTheCountIncluded) {
  const torch::Tensor rows = Rows(64, 3, 3).contiguous(), more = Rows(64, 3, 4).contiguous();
  Normalizer whole(3, 5.0), first(3, 5.0), second(3, 5.0);
  whole.Update(rows);
  first.Update(rows);
  second.SetState(first.State());
  whole.Update(more);
  second.Update(more);
  EXPECT_TRUE(second.State().equal(whole.State()));
  EXPECT_TRUE(second.Normalise(more).equal(whole.Normalise(more)));
}

TEST(Normalizer, RefusesRowsOfAnotherWidth) {
  Normalizer normalizer(3, 5.0);
  EXPECT_THROW(normalizer.Update(at::zeros({4, 2})), InternalError);
}

PolicyShapes Shapes() {
  return {.proprio = 1, .state = 1, .height_px = 2, .width_px = 3, .depth_scale_m = 1e-4, .action = 1};
}

torch::Tensor Images(int64_t count, uint64_t seed) {
  torch::Tensor images = at::empty({count, 2, 3}, torch::kUInt16);
  Rng rng = RandomStream(seed, "images").At(0, 0);
  for (int64_t i = 0; i < images.numel(); ++i) {
    static_cast<uint16_t*>(images.data_ptr())[i] = static_cast<uint16_t>(rng.Below(30000));
  }
  return images;
}

const uint16_t* Data(const torch::Tensor& images) {
  return static_cast<const uint16_t*>(images.data_ptr());
}

TEST(ImageNormalizer, RangeMapsNearAndFarToMinusAndPlusOne) {
  ImageConfig config{.near_m = 0.5, .far_m = 1.5, .normalise = "range"};
  const ImageNormalizer normalizer(config, Shapes(), 5.0);
  const uint16_t image[6] = {5000, 10000, 15000, 100, 60000, 0};  // in 0.1 mm; the last one: no hit
  const torch::Tensor result = normalizer.Range(image, 0, 1);
  EXPECT_TRUE(result.view({6}).equal(torch::Tensor(at::tensor(at::ArrayRef<float>({-1, 0, 1, -1, 1, 1})))));
}

TEST(ImageNormalizer, PerPixelEqualsMeanAndDeviationOfClampedDepths) {
  const ImageConfig config{.near_m = 0.5, .far_m = 2.0, .normalise = "per_pixel", .std_floor_m = 1e-4};
  const torch::Tensor images = Images(200, 1);
  ImageNormalizer normalizer(config, Shapes(), 100.0);
  normalizer.Update(images.narrow(0, 0, 50));
  normalizer.Update(images.narrow(0, 50, 150));
  torch::Tensor depth = images.to(torch::kFloat64);
  depth = at::where(depth == 0, 20000.0, depth).clamp(5000, 20000);
  const torch::Tensor expected = (depth - depth.mean(0)) / depth.std(0, false);
  const torch::Tensor result = normalizer.Range(Data(images), 0, 200).squeeze(1);
  EXPECT_LT((result - expected).abs().max().item<double>(), 1e-4);
}

TEST(ImageNormalizer, ABackgroundThatNeverMovesBecomesZero) {
  ImageNormalizer normalizer({}, Shapes(), 5.0);
  const torch::Tensor image = Images(1, 2);
  normalizer.Update(image.expand({30, 2, 3}).contiguous());
  EXPECT_LT(normalizer.Range(Data(image), 0, 1).abs().max().item<float>(), 1e-3f);
}

TEST(ImageNormalizer, GatherPicksTheRowsAsked) {
  const torch::Tensor images = Images(20, 3);
  ImageNormalizer normalizer({}, Shapes(), 5.0);
  normalizer.Update(images);
  const std::vector<int64_t> rows = {7, 0, 19, 7};
  const torch::Tensor gathered = normalizer.Gather(Data(images), rows), all = normalizer.Range(Data(images), 0, 20);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_TRUE(gathered[static_cast<int64_t>(i)].equal(all[rows[i]]));
}

TEST(ImageNormalizer, UpdatesInAnyOrderGiveTheSameBits) {
  const torch::Tensor images = Images(64, 4);
  ImageNormalizer forward({}, Shapes(), 5.0), backward({}, Shapes(), 5.0);
  forward.Update(images);
  backward.Update(images.to(torch::kInt32).flip(0).to(torch::kUInt16).contiguous());
  EXPECT_TRUE(forward.State().equal(backward.State()));
}

TEST(ImageNormalizer, StateCarriesEverything) {
  const torch::Tensor images = Images(10, 5), more = Images(10, 6);
  ImageNormalizer whole({}, Shapes(), 5.0), copy({}, Shapes(), 5.0);
  whole.Update(images);
  copy.SetState(whole.State());
  whole.Update(more);
  copy.Update(more);
  EXPECT_TRUE(copy.State().equal(whole.State()));
  EXPECT_TRUE(copy.Range(Data(images), 0, 10).equal(whole.Range(Data(images), 0, 10)));
}

TEST(ImageNormalizer, BlankIsAnImageWithoutAnyHit) {
  ImageNormalizer normalizer({}, Shapes(), 5.0);
  normalizer.Update(Images(50, 7));
  const std::vector<uint16_t> nothing(6, 0);
  EXPECT_TRUE(normalizer.Blank(3)[2].equal(normalizer.Range(nothing.data(), 0, 1)[0]));
}

TEST(ImageNormalizer, RefusesARangeThatIsNone) {
  EXPECT_THROW(ImageNormalizer({.near_m = 1.0, .far_m = 1.0}, Shapes(), 5.0), InputError);
  EXPECT_THROW(ImageNormalizer({.near_m = 1.0, .far_m = 50.0}, Shapes(), 5.0), InputError);  // uint16 ends at 6.55 m
}

}  // namespace
}  // namespace gripstream
