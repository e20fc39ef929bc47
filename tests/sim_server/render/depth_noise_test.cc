// Tests sim_server/render/depth_noise.h.
#include "sim_server/render/depth_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/error.h"
#include "sim_server/render/config.h"

namespace gripstream {
namespace {

constexpr int kWidth = 64, kHeight = 48;
constexpr size_t kPixels = size_t{kWidth} * kHeight;
const Projection kProjection = {60, 60, 32, 24};

// Nothing but what a test switches on.
DepthNoiseConfig Quiet() {
  DepthNoiseConfig config;
  config.enabled = true;
  config.jitter_px = config.disparity_sigma = config.disparity_step = config.normal_sigma_m = 0;
  config.dropout = config.speckle = config.edge_dropout = config.stick = 0;
  return config;
}

std::vector<uint16_t> Apply(const DepthNoiseConfig& config, std::vector<uint16_t> depth, uint64_t seed = 1,
                            int threads = 1, uint32_t env = 0, uint64_t step = 0) {
  const size_t count = depth.size() / kPixels;
  std::vector<uint32_t> envs(count);
  std::iota(envs.begin(), envs.end(), env);
  const std::vector<uint64_t> steps(count, step);
  DepthNoise(config, seed, kProjection, kWidth, kHeight, threads).Apply(depth.data(), envs, steps);
  return depth;
}

std::vector<uint16_t> Wall(uint16_t depth, size_t images = 1) {
  return std::vector<uint16_t>(kPixels * images, depth);
}

double MeanOf(const std::vector<uint16_t>& depth) {
  return std::accumulate(depth.begin(), depth.end(), 0.0) / static_cast<double>(depth.size());
}
double DeviationOf(const std::vector<uint16_t>& depth) {
  const double mean = MeanOf(depth);
  double sum = 0;
  for (const uint16_t z : depth) sum += (z - mean) * (z - mean);
  return std::sqrt(sum / static_cast<double>(depth.size()));
}
double ShareOf(const std::vector<uint16_t>& depth, auto predicate) {
  return static_cast<double>(std::count_if(depth.begin(), depth.end(), predicate)) / static_cast<double>(depth.size());
}

TEST(DepthNoise, ChangesNothingWhenDisabledOrSilent) {
  EXPECT_EQ(Apply(DepthNoiseConfig{}, Wall(9000)), Wall(9000));
  EXPECT_EQ(Apply(Quiet(), Wall(9000)), Wall(9000));
}

TEST(DepthNoise, SetsWhatIsOutOfRangeToZero) {
  EXPECT_EQ(Apply(Quiet(), Wall(4999)), Wall(0));
  EXPECT_EQ(Apply(Quiet(), Wall(5001)), Wall(5001));
  EXPECT_EQ(Apply(Quiet(), Wall(13001)), Wall(0));
}

TEST(DepthNoise, DependsOnSeedEnvironmentAndStepButNotOnThreadsOrBatch) {
  const DepthNoiseConfig config = [] {
    DepthNoiseConfig c;
    c.enabled = true;
    return c;
  }();
  const std::vector<uint16_t> batch = Apply(config, Wall(9000, 5));
  EXPECT_EQ(Apply(config, Wall(9000, 5), 1, 3), batch);
  for (uint32_t env = 0; env < 5; ++env) {
    const std::vector<uint16_t> alone = Apply(config, Wall(9000), 1, 1, env);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), batch.begin() + static_cast<long>(env * kPixels))) << env;
  }
  const std::vector<uint16_t> first = Apply(config, Wall(9000));
  EXPECT_NE(Apply(config, Wall(9000), 2), first);
  EXPECT_NE(Apply(config, Wall(9000), 1, 1, 1), first);
  EXPECT_NE(Apply(config, Wall(9000), 1, 1, 0, 1), first);
}

TEST(DepthNoise, ShiftsAlongTheNormalByTheConfiguredDeviation) {
  DepthNoiseConfig config = Quiet();
  config.normal_sigma_m = 0.01;
  const std::vector<uint16_t> noisy = Apply(config, Wall(9000, 4));
  EXPECT_NEAR(MeanOf(noisy), 9000, 5);
  EXPECT_NEAR(DeviationOf(noisy), 100, 4);  // 0.01 m in quanta
}

TEST(DepthNoise, QuantisesDisparityAsAnEighthPixelSensorDoes) {
  DepthNoiseConfig config = Quiet();
  config.disparity_step = 1;
  // 351.3 / 0.93 m = 377.74 eighths of a pixel, rounded to 378: 0.92937 m.
  EXPECT_EQ(Apply(config, Wall(9300)), Wall(9294));
  config.disparity_sigma = 1;
  // One eighth at 0.93 m is 0.93^2 / 351.3 = 2.46 mm.
  EXPECT_NEAR(DeviationOf(Apply(config, Wall(9300, 4))), 24.6 * std::sqrt(1 + 1.0 / 12), 1.5);
}

TEST(DepthNoise, DropsAndSpecklesTheConfiguredShares) {
  DepthNoiseConfig config = Quiet();
  config.dropout = 0.1;
  EXPECT_NEAR(ShareOf(Apply(config, Wall(9000, 8)), [](uint16_t z) { return z == 0; }), 0.1, 0.01);
  config = Quiet();
  config.speckle = 0.02;
  config.speckle_spread = 1;
  const double share = ShareOf(Apply(config, Wall(9000, 8)), [](uint16_t z) { return z != 9000; });
  EXPECT_NEAR(share, 0.08, 0.01);  // 2x2 pixels each, few of them overlapping
}

TEST(DepthNoise, DropsEdgesMoreOftenFarAwayAndOnlyThere) {
  DepthNoiseConfig config = Quiet();
  config.edge_dropout = 1;
  const auto lost = [&](uint16_t near, uint16_t far) {
    std::vector<uint16_t> step = Wall(near, 16);
    for (size_t i = 0; i < step.size(); ++i) step[i] = i % kWidth < 32 ? near : far;
    const std::vector<uint16_t> noisy = Apply(config, step);
    int edge = 0;
    for (size_t i = 0; i < noisy.size(); ++i) {
      const bool beside = i % kWidth == 31 || i % kWidth == 32;
      if (!beside) {
        EXPECT_EQ(noisy[i], step[i]);
      }
      edge += beside && noisy[i] == 0;
    }
    return edge / (2.0 * kHeight * 16);
  };
  EXPECT_NEAR(lost(6000, 6500), 0.48, 0.05);
  EXPECT_NEAR(lost(11500, 12000), 0.90, 0.05);
}

TEST(DepthNoise, DrawsSticksOfConstantDepth) {
  DepthNoiseConfig config = Quiet();
  config.stick = 0.0005;
  const std::vector<uint16_t> noisy = Apply(config, Wall(9000, 8));
  const double share = ShareOf(noisy, [](uint16_t z) { return z != 9000; });
  EXPECT_GT(share, 0.0005 * 5);
  EXPECT_LT(share, 0.0005 * 54);
  // Pixels of a stick have neighbours of the same odd depth.
  int lonely = 0, odd = 0;
  for (size_t i = kWidth + 1; i + kWidth + 1 < kPixels; ++i) {
    if (noisy[i] == 9000) continue;
    ++odd;
    int same = 0;
    for (const int step : {1, -1, kWidth, -kWidth, kWidth + 1, kWidth - 1, -kWidth + 1, -kWidth - 1}) {
      same += noisy[static_cast<size_t>(static_cast<long>(i) + step)] == noisy[i];
    }
    lonely += same == 0;
  }
  EXPECT_LE(lonely, odd / 5);
}

TEST(DepthNoise, JitterMovesDepthOfASlopeButNotOfAWall) {
  DepthNoiseConfig config = Quiet();
  config.jitter_px = 0.5;
  EXPECT_EQ(Apply(config, Wall(9000)), Wall(9000));
  std::vector<uint16_t> slope = Wall(0, 4);
  for (size_t i = 0; i < slope.size(); ++i) slope[i] = static_cast<uint16_t>(7000 + 50 * (i % kWidth));
  const std::vector<uint16_t> noisy = Apply(config, slope);
  double sum = 0;
  int count = 0;
  for (size_t i = 0; i < slope.size(); ++i) {
    if (i % kWidth < 3 || i % kWidth > 60) continue;
    sum += std::pow(noisy[i] - slope[i], 2);
    ++count;
  }
  EXPECT_NEAR(std::sqrt(sum / count), 25, 1.5);  // half a pixel of 50 quanta
}

TEST(DepthNoise, RefusesAnEmptyRange) {
  DepthNoiseConfig config = Quiet();
  config.min_range_m = 2;
  EXPECT_THROW(DepthNoise(config, 1, kProjection, kWidth, kHeight, 1), InputError);
}

// A slope with a step, a hole and noise of every kind, of a size that is no multiple of any strip.
std::vector<uint16_t> Bumpy(int width, int height) {
  std::vector<uint16_t> depth(static_cast<size_t>(width) * height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool hole = x / 5 == 3 && y / 5 == 2;
      depth[static_cast<size_t>(y) * width + x] =
          static_cast<uint16_t>(hole ? 0 : (x > width / 2 ? 9000 : 6000) + 20 * x + 35 * y);
    }
  }
  return depth;
}

TEST(DepthNoise, GivesTheSameBitsOnEveryInstructionSet) {
  for (const auto& [width, height] : {std::pair{75, 50}, {16, 3}, {1, 1}, {3, 40}}) {
    for (const double jitter : {0.5, 10.0}) {
      DepthNoiseConfig config;
      config.enabled = true;
      config.jitter_px = jitter;
      config.stick = config.speckle = 0.01;
      const uint32_t env = 7;
      const uint64_t step = 123456789012;
      std::vector<uint16_t> expected;
      for (const RenderKernels& kernels : AvailableKernels()) {
        std::vector<uint16_t> depth = Bumpy(width, height);
        DepthNoise(config, 3, kProjection, width, height, 1, kernels).Apply(depth.data(), {&env, 1}, {&step, 1});
        if (expected.empty()) expected = depth;
        EXPECT_EQ(depth, expected) << kernels.name << " " << width << "x" << height;
      }
      EXPECT_NE(expected, Bumpy(width, height));
    }
  }
}

TEST(DepthNoise, OfNeighboursOrOfSuccessiveStepsIsNotCorrelated) {
  DepthNoiseConfig config = Quiet();
  config.normal_sigma_m = 0.01;
  const std::vector<uint16_t> a = Apply(config, Wall(9000, 4)), b = Apply(config, Wall(9000, 4), 1, 1, 0, 1);
  const auto correlation = [&](size_t offset, const std::vector<uint16_t>& other) {
    double sum = 0;
    for (size_t i = 0; i + offset < a.size(); ++i) sum += (a[i] - 9000.0) * (other[i + offset] - 9000.0);
    return sum / static_cast<double>(a.size()) / (100.0 * 100.0);
  };
  EXPECT_NEAR(correlation(0, a), 1, 0.05);
  for (const size_t offset : {size_t{1}, size_t{kWidth}, kPixels}) EXPECT_NEAR(correlation(offset, a), 0, 0.04);
  EXPECT_NEAR(correlation(0, b), 0, 0.04);
}

TEST(DepthNoise, ShiftsLessAlongTheAxisWhereTheSurfaceIsSlanted) {
  // Seen under 60 degrees from its normal: half of the shift goes along the axis.
  DepthNoiseConfig config = Quiet();
  config.normal_sigma_m = 0.002, config.edge_m = 1;
  std::vector<uint16_t> slope = Wall(0, 4);
  const auto depth_at = [](size_t i) {
    const double ray = (static_cast<double>(i % kWidth) + 0.5 - 32) / 60;
    return 8000 / (1 - std::sqrt(3.0) * ray);  // the plane z - sqrt(3) x = 0.8 m
  };
  for (size_t i = 0; i < slope.size(); ++i) slope[i] = static_cast<uint16_t>(std::clamp(depth_at(i), 5000.0, 13000.0));
  const std::vector<uint16_t> noisy = Apply(config, slope);
  double sum = 0;
  int count = 0;
  for (size_t i = 0; i < slope.size(); ++i) {
    if (i % kWidth < 30 || i % kWidth > 33) continue;
    sum += std::pow(noisy[i] - slope[i], 2), ++count;
  }
  EXPECT_NEAR(std::sqrt(sum / count), 10, 0.7);  // of 20 quanta
}

}  // namespace
}  // namespace gripstream
