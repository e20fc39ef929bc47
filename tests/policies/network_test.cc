// Tests policies/network.h, policies/initialise.h, policies/parameters.h and policies/shapes.h.
#include "policies/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "policies/initialise.h"

namespace gripstream {
namespace {

PolicyShapes Shapes() {
  return {.proprio = 5, .state = 9, .height_px = 48, .width_px = 64, .depth_scale_m = 1e-4, .aux = 3, .action = 4};
}

NetworkInput Input(int64_t batch) {
  const RandomStream stream(1, "network test");
  return {NormalTensor(stream.At(0, 0), {batch, 1, 48, 64}, 1.0),
          NormalTensor(stream.At(1, 0), {batch, 5}, 1.0),
          NormalTensor(stream.At(2, 0), {batch, 9}, 1.0),
          {},
          {}};
}

template <class Body>
std::string InputErrorOf(const Body& body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// Every name in the registry builds, runs and trains; a new one cannot be forgotten.
TEST(ActorCritic, EveryPolicyInTheListRunsAndHasGradientsEverywhere) {
  for (const std::string& name : PolicyNames()) {
    const ActorCritic network({.name = name}, Shapes(), 1);
    const NetworkInput input = Input(6);
    const ActorOutput actor = network.Actor(input);
    const torch::Tensor value = network.Critic(input).value;
    EXPECT_EQ(actor.mean.sizes(), (std::vector<int64_t>{6, 4})) << name;
    EXPECT_EQ(value.sizes(), (std::vector<int64_t>{6})) << name;
    EXPECT_TRUE(actor.mean.isfinite().all().item<bool>()) << name;
    torch::Tensor loss = actor.mean.square().sum() + value.square().sum() + actor.log_std.sum();
    if (network.HasAux()) loss = loss + actor.aux.square().sum();
    loss.backward();
    for (const NamedTensor& parameter : network.Parameters().All()) {
      ASSERT_TRUE(parameter.value.grad().defined()) << name << " " << parameter.name;
      EXPECT_GT(parameter.value.grad().abs().max().item<float>(), 0.0f) << name << " " << parameter.name;
    }
  }
}

std::vector<PolicyConfig> EveryKindOfMemory() {
  std::vector<PolicyConfig> all;
  for (const char* name : {"depth_cnn", "state_mlp"}) {
    for (const char* kind : {"lstm", "gru"}) {
      for (const char* place : {"before_mlp", "after_mlp"}) {
        for (const bool option : {false, true}) {
          const RecurrentConfig rnn{
              .kind = kind, .units = 7, .place = place, .layer_norm = option, .concat_input = option};
          all.push_back({.name = name, .actor_rnn = rnn, .critic_rnn = rnn, .std = option ? "network" : "parameter"});
        }
      }
    }
  }
  return all;
}

TEST(ActorCritic, EveryKindOfMemoryRunsRemembersAndHasGradientsEverywhere) {
  for (const PolicyConfig& config : EveryKindOfMemory()) {
    const ActorCritic network(config, Shapes(), 1);
    NetworkInput input = Input(6);  // 3 steps of 2 sequences
    input.memory = at::full({2, network.MemorySize()}, 0.1);
    const ActorOutput actor = network.Actor(input);
    const CriticOutput critic = network.Critic(input);
    EXPECT_EQ(actor.memory.sizes(), (std::vector<int64_t>{2, network.ActorMemorySize()}));
    EXPECT_EQ(actor.mean.sizes(), (std::vector<int64_t>{6, 4}));
    EXPECT_EQ(actor.log_std.sizes(), (std::vector<int64_t>{6, 4}));
    torch::Tensor loss = actor.mean.square().sum() + critic.value.square().sum() + actor.log_std.sum();
    if (network.HasAux()) loss = loss + actor.aux.square().sum();
    loss.backward();
    for (const NamedTensor& parameter : network.Parameters().All()) {
      ASSERT_TRUE(parameter.value.grad().defined()) << config.actor_rnn.kind << " " << parameter.name;
      EXPECT_GT(parameter.value.grad().abs().max().item<float>(), 0.0f) << config.actor_rnn.kind << parameter.name;
    }
    input.memory = at::full({2, network.MemorySize()}, 0.2);
    EXPECT_FALSE(network.Actor(input).mean.equal(actor.mean));
    EXPECT_FALSE(network.Critic(input).value.equal(critic.value));
  }
}

TEST(ActorCritic, ADeviationFromTheNetworkBeginsAtTheConfiguredOneAndDependsOnTheObservation) {
  const ActorCritic network({.std = "network", .init_std = 0.25}, Shapes(), 1);
  const torch::Tensor std = network.Actor(Input(16)).log_std.exp();
  EXPECT_LT((std - 0.25).abs().max().item<float>(), 0.06f);
  EXPECT_FALSE(std[0].equal(std[1]));
}

TEST(ActorCritic, ThePapersEncoderNormalisesAndAverages) {
  // Paper facts 3.2, the custom CNN, here on 160 x 120 pixels.
  const EncoderConfig encoder{.channels = {16, 32, 64, 128},
                              .kernels = {6, 4, 4, 4},
                              .strides = {2, 2, 2, 2},
                              .norm = "layer",
                              .pool = "average",
                              .features = 32};
  PolicyShapes shapes = Shapes();
  shapes.height_px = 120;
  shapes.width_px = 160;
  const ActorCritic network({.encoder = encoder}, shapes, 1);
  EXPECT_THAT(network.Parameters().Describe(), testing::HasSubstr("encoder.3.norm.weight [128, 5, 8]"));
  EXPECT_THAT(network.Parameters().Describe(), testing::HasSubstr("encoder.features.0.weight [32, 128]"));
  NetworkInput input = Input(2);
  input.image = NormalTensor(RandomStream(1, "image").At(0, 0), {2, 1, 120, 160}, 1.0);
  const torch::Tensor mean = network.Actor(input).mean;
  input.image = input.image * 2.0;
  EXPECT_FALSE(network.Actor(input).mean.equal(mean));
}

TEST(ActorCritic, ActorNeverSeesThePrivilegedStateAndCriticNeverTheImage) {
  const ActorCritic network({}, Shapes(), 1);
  const NetworkInput input = Input(2);
  NetworkInput other = input;
  other.state = input.state + 1.0;
  EXPECT_TRUE(network.Actor(input).mean.equal(network.Actor(other).mean));
  other.image = input.image + 1.0;
  EXPECT_FALSE(network.Actor(input).mean.equal(network.Actor(other).mean));
  EXPECT_TRUE(network.Critic(input).value.equal(network.Critic(NetworkInput{.state = input.state}).value));
}

TEST(ActorCritic, TellsWhereThingsAreInTheImage) {
  const ActorCritic network({.actor_hidden = {32}}, Shapes(), 1);
  NetworkInput left = Input(1), right = Input(1);
  left.image.zero_();
  right.image.zero_();
  left.image.narrow(3, 8, 4).narrow(2, 20, 4).fill_(1.0);
  right.image.narrow(3, 40, 4).narrow(2, 20, 4).fill_(1.0);
  EXPECT_GT((network.Actor(left).aux - network.Actor(right).aux).abs().max().item<float>(), 1e-3f);
}

TEST(ActorCritic, SameSeedSameParametersAnotherSeedOthers) {
  const ActorCritic a({}, Shapes(), 1), b({}, Shapes(), 1), c({}, Shapes(), 2);
  EXPECT_EQ(ParametersSha256(a.Parameters()), ParametersSha256(b.Parameters()));
  EXPECT_NE(ParametersSha256(a.Parameters()), ParametersSha256(c.Parameters()));
}

TEST(ActorCritic, FirstActionsAreNearZeroWithTheConfiguredDeviation) {
  const ActorCritic network({.init_std = 0.25}, Shapes(), 1);
  EXPECT_LT(network.Actor(Input(16)).mean.abs().max().item<float>(), 0.2f);
  EXPECT_NEAR(network.Actor(Input(16)).log_std.exp().max().item<float>(), 0.25f, 1e-6f);
}

TEST(ActorCritic, WithoutTheHeadThereIsNoAuxOutputAndNoParameterOfIt) {
  const ActorCritic network({.aux = {.enabled = false}}, Shapes(), 1);
  EXPECT_FALSE(network.Actor(Input(1)).aux.defined());
  EXPECT_THAT(network.Parameters().Describe(), testing::Not(testing::HasSubstr("aux")));
}

TEST(ActorCritic, RefusesAnEncoderThatDoesNotFit) {
  const auto build = [](const EncoderConfig& encoder) {
    return InputErrorOf([&] { ActorCritic({.encoder = encoder}, Shapes(), 1); });
  };
  EXPECT_THAT(build({.channels = {8, 8}, .kernels = {3}, .strides = {2, 2}}),
              testing::HasSubstr("policy.encoder.kernels"));
  EXPECT_THAT(build({.channels = {8}, .kernels = {3}, .strides = {2, 2}}),
              testing::HasSubstr("policy.encoder.strides"));
  EXPECT_THAT(build({.channels = {8, 8}, .kernels = {15, 15}, .strides = {8, 8}}),
              testing::HasSubstr("policy.encoder.kernels"));
}

TEST(ActorCritic, RefusesAnImagePolicyWhereThereIsNoImage) {
  PolicyShapes shapes = Shapes();
  shapes.height_px = shapes.width_px = 0;
  EXPECT_THAT(InputErrorOf([&] { ActorCritic({}, shapes, 1); }), testing::HasSubstr("policy.name"));
}

TEST(OrthogonalMatrix, HasOrthonormalRowsOrColumnsTimesTheGain) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{20, 70}, {70, 20}, {30, 30}}) {
    const torch::Tensor m = OrthogonalMatrix(RandomStream(1, "x").At(0, 0), rows, columns, 2.0).to(torch::kFloat64);
    const torch::Tensor product = rows <= columns ? m.matmul(m.t()) : m.t().matmul(m);
    const torch::Tensor identity = 4.0 * at::eye(std::min(rows, columns), torch::kFloat64);
    EXPECT_LT((product - identity).abs().max().item<double>(), 1e-5);
  }
}

TEST(ParameterSet, FlattenKeepsValuesAndCollectsGradients) {
  ActorCritic network({}, Shapes(), 1);
  const std::string before = ParametersSha256(network.Parameters());
  const ParameterSet::Flat flat = network.Parameters().Flatten();
  EXPECT_EQ(ParametersSha256(network.Parameters()), before);
  EXPECT_EQ(flat.values.numel(), network.Parameters().Count());
  network.Actor(Input(1)).log_std.sum().backward();
  EXPECT_EQ(flat.gradients.sum().item<float>(), 4.0f);
  flat.values.zero_();
  EXPECT_EQ(network.Actor(Input(1)).log_std.abs().max().item<float>(), 0.0f);
  EXPECT_EQ(network.Actor(Input(1)).mean.abs().max().item<float>(), 0.0f);
}

TEST(ParameterSet, DescribesEveryTensorAndTheTotal) {
  const ActorCritic network({.name = "state_mlp", .actor_hidden = {16}, .critic_hidden = {8}}, Shapes(), 1);
  // actor 9 x 16 + 16 + 16 x 4 + 4, deviations 4, critic 9 x 8 + 8 + 8 + 1
  EXPECT_THAT(network.Parameters().Describe(), testing::HasSubstr("actor.0.weight [16, 9]"));
  EXPECT_THAT(network.Parameters().Describe(), testing::HasSubstr("total 321 parameters"));
}

TEST(ShapesFromSpecs, ReadsSizesAndScale) {
  const std::vector<TensorSpec> specs = {{"obs.proprio", DType::kFloat32, {5}, "", 1.0},
                                         {"obs.depth", DType::kUint16, {48, 64}, "m", 1e-4},
                                         {"aux.object_position", DType::kFloat32, {3}, "m", 1.0},
                                         {"state", DType::kFloat32, {9}, "", 1.0}};
  EXPECT_EQ(ShapesFromSpecs(specs, 4), Shapes());
}

TEST(ShapesFromSpecs, SeveralCamerasAreNoImageForAPolicyAndDepthCnnSaysSo) {
  const std::vector<TensorSpec> specs = {{"obs.proprio", DType::kFloat32, {5}, "", 1.0},
                                         {"obs.depth", DType::kUint16, {2, 48, 64}, "m", 1e-4},
                                         {"state", DType::kFloat32, {9}, "", 1.0}};
  const PolicyShapes shapes = ShapesFromSpecs(specs, 4);
  EXPECT_EQ(shapes.height_px, 0);
  EXPECT_NO_THROW(ActorCritic({.name = "state_mlp"}, shapes, 1));
  try {
    ActorCritic({.name = "depth_cnn"}, shapes, 1);
    FAIL() << "depth_cnn took two cameras";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("render.depth.cameras"));
  }
}

TEST(ShapesFromSpecs, NamesWhatIsMissingOrOfTheWrongType) {
  const auto error_of = [](const std::vector<TensorSpec>& specs) {
    try {
      ShapesFromSpecs(specs, 4);
    } catch (const RunError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_THAT(error_of({}), testing::HasSubstr("obs.proprio"));
  EXPECT_THAT(error_of({{"obs.proprio", DType::kFloat32, {5}, "", 1.0}}), testing::HasSubstr("state"));
  EXPECT_THAT(error_of({{"obs.proprio", DType::kUint8, {5}, "", 1.0}}), testing::HasSubstr("float32"));
}

}  // namespace
}  // namespace gripstream
