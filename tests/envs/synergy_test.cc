// Tests envs/synergy_fit.h, and control/synergy_table.h by the files of envs/action_files.h.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "envs/action_files.h"
#include "envs/synergy_fit.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

TEST(SynergyFit, GeneratorReproducesTheShippedTable) {
  const SynergyTable shipped = ReadSynergyTable("", 16);
  SynergyFitOptions options;
  options.seed = shipped.seed;
  const SynergyTable again = FitSynergies(TaskConfig(), options);
  ASSERT_EQ(again.Count(), 5);
  EXPECT_EQ(again.postures, shipped.postures);
  for (size_t i = 0; i < shipped.directions.size(); ++i)
    EXPECT_NEAR(again.directions[i], shipped.directions[i], 1e-3) << i;
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(again.low[i], shipped.low[i], 1e-2);
    EXPECT_NEAR(again.high[i], shipped.high[i], 1e-2);
  }
}

TEST(SynergyFit, AnotherSeedGivesAnotherTableOfNearlyTheSameSpan) {
  TaskConfig task;
  task.objects = {"cube_50", "sphere_60"};
  SynergyFitOptions options;
  options.trials = 30;
  const SynergyTable a = FitSynergies(task, options);
  options.seed = 2;
  const SynergyTable b = FitSynergies(task, options);
  EXPECT_NE(a.directions, b.directions);
  double overlap = 0;  // 5 for equal spans, 25 / 16 expected of random ones
  for (size_t r = 0; r < 5; ++r) {
    for (size_t s = 0; s < 5; ++s) {
      double dot = 0;
      for (size_t j = 0; j < 16; ++j) dot += a.directions[r * 16 + j] * b.directions[s * 16 + j];
      overlap += dot * dot;
    }
  }
  EXPECT_GT(overlap, 4);
}

TEST(SynergyFit, DirectionsAreOrthonormalAndOrderedByWhatTheyHold) {
  const SynergyTable table = ReadSynergyTable("", 16);
  for (size_t r = 0; r < 5; ++r) {
    for (size_t s = 0; s <= r; ++s) {
      double dot = 0;
      for (size_t j = 0; j < 16; ++j) dot += table.directions[r * 16 + j] * table.directions[s * 16 + j];
      EXPECT_NEAR(dot, r == s ? 1 : 0, 1e-5);
    }
    EXPECT_LT(table.low[r], table.high[r]);
  }
  EXPECT_GT(table.share, 0.8);
}

TEST(SynergyFit, EigenvectorsSatisfyTheirEquation) {
  constexpr size_t n = 6;
  Rng rng = RandomStream(5, "matrix").At(0, 0);
  std::vector<double> matrix(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) matrix[i * n + j] = matrix[j * n + i] = rng.Normal();
  }
  std::vector<double> values;
  const std::vector<double> v = SymmetricEigenvectors(matrix, n, values);
  for (size_t row = 0; row < n; ++row) {
    for (size_t i = 0; i < n; ++i) {
      double product = 0;
      for (size_t j = 0; j < n; ++j) product += matrix[i * n + j] * v[row * n + j];
      EXPECT_NEAR(product, values[row] * v[row * n + i], 1e-10);
    }
    EXPECT_TRUE(row == 0 || values[row - 1] >= values[row]);
  }
}

TEST(SynergyTable, TextReadsBackToTheSameNumbers) {
  const SynergyTable table = ReadSynergyTable("", 16);
  const SynergyTable back = ReadSynergyTable(testing::TemporaryFile("synergies.yaml", table.ToText()), 16);
  EXPECT_EQ(ToYaml(back), ToYaml(table));
}

TEST(SynergyTable, FilesThatDoNotFitTheHandAreRefused) {
  const std::string wrong = testing::TemporaryFile("wrong.yaml", "joints: 16\ndirections: [1, 2, 3]\n");
  EXPECT_THROW(ReadSynergyTable(wrong, 16), InputError);
  EXPECT_THROW(ReadSynergyTable("", 12), InputError);
  const std::string ranges = testing::TemporaryFile("ranges.yaml", "joints: 2\ndirections: [1, 0]\nlow: [0, 1]\n");
  EXPECT_THROW(ReadSynergyTable(ranges, 2), InputError);
  EXPECT_EQ(ReadSynergyTable("", 0).Count(), 0);
}

TEST(SynergyFit, PosturesThatDoNotFitTheHandAreRefused) {
  SynergyFitOptions options;
  options.open.pop_back();
  EXPECT_THROW(FitSynergies(testing::SmallTask(), options), InputError);
  options = {};
  options.components = 17;
  EXPECT_THROW(FitSynergies(testing::SmallTask(), options), InputError);
}

}  // namespace
}  // namespace gripstream
