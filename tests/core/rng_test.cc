// Tests core/rng.h.
#include "core/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace gripstream {
namespace {

// The known-answer vectors published with Random123 (philox4x32, 10 rounds).
TEST(Philox, GivesThePublishedKnownAnswers) {
  const auto expect = [](PhiloxBlock counter, uint32_t key0, uint32_t key1, std::array<uint32_t, 4> wanted) {
    const PhiloxBlock got = Philox(counter, key0, key1);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(got.x[i], wanted[static_cast<size_t>(i)]);
  };
  expect({{0, 0, 0, 0}}, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(RandomStream, SameNameIndexAndStepGiveTheSameDraws) {
  Rng a = RandomStream(7, "spawn").At(3, 11), b = RandomStream(7, "spawn").At(3, 11);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.NextU32(), b.NextU32());
}

TEST(RandomStream, AnyOtherSeedNameIndexOrStepGivesOtherDraws) {
  std::set<uint64_t> first_draws;
  int sequences = 0;
  for (const uint64_t seed : {0u, 1u}) {
    for (const char* name : {"spawn", "action"}) {
      for (uint32_t index = 0; index < 50; ++index) {
        for (const uint64_t step : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32}) {
          first_draws.insert(RandomStream(seed, name).At(index, step).NextU64());
          ++sequences;
        }
      }
    }
  }
  EXPECT_EQ(first_draws.size(), static_cast<size_t>(sequences));
}

TEST(Rng, UniformStaysInRangeWithTheRightMeanAndVariance) {
  Rng rng = RandomStream(1, "test").At(0, 0);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const float x = rng.Uniform(-2.0f, 4.0f);
    ASSERT_GE(x, -2.0f);
    ASSERT_LT(x, 4.0f);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  // Five standard errors: sd of U(-2, 4) is sqrt(3).
  EXPECT_NEAR(mean, 1.0, 5 * std::sqrt(3.0 / kDraws));
  EXPECT_NEAR(squares / kDraws - mean * mean, 3.0, 0.05);
}

TEST(Rng, NormalHasUnitVarianceAndGaussianTails) {
  Rng rng = RandomStream(2, "test").At(0, 0);
  double sum = 0, squares = 0;
  int beyond_two = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const float x = rng.Normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    beyond_two += std::fabs(x) > 2.0f;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0, 0.03);
  EXPECT_NEAR(beyond_two / static_cast<double>(kDraws), 0.0455, 0.004);  // erfc(sqrt 2)
}

TEST(Rng, BelowReachesEveryValueAndNoOther) {
  Rng rng = RandomStream(3, "test").At(0, 0);
  std::set<uint32_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(rng.Below(7));
  EXPECT_EQ(seen, (std::set<uint32_t>{0, 1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace gripstream
