// Tests policies/inference.h.
#include "policies/inference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "policies/distribution.h"
#include "policies/initialise.h"

namespace gripstream {
namespace {

constexpr int64_t kEnvs = 24;
constexpr int kChunk = 8;

PolicyShapes Shapes() {
  return {.proprio = 5, .state = 9, .height_px = 32, .width_px = 40, .depth_scale_m = 1e-4, .aux = 3, .action = 4};
}

PolicyConfig Config() {
  return {.inference_chunk = kChunk};
}

Observation Observations(uint64_t seed) {
  const RandomStream stream(seed, "inference test");
  Observation o;
  o.proprio = NormalTensor(stream.At(0, 0), {kEnvs, 5}, 1.0);
  o.state = NormalTensor(stream.At(1, 0), {kEnvs, 9}, 1.0);
  o.depth = at::empty({kEnvs, 32, 40}, torch::kUInt16);
  Rng rng = stream.At(2, 0);
  for (int64_t i = 0; i < o.depth.numel(); ++i) {
    static_cast<uint16_t*>(o.depth.data_ptr())[i] = static_cast<uint16_t>(rng.Below(20000));
  }
  return o;
}

NormalizerRows Rows(const Observation& o, const torch::Tensor& aux) {
  return {.proprio = o.proprio, .depth = o.depth, .state = o.state, .aux = aux};
}

Observation Part(const Observation& o, int64_t begin, int64_t count) {
  return {o.proprio.narrow(0, begin, count), o.depth.narrow(0, begin, count), o.state.narrow(0, begin, count),
          o.done.defined() ? o.done.narrow(0, begin, count) : o.done};
}

struct Outputs {
  torch::Tensor action = at::zeros({kEnvs, 4}), mean = at::zeros({kEnvs, 4}), log_std = at::zeros({kEnvs, 4}),
                log_prob = at::zeros({kEnvs}), value = at::zeros({kEnvs}), aux = at::zeros({kEnvs, 3});
  ActResult Part(int64_t begin, int64_t count) const {
    const auto part = [&](const torch::Tensor& x) { return x.narrow(0, begin, count); };
    return {part(action), part(mean), part(log_std), part(log_prob), part(value), part(aux)};
  }
  ActResult All() const { return Part(0, kEnvs); }
};

Policy TrainedALittle(const PolicyConfig& config = Config()) {
  Policy policy(config, Shapes(), 7);
  const Observation o = Observations(99);
  policy.UpdateNormalizers(Rows(o, NormalTensor(RandomStream(1, "aux").At(0, 0), {kEnvs, 3}, 0.1)));
  return policy;
}

TEST(Policy, ActsTheSameBitsHoweverEnvironmentsAreGrouped) {
  const Policy policy = TrainedALittle();
  const Observation o = Observations(1);
  Outputs together, apart;
  policy.Act(o, {.step = 5}, together.All());
  policy.Act(Part(o, 16, 8), {.first_env = 16, .step = 5}, apart.Part(16, 8));
  policy.Act(Part(o, 0, 16), {.first_env = 0, .step = 5}, apart.Part(0, 16));
  EXPECT_TRUE(apart.action.equal(together.action));
  EXPECT_TRUE(apart.log_prob.equal(together.log_prob));
  EXPECT_TRUE(apart.value.equal(together.value));
  EXPECT_TRUE(apart.aux.equal(together.aux));
}

TEST(Policy, DepthHeldAsFloatsGivesTheSameBits) {
  Policy policy = TrainedALittle(), other = TrainedALittle();
  const Observation o = Observations(1);
  Observation wide = o;
  wide.depth = o.depth.to(torch::kFloat32);
  Outputs compact_out, wide_out;
  policy.Act(o, {.step = 5}, compact_out.All());
  policy.Act(wide, {.step = 5}, wide_out.All());
  EXPECT_TRUE(wide_out.action.equal(compact_out.action));
  const std::vector<int64_t> rows = {3, 0, 23};
  EXPECT_TRUE(policy.Gather(wide, rows).image.equal(policy.Gather(o, rows).image));
  const torch::Tensor aux = at::zeros({kEnvs, 3});
  const auto moments = [&](const torch::Tensor& depth) {
    return policy.NormalizerMoments({.proprio = o.proprio, .depth = depth, .state = o.state, .aux = aux});
  };
  EXPECT_TRUE(moments(wide.depth).equal(moments(o.depth)));
}

TEST(Policy, NoiseDependsOnEnvironmentStepAndSeed) {
  const Policy policy = TrainedALittle();
  const Observation o = Observations(1);
  Outputs first, again, later, elsewhere;
  policy.Act(o, {.step = 5}, first.All());
  policy.Act(o, {.step = 5}, again.All());
  policy.Act(o, {.step = 6}, later.All());
  policy.Act(o, {.first_env = 64, .step = 5}, elsewhere.All());
  EXPECT_TRUE(first.action.equal(again.action));
  EXPECT_TRUE(first.mean.equal(later.mean));
  EXPECT_FALSE(first.action.equal(later.action));
  EXPECT_FALSE(first.action.equal(elsewhere.action));
}

TEST(Policy, LogProbIsThatOfTheActionUnderTheMeanAndDeviation) {
  const Policy policy = TrainedALittle();
  Outputs out;
  policy.Act(Observations(1), {.step = 5}, out.All());
  const torch::Tensor expected =
      GaussianLogProb(out.mean.to(torch::kFloat64), out.log_std.to(torch::kFloat64), out.action.to(torch::kFloat64));
  EXPECT_LT((out.log_prob - expected).abs().max().item<double>(), 1e-4);
  EXPECT_NEAR(out.log_std.max().item<double>(), std::log(PolicyConfig{}.init_std), 1e-6);
}

TEST(Policy, WithoutSamplingTheActionIsTheMean) {
  const Policy policy = TrainedALittle();
  Outputs out;
  policy.Act(Observations(1), {.step = 5, .sample = false}, out.All());
  EXPECT_TRUE(out.action.equal(out.mean));
}

TEST(Policy, ABlankedImageHidesTheImageAndNothingElse) {
  const Policy policy = TrainedALittle();
  Observation o = Observations(1);
  Outputs seen, blank, other;
  policy.Act(o, {.sample = false}, seen.All());
  policy.Act(o, {.sample = false, .blank_image = true}, blank.All());
  o.depth = Observations(2).depth;
  policy.Act(o, {.sample = false, .blank_image = true}, other.All());
  EXPECT_FALSE(seen.action.equal(blank.action));
  EXPECT_TRUE(blank.action.equal(other.action));
  EXPECT_TRUE(seen.value.equal(blank.value));
}

TEST(Policy, AuxIsInTheTargetsOwnUnits) {
  Policy policy(Config(), Shapes(), 7);
  const Observation o = Observations(1);
  const torch::Tensor target = NormalTensor(RandomStream(1, "aux").At(0, 0), {kEnvs, 3}, 0.01) + 50.0;
  policy.UpdateNormalizers(Rows(o, target.contiguous()));
  Outputs out;
  policy.Act(o, {}, out.All());
  EXPECT_LT((out.aux - 50.0).abs().max().item<float>(), 1.0f);
}

TEST(Policy, ValuesAreThoseThatActGives) {
  const Policy policy = TrainedALittle();
  const Observation o = Observations(1);
  Outputs out;
  policy.Act(o, {}, out.All());
  EXPECT_TRUE(policy.Values(o).equal(out.value));
}

TEST(Policy, GatherGivesTheNormalisedRows) {
  const Policy policy = TrainedALittle();
  const Observation o = Observations(1);
  const std::vector<int64_t> rows = {3, 23, 3}, single = {23};
  const NetworkInput some = policy.Gather(o, rows), one = policy.Gather(o, single);
  EXPECT_EQ(some.image.sizes(), (std::vector<int64_t>{3, 1, 32, 40}));
  EXPECT_TRUE(some.image[1].equal(one.image[0]));
  EXPECT_TRUE(some.proprio[1].equal(one.proprio[0]));
  EXPECT_TRUE(some.state[0].equal(some.state[2]));
}

TEST(Policy, StateMovesAPolicyIntoAnother) {
  const Policy policy = TrainedALittle();
  Policy other(Config(), Shapes(), 7);
  Policy stranger(Config(), Shapes(), 8);
  other.SetState(policy.State());
  stranger.SetState(policy.State());
  Outputs a, b, c;
  policy.Act(Observations(1), {.step = 5}, a.All());
  other.Act(Observations(1), {.step = 5}, b.All());
  stranger.Act(Observations(1), {.step = 5}, c.All());
  EXPECT_TRUE(a.action.equal(b.action));
  EXPECT_TRUE(a.mean.equal(c.mean));
  EXPECT_FALSE(a.action.equal(c.action));  // its noise is its seed's
}

TEST(Policy, WithoutImageNeedsNone) {
  PolicyConfig config = Config();
  config.name = "state_mlp";
  PolicyShapes shapes = Shapes();
  shapes.height_px = shapes.width_px = 0;
  Policy policy(config, shapes, 1);
  Observation o = Observations(1);
  o.depth = torch::Tensor();
  policy.UpdateNormalizers({.proprio = o.proprio, .state = o.state});
  Outputs out;
  policy.Act(o, {}, out.All());
  EXPECT_GT(out.action.abs().max().item<float>(), 0.0f);
}

TEST(Policy, RefusesToSplitAChunk) {
  const Policy policy = TrainedALittle();
  const Outputs out;
  EXPECT_THROW(policy.Act(Part(Observations(1), 4, 8), {.first_env = 4}, out.Part(4, 8)), InternalError);
}

TEST(Policy, SaysOfItsOwnActionsWhatItSaidWhenItTookThem) {
  const Policy policy = TrainedALittle();
  const Observation o = Observations(3);
  const Outputs acted, judged;
  policy.Act(o, {.step = 5}, acted.All());
  policy.Act(o, {.taken = acted.action}, judged.All());
  EXPECT_TRUE(at::equal(judged.action, acted.action));
  EXPECT_TRUE(at::equal(judged.log_prob, acted.log_prob));
  EXPECT_TRUE(at::equal(judged.value, acted.value));
}

TEST(Policy, ACloneDoesTheSameAndSharesNothing) {
  Policy policy = TrainedALittle();
  const Policy clone = policy.Clone();
  const Observation o = Observations(3);
  const Outputs before, after;
  policy.Act(o, {.step = 5}, before.All());
  for (const NamedTensor& parameter : policy.Network().Parameters().All()) parameter.value.detach().zero_();
  policy.UpdateNormalizers(Rows(o, at::ones({kEnvs, 3})));
  clone.Act(o, {.step = 5}, after.All());
  EXPECT_TRUE(at::equal(after.action, before.action));
  EXPECT_TRUE(at::equal(after.value, before.value));
}

PolicyConfig WithMemory() {
  PolicyConfig config = Config();
  config.actor_rnn = {.kind = "lstm", .units = 6};
  config.critic_rnn = {.kind = "gru", .units = 5, .place = "after_mlp"};
  return config;
}

constexpr int64_t kMemory = 2 * 6 + 5;

TEST(Policy, CarriesItsMemoryThroughTheCallersHands) {
  const Policy policy = TrainedALittle(WithMemory());
  ASSERT_EQ(policy.MemorySize(), kMemory);
  const Observation first = Observations(1), second = Observations(2);
  const torch::Tensor fresh = at::zeros({kEnvs, kMemory}), after = at::zeros({kEnvs, kMemory});
  const Outputs one, remembering, forgetful, together;
  ActResult result = one.All();
  result.memory = after;
  policy.Act(first, {.memory = fresh}, result);
  EXPECT_GT(after.narrow(1, 0, 12).abs().min().item<float>(), 0.0f);
  EXPECT_GT(after.narrow(1, 12, 5).abs().min().item<float>(), 0.0f);
  policy.Act(second, {.memory = after}, remembering.All());
  policy.Act(second, {.memory = fresh}, forgetful.All());
  EXPECT_FALSE(remembering.mean.equal(forgetful.mean));
  EXPECT_FALSE(remembering.value.equal(forgetful.value));
  // In place, and group by group.
  const torch::Tensor own = at::zeros({kEnvs, kMemory});
  for (const Observation& o : {first, second}) {
    for (const auto& [begin, count] : {std::pair<int64_t, int64_t>{16, 8}, {0, 16}}) {
      ActResult part = together.Part(begin, count);
      part.memory = own.narrow(0, begin, count);
      policy.Act(Part(o, begin, count), {.first_env = static_cast<uint32_t>(begin), .memory = part.memory}, part);
    }
  }
  EXPECT_TRUE(together.mean.equal(remembering.mean));
  EXPECT_TRUE(together.value.equal(remembering.value));
}

TEST(Policy, ForgetsWhereAnEpisodeHasEndedAndNowhereElse) {
  const Policy policy = TrainedALittle(WithMemory());
  const torch::Tensor memory = NormalTensor(RandomStream(1, "memory").At(0, 0), {kEnvs, kMemory}, 0.5);
  Observation o = Observations(1);
  const Outputs kept, mixed, fresh;
  policy.Act(o, {.memory = at::zeros_like(memory)}, fresh.All());
  policy.Act(o, {.memory = memory}, kept.All());
  o.done = at::zeros({kEnvs}, torch::kUInt8);
  o.done[3] = 2;
  policy.Act(o, {.memory = memory}, mixed.All());
  EXPECT_TRUE(mixed.mean[3].equal(fresh.mean[3]));
  EXPECT_TRUE(mixed.value[3].equal(fresh.value[3]));
  EXPECT_TRUE(mixed.mean[4].equal(kept.mean[4]));
  EXPECT_TRUE(policy.Values(o, memory).equal(mixed.value));
}

TEST(Policy, ValuesLeavesTheMemoryThatActLeaves) {
  const Policy policy = TrainedALittle(WithMemory());
  const Observation o = Observations(1);
  const torch::Tensor memory = NormalTensor(RandomStream(1, "memory").At(0, 0), {kEnvs, kMemory}, 0.5);
  const torch::Tensor acted = at::zeros_like(memory), valued = memory.clone();
  const Outputs out;
  ActResult result = out.All();
  result.memory = acted;
  policy.Act(o, {.memory = memory}, result);
  policy.Values(o, valued, valued);
  EXPECT_TRUE(valued.narrow(1, 12, 5).equal(acted.narrow(1, 12, 5)));
  EXPECT_TRUE(valued.narrow(1, 0, 12).equal(memory.narrow(1, 0, 12)));  // the actor has not acted
}

TEST(Policy, NewStatisticsOfReturnsDoNotChangeWhatAStateIsWorth) {
  PolicyConfig config = Config();
  config.normalise_values = true;
  Policy policy = TrainedALittle(config);
  const Observation o = Observations(1);
  const torch::Tensor before = policy.Values(o);
  NormalizerRows rows = Rows(Observations(99), at::ones({kEnvs, 3}));
  const torch::Tensor returns = NormalTensor(RandomStream(1, "returns").At(0, 0), {500}, 3.0) + 40.0;
  // Observations' own statistics are to stay as they are.
  Policy other = policy.Clone();
  rows.value = returns.to(torch::kFloat32);
  torch::Tensor moments = policy.NormalizerMoments(rows);
  moments[0] = 0.0;                          // no proprioception, ...
  moments[1 + 2 * 5] = 0.0;                  // state, ...
  moments[2 + 2 * (5 + 9)] = 0.0;            // image ...
  moments[3 + 2 * (5 + 9 + 32 * 40)] = 0.0;  // or object position
  policy.MergeNormalizers(moments);
  EXPECT_LT((policy.Values(o) - before).abs().max().item<float>(), 1e-4f);
  EXPECT_NEAR(policy.NormaliseValue(at::full({1}, returns.mean().item<float>())).item<float>(), 0.0f, 1e-4f);
  EXPECT_TRUE(other.Values(o).equal(before));
}

}  // namespace
}  // namespace gripstream
