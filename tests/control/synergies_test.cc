// Tests control/synergies.h.
#include "control/synergies.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/error.h"

namespace gripstream {
namespace {

const std::vector<std::vector<double>> kDirections = {{1, 1, 0, 0}, {1, 0, 1, 0}, {0, 0, 0, 2}};

TEST(HandSynergies, RowsAreOrthonormalAndSpanTheDirectionsInOrder) {
  const HandSynergies hand(kDirections, "test");
  ASSERT_EQ(hand.Count(), 3);
  ASSERT_EQ(hand.Joints(), 4);
  const std::vector<double>& rows = hand.Rows();
  for (size_t a = 0; a < 3; ++a) {
    for (size_t b = 0; b < 3; ++b) {
      double dot = 0;
      for (size_t j = 0; j < 4; ++j) dot += rows[a * 4 + j] * rows[b * 4 + j];
      EXPECT_NEAR(dot, a == b ? 1 : 0, 1e-15);
    }
  }
  // Gram-Schmidt by hand: (1,1,0,0)/sqrt2; (1,0,1,0) minus half of (1,1,0,0) is (1,-1,2,0)/2, of length sqrt(6)/2.
  EXPECT_NEAR(rows[0], 1 / std::sqrt(2), 1e-15);
  EXPECT_NEAR(rows[4], 1 / std::sqrt(6), 1e-15);
  EXPECT_NEAR(rows[5], -1 / std::sqrt(6), 1e-15);
  EXPECT_NEAR(rows[6], 2 / std::sqrt(6), 1e-15);
  EXPECT_NEAR(rows[11], 1, 1e-15);
}

TEST(HandSynergies, LiftedPostureHasTheCoordinatesAskedFor) {
  const HandSynergies hand(kDirections, "test");
  const std::array wanted{0.3, -0.7, 1.1};
  const std::array rest{0.1, 0.2, 0.3, 0.4};
  std::array<double, 4> q{};
  std::array<double, 3> found{};
  hand.Lift(wanted, rest, q);
  hand.Project(q, found);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], wanted[i], 1e-15);
}

TEST(HandSynergies, CoordinatesOfTheRestPostureLiftToTheRestPosture) {
  const HandSynergies hand(kDirections, "test");
  const std::array rest{0.1, -0.2, 0.3, 0.4};
  std::array<double, 3> coordinates{};
  std::array<double, 4> q{};
  hand.Project(rest, coordinates);
  hand.Lift(coordinates, rest, q);
  for (size_t j = 0; j < 4; ++j) EXPECT_NEAR(q[j], rest[j], 1e-15);
}

TEST(HandSynergies, RefusesDependentZeroAndRaggedDirections) {
  const auto refused = [](const std::vector<std::vector<double>>& directions) {
    EXPECT_THROW(HandSynergies(directions, "hand.yaml"), InputError);
  };
  refused({{1, 1, 0}, {2, 2, 0}});
  refused({{0, 0, 0}});
  refused({{1, 0, 0}, {0, 1}});
}

}  // namespace
}  // namespace gripstream
