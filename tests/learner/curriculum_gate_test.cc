// Tests learner/curriculum_gate.h.
#include "learner/curriculum_gate.h"

#include <gtest/gtest.h>

namespace gripstream {
namespace {

CurriculumRule Rule() {
  return {.advance = true, .levels = 2, .start = 0, .gate = 0.4, .min_steps = 100, .step_down = true, .collapse = 0.1};
}

TEST(CurriculumGate, RisesOnlyAboveTheGateAndAfterTheLeastSteps) {
  CurriculumGate gate(Rule());
  EXPECT_FALSE(gate.Take(0.9, 60));
  EXPECT_TRUE(gate.Take(0.41, 60));
  EXPECT_EQ(gate.Level(), 1);
  EXPECT_FALSE(gate.Take(0.9, 99)) << "steps count from the change";
  EXPECT_FALSE(gate.Take(0.4, 99)) << "at the gate is not above it";
  EXPECT_TRUE(gate.Take(0.5, 1));
  EXPECT_FALSE(gate.Take(0.9, 1000)) << "there is no third level";
  EXPECT_EQ(gate.Level(), 2);
}

TEST(CurriculumGate, StepsDownOnCollapseWhereAllowed) {
  CurriculumRule rule = Rule();
  rule.start = 2;
  CurriculumGate gate(rule);
  EXPECT_FALSE(gate.Take(0.05, 99));
  EXPECT_TRUE(gate.Take(0.05, 1));
  EXPECT_EQ(gate.Level(), 1);
  EXPECT_FALSE(gate.Take(0.2, 1000)) << "between collapse and gate";
  rule.step_down = false;
  CurriculumGate keeps(rule);
  EXPECT_FALSE(keeps.Take(0.0, 1000));
  EXPECT_EQ(keeps.Level(), 2);
}

TEST(CurriculumGate, WithoutAdvanceTheLevelStays) {
  CurriculumRule rule = Rule();
  rule.advance = false;
  rule.start = 1;
  CurriculumGate gate(rule);
  EXPECT_FALSE(gate.Take(1.0, 100000));
  EXPECT_EQ(gate.Level(), 1);
}

TEST(CurriculumGate, RestoredGateGoesOnLikeTheOriginal) {
  CurriculumGate gate(Rule()), other(Rule());
  gate.Take(0.9, 120);
  gate.Take(0.9, 70);
  other.Restore(gate.Level(), gate.StepsSinceChange());
  EXPECT_EQ(gate.Take(0.9, 30), other.Take(0.9, 30));
  EXPECT_EQ(gate.Level(), other.Level());
}

}  // namespace
}  // namespace gripstream
