// Tests replay/returns.h.
#include "replay/returns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/rng.h"

namespace gripstream {
namespace {

constexpr uint8_t kRun = 0, kEnd = 1, kTime = 2, kFault = 3;

struct Case {
  int horizon, envs;
  std::vector<float> reward, value, final_value;
  std::vector<uint8_t> done;

  ReturnInputs Inputs() const { return {horizon, envs, reward, value, done, final_value}; }
  size_t Samples() const { return reward.size(); }
};

struct Estimate {
  std::vector<float> advantage, target;
};

Estimate RunGae(const Case& c, const ReturnOptions& options) {
  Estimate e{std::vector<float>(c.Samples()), std::vector<float>(c.Samples())};
  Gae(c.Inputs(), options, e.advantage, e.target);
  return e;
}

Estimate RunVTrace(const Case& c, const std::vector<float>& log_ratio, const ReturnOptions& options,
                   const VTraceOptions& clips) {
  Estimate e{std::vector<float>(c.Samples()), std::vector<float>(c.Samples())};
  VTrace(c.Inputs(), log_ratio, options, clips, e.advantage, e.target);
  return e;
}

Case RandomCase(int horizon, int envs, uint64_t seed) {
  Rng rng = RandomStream(seed, "returns test").At(0, 0);
  Case c{horizon, envs, {}, {}, {}, {}};
  for (int i = 0; i < horizon * envs; ++i) {
    c.reward.push_back(rng.Normal());
    c.final_value.push_back(rng.Normal());
    c.done.push_back(rng.Uniform() < 0.3f ? static_cast<uint8_t>(rng.Below(4)) : kRun);
  }
  for (int i = 0; i < (horizon + 1) * envs; ++i) c.value.push_back(rng.Normal());
  return c;
}

// The definition, in double, as a sum over the future of every sample on its own: no recursion shared with the library.
double SlowAdvantage(const Case& c, const ReturnOptions& options, int t, int n) {
  double sum = 0, discount = 1;
  for (int s = t; s < c.horizon; ++s) {
    const size_t i = static_cast<size_t>(s * c.envs + n);
    if (c.done[i] == kFault) break;
    double next = 0;
    if (c.done[i] == kRun) next = c.value[i + static_cast<size_t>(c.envs)];
    if (c.done[i] == kTime && options.bootstrap_timeouts) next = c.final_value[i];
    sum += discount * (c.reward[i] + options.gamma * next - c.value[i]);
    if (c.done[i] != kRun) break;
    discount *= options.gamma * options.lambda;
  }
  return sum;
}

TEST(Gae, EqualsTheRecursionWorkedByHand) {
  // gamma 0.5, lambda 0.5: delta_1 = 2 + 0.5 * 8 - 4 = 2; delta_0 = 1 + 0.5 * 4 - 2 = 1; A_0 = 1 + 0.25 * 2 = 1.5.
  const Case c{2, 1, {1, 2}, {2, 4, 8}, {0, 0}, {kRun, kRun}};
  const Estimate e = RunGae(c, {0.5f, 0.5f, true});
  EXPECT_EQ(e.advantage, (std::vector<float>{1.5f, 2.0f}));
  EXPECT_EQ(e.target, (std::vector<float>{3.5f, 6.0f}));
}

TEST(Gae, TreatsTheFourEndsApart) {
  // One step each: reward 1, value 2, next value 10, final value 20, gamma 0.5.
  const Case c{1, 4, {1, 1, 1, 1}, {2, 2, 2, 2, 10, 10, 10, 10}, {20, 20, 20, 20}, {kRun, kEnd, kTime, kFault}};
  EXPECT_EQ(RunGae(c, {0.5f, 0.9f, true}).advantage, (std::vector<float>{4, -1, 9, 0}));
  EXPECT_EQ(RunGae(c, {0.5f, 0.9f, false}).advantage, (std::vector<float>{4, -1, -1, 0}));
  EXPECT_EQ(RunGae(c, {0.5f, 0.9f, true}).target, (std::vector<float>{6, 1, 11, 2}));
}

TEST(Gae, LetsNothingThroughAFaultedSampleButTheValueBeforeIt) {
  Case c{3, 1, {1, 1, 1}, {0, 2, 3, 4}, {0, 0, 0}, {kRun, kFault, kRun}};
  const Estimate e = RunGae(c, {1.0f, 1.0f, true});
  EXPECT_EQ(e.advantage, (std::vector<float>{1 + 2 - 0, 0, 1 + 4 - 3}));
  c.reward[1] = NAN;  // whatever a broken simulation left there
  EXPECT_EQ(RunGae(c, {1.0f, 1.0f, true}).advantage, e.advantage);
}

TEST(Gae, EqualsTheDefinitionSummedSampleBySample) {
  for (const bool bootstrap : {true, false}) {
    const Case c = RandomCase(37, 11, bootstrap ? 1 : 2);
    const ReturnOptions options{0.97f, 0.9f, bootstrap};
    const Estimate e = RunGae(c, options);
    for (int t = 0; t < c.horizon; ++t) {
      for (int n = 0; n < c.envs; ++n) {
        const size_t i = static_cast<size_t>(t * c.envs + n);
        EXPECT_NEAR(e.advantage[i], SlowAdvantage(c, options, t, n), 2e-5) << "t " << t << " n " << n;
        EXPECT_FLOAT_EQ(e.target[i], e.advantage[i] + c.value[i]);
      }
    }
  }
}

TEST(Gae, OfAnEnvironmentDoesNotDependOnItsNeighbours) {
  const Case both = RandomCase(20, 2, 3);
  Case second{20, 1, {}, {}, {}, {}};
  for (size_t t = 0; t <= 20; ++t) {
    second.value.push_back(both.value[2 * t + 1]);
    if (t == 20) break;
    second.reward.push_back(both.reward[2 * t + 1]);
    second.final_value.push_back(both.final_value[2 * t + 1]);
    second.done.push_back(both.done[2 * t + 1]);
  }
  const Estimate e = RunGae(both, {0.99f, 0.95f, true}), alone = RunGae(second, {0.99f, 0.95f, true});
  for (size_t t = 0; t < 20; ++t) EXPECT_EQ(e.advantage[2 * t + 1], alone.advantage[t]);
}

TEST(Gae, RefusesArraysOfTheWrongSize) {
  Case c = RandomCase(4, 3, 4);
  c.value.pop_back();
  EXPECT_THROW(RunGae(c, {}), InternalError);
}

TEST(Gae, RefusesAnUnknownDoneKind) {
  Case c = RandomCase(1, 1, 4);
  c.done[0] = 7;
  EXPECT_THROW(RunGae(c, {}), InternalError);
}

TEST(VTrace, OnPolicyGivesTheTargetsOfGae) {
  const Case c = RandomCase(25, 6, 5);
  const std::vector<float> on_policy(c.Samples(), 0.0f);
  for (const float lambda : {1.0f, 0.8f}) {
    const ReturnOptions options{0.95f, lambda, true};
    const Estimate gae = RunGae(c, options), trace = RunVTrace(c, on_policy, options, {});
    for (size_t i = 0; i < c.Samples(); ++i) {
      EXPECT_NEAR(trace.target[i], gae.target[i], 2e-5);
      if (lambda == 1.0f) {
        EXPECT_NEAR(trace.advantage[i], gae.advantage[i], 2e-5);
      }
    }
  }
}

TEST(VTrace, EqualsTheValuesWorkedByHand) {
  // Two steps, gamma 1, lambda 1, ratios 0.5 and 4 (clipped to 1). V = 1, 2, 3; r = 1, 1.
  // delta_1 = 1 (1 + 3 - 2) = 2, v_1 = 4; delta_0 = 0.5 (1 + 2 - 1) = 1, v_0 = 1 + 1 + 0.5 (4 - 2) = 3.
  // A_1 = 1 (1 + 3 - 2) = 2; A_0 = 0.5 (1 + 4 - 1) = 2.
  const Case c{2, 1, {1, 1}, {1, 2, 3}, {0, 0}, {kRun, kRun}};
  const Estimate e = RunVTrace(c, {std::log(0.5f), std::log(4.0f)}, {1.0f, 1.0f, true}, {});
  EXPECT_NEAR(e.target[0], 3.0f, 1e-6);
  EXPECT_NEAR(e.target[1], 4.0f, 1e-6);
  EXPECT_NEAR(e.advantage[0], 2.0f, 1e-6);
  EXPECT_NEAR(e.advantage[1], 2.0f, 1e-6);
}

TEST(VTrace, StopsAtEpisodeEndsAndFaults) {
  Case c{2, 3, {1, 1, 1, 5, 5, 5}, {0, 0, 0, 9, 9, 9, 0, 0, 0}, {2, 2, 2, 0, 0, 0}, {kEnd, kTime, kFault, 0, 0, 0}};
  const std::vector<float> on_policy(c.Samples(), 0.0f);
  const Estimate e = RunVTrace(c, on_policy, {0.5f, 1.0f, true}, {});
  EXPECT_EQ(e.target[0], 1.0f);  // terminated: the reward alone
  EXPECT_EQ(e.target[1], 2.0f);  // timed out: reward + 0.5 * 2
  EXPECT_EQ(e.target[2], 0.0f);  // faulted: its own value
  EXPECT_EQ(e.advantage[2], 0.0f);
}

}  // namespace
}  // namespace gripstream
