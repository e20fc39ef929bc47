// Tests replay/sampler.h.
#include "replay/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"

namespace gripstream {
namespace {

TEST(MinibatchSampler, CoversEverySampleOnce) {
  const MinibatchSampler sampler(1, 4096, 512);
  const std::vector<int64_t> order = sampler.Permutation(3, 1);
  std::vector<int64_t> seen;
  for (int64_t k = 0; k < sampler.Minibatches(); ++k) {
    const auto batch = sampler.Minibatch(order, k);
    EXPECT_EQ(batch.size(), 512u);
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  std::sort(seen.begin(), seen.end());
  for (int64_t i = 0; i < 4096; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

TEST(MinibatchSampler, DependsOnSeedIterationAndEpochAlone) {
  const MinibatchSampler sampler(1, 256, 64);
  const auto order = sampler.Permutation(2, 0);
  EXPECT_EQ(order, MinibatchSampler(1, 256, 64).Permutation(2, 0));
  EXPECT_EQ(order, MinibatchSampler(1, 256, 32).Permutation(2, 0));
  EXPECT_NE(order, MinibatchSampler(2, 256, 64).Permutation(2, 0));
  EXPECT_NE(order, sampler.Permutation(3, 0));
  EXPECT_NE(order, sampler.Permutation(2, 1));
}

TEST(MinibatchSampler, PutsASampleAnywhereEquallyOften) {
  // 6,000 permutations of 6: where 0 lands is multinomial, 1,000 expected per place, deviation 29.
  const MinibatchSampler sampler(5, 6, 6);
  std::vector<int> places(6, 0);
  for (int64_t i = 0; i < 6000; ++i) {
    const auto order = sampler.Permutation(i, 0);
    ++places[static_cast<size_t>(std::find(order.begin(), order.end(), 0) - order.begin())];
  }
  for (const int count : places) EXPECT_NEAR(count, 1000, 150);
}

TEST(MinibatchSampler, RefusesMinibatchesThatDoNotDivide) {
  EXPECT_THROW(MinibatchSampler(1, 100, 64), InternalError);
  EXPECT_THROW(MinibatchSampler(1, 100, 0), InternalError);
}

}  // namespace
}  // namespace gripstream
