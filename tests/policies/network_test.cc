// Tests policies/network.h, policies/initialise.h, policies/parameters.h and policies/shapes.h.
#include "policies/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "policies/initialise.h"
#include "policies/rgb_encoder.h"
#include "policies/safetensors.h"

namespace gripstream {
namespace {

PolicyShapes Shapes() {
  return {.proprio = 5, .state = 9, .height_px = 48, .width_px = 64, .depth_scale_m = 1e-4, .aux = 3, .action = 4};
}

// Two cameras beside the depth.
PolicyShapes StereoShapes() {
  PolicyShapes shapes = Shapes();
  shapes.cameras = 2;
  shapes.rgb_height_px = 48;
  shapes.rgb_width_px = 64;
  return shapes;
}

NetworkInput Input(int64_t batch, bool stereo = false) {
  const RandomStream stream(1, "network test");
  const torch::Tensor depth = NormalTensor(stream.At(0, 0), {batch, 1, 48, 64}, 1.0);
  return {stereo ? NormalTensor(stream.At(3, 0), {batch, 2, 3, 48, 64}, 1.0) : depth,
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
    const ActorCritic network({.name = name}, StereoShapes(), 1);
    const NetworkInput input = Input(6, name == "rgb");
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

std::vector<RgbConfig> EveryRgbEncoder() {
  RgbConfig attention{
      .fusion = "attention", .tokens = 12, .pool_height = 2, .pool_width = 4, .heads = 2, .features = 16};
  RgbConfig resnet = attention, plain;
  resnet.trunk = plain.trunk = "resnet18";
  return {{}, attention, resnet, plain};
}

TEST(RgbEncoder, EveryKindSeesBothCamerasAndHasGradientsEverywhere) {
  for (const RgbConfig& rgb : EveryRgbEncoder()) {
    const ActorCritic network({.name = "rgb", .rgb = rgb, .aux = {.feed_actor = false}}, StereoShapes(), 1);
    const std::string kind = rgb.trunk + " " + rgb.fusion + " ";
    for (const NamedTensor& p : network.Parameters().All()) {  // a residual block begins with nothing
      p.value.detach().add_(NormalTensor(RandomStream(2, p.name).At(0, 0), p.value.sizes(), 0.03));
    }
    NetworkInput input = Input(2, true);
    const ActorOutput actor = network.Actor(input);
    (actor.mean.square().sum() + actor.aux.square().sum() + actor.log_std.sum() +
     network.Critic(input).value.square().sum())
        .backward();
    for (const NamedTensor& parameter : network.Parameters().All()) {
      ASSERT_TRUE(parameter.value.grad().defined()) << kind << parameter.name;
      EXPECT_GT(parameter.value.grad().abs().max().item<float>(), 0.0f) << kind << parameter.name;
    }
    for (const int64_t camera : {0, 1}) {
      NetworkInput other = input;
      other.image = input.image.clone();
      other.image.select(1, camera).add_(1.0);
      EXPECT_FALSE(network.Actor(other).mean.equal(actor.mean)) << kind << camera;
    }
    // The cameras' order matters: left is not right.
    NetworkInput swapped = input;
    swapped.image = input.image.flip({1});
    EXPECT_FALSE(network.Actor(swapped).mean.equal(actor.mean)) << kind;
  }
}

TEST(RgbEncoder, ThePapersStudentHasThePapersSizes) {
  PolicyShapes shapes = StereoShapes();
  shapes.rgb_height_px = 240;
  shapes.rgb_width_px = 320;
  shapes.proprio = 159;
  const ActorCritic network({.name = "rgb",
                             .rgb = {.trunk = "resnet18", .fusion = "attention"},
                             .actor_hidden = {512, 512, 256},
                             .actor_rnn = {.kind = "lstm", .units = 512}},
                            shapes, 1);
  const std::string parameters = network.Parameters().Describe();
  for (const char* line :
       {"encoder.trunk.stem.weight [64, 3, 7, 7]", "encoder.trunk.stage3.block1.second.weight [512, 512, 3, 3]",
        "encoder.reduce.weight [128, 512, 1, 1]", "encoder.attention.position [1, 256, 128]",
        "encoder.read_out.1.weight [64, 128]", "actor.memory.weight_ih [2048, 223]"}) {
    EXPECT_THAT(parameters, testing::HasSubstr(line));
  }
  NetworkInput input{.image = at::zeros({1, 2, 3, 240, 320}),
                     .proprio = at::zeros({1, 159}),
                     .memory = at::zeros({1, network.MemorySize()})};
  EXPECT_EQ(network.Actor(input).mean.sizes(), (std::vector<int64_t>{1, 4}));
}

TEST(RgbEncoder, NormalisesAsImageNetDoesAndKeepsCamerasAndPixelsInPlace) {
  torch::Tensor images = at::zeros({1, 2, 4, 5, 3}, torch::kUInt8);
  images[0][1][2][3][1] = 255;
  const torch::Tensor normalised = RgbEncoder::Normalised(images);
  EXPECT_EQ(normalised.sizes(), (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_NEAR(normalised[0][1][1][2][3].item<float>(), (1 - 0.456) / 0.224, 1e-5);
  EXPECT_NEAR(normalised[0][0][0][0][0].item<float>(), -0.485 / 0.229, 1e-5);
}

// A file as torchvision's would be, with random numbers.
std::vector<NamedTensor> TorchvisionResNet18() {
  std::vector<NamedTensor> tensors;
  const auto random = [&](const std::string& name, at::IntArrayRef shape, double mean, double std) {
    tensors.push_back({name, NormalTensor(RandomStream(3, name).At(0, 0), shape, std) + mean});
  };
  const auto norm = [&](const std::string& name, int64_t channels) {
    random(name + ".weight", {channels}, 1.0, 0.1);
    random(name + ".bias", {channels}, 0.0, 0.1);
    random(name + ".running_mean", {channels}, 0.0, 0.1);
    random(name + ".running_var", {channels}, 2.0, 0.1);
  };
  random("conv1.weight", {64, 3, 7, 7}, 0.0, 0.05);
  norm("bn1", 64);
  for (int64_t stage = 0, inputs = 64; stage < 4; ++stage) {
    const int64_t outputs = int64_t{64} << stage;
    for (int block = 0; block < 2; ++block) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(block);
      random(name + ".conv1.weight", {outputs, inputs, 3, 3}, 0.0, 0.03);
      norm(name + ".bn1", outputs);
      random(name + ".conv2.weight", {outputs, outputs, 3, 3}, 0.0, 0.03);
      norm(name + ".bn2", outputs);
      if (inputs != outputs) {
        random(name + ".downsample.0.weight", {outputs, inputs, 1, 1}, 0.0, 0.05);
        norm(name + ".downsample.1", outputs);
      }
      inputs = outputs;
    }
  }
  return tensors;
}

// The network as it is written in the paper, batch normalisations and all.
torch::Tensor ReferenceResNet18(const std::vector<NamedTensor>& weights, torch::Tensor x) {
  const auto w = [&](const std::string& name) { return TensorNamed(weights, name); };
  const auto norm = [&](const torch::Tensor& y, const std::string& name) {
    return at::batch_norm(y, w(name + ".weight"), w(name + ".bias"), w(name + ".running_mean"),
                          w(name + ".running_var"), false, 0.1, 1e-5, false);
  };
  x = at::relu(norm(at::conv2d(x, w("conv1.weight"), {}, 2, 3), "bn1"));
  x = at::max_pool2d(x, 3, 2, 1);
  for (int stage = 1; stage <= 4; ++stage) {
    for (int block = 0; block < 2; ++block) {
      const std::string name = "layer" + std::to_string(stage) + "." + std::to_string(block);
      const int64_t stride = stage > 1 && block == 0 ? 2 : 1;
      const torch::Tensor inner =
          at::relu(norm(at::conv2d(x, w(name + ".conv1.weight"), {}, stride, 1), name + ".bn1"));
      const torch::Tensor y = norm(at::conv2d(inner, w(name + ".conv2.weight"), {}, 1, 1), name + ".bn2");
      if (stride == 2) x = norm(at::conv2d(x, w(name + ".downsample.0.weight"), {}, 2), name + ".downsample.1");
      x = at::relu(x + y);
    }
  }
  return x;
}

TEST(ResNet18, ATrainedNetworkIsTakenOverAsItIs) {
  const std::string path = testing::TempDir() + "/gripstream_resnet18.safetensors";
  SafetensorsFile file;
  file.tensors = TorchvisionResNet18();
  WriteSafetensors(path, file);
  ParameterSet parameters;
  ResNet18 network(LayerBuilder{parameters, 1}, "trunk", {3, 64, 96});
  network.Load(path);
  const torch::Tensor image = NormalTensor(RandomStream(1, "image").At(0, 0), {2, 3, 64, 96}, 1.0);
  const torch::Tensor expected = ReferenceResNet18(file.tensors, image), got = network.Forward(image);
  EXPECT_EQ(got.sizes(),
            (std::vector<int64_t>{2, network.Shape().channels, network.Shape().height, network.Shape().width}));
  EXPECT_GT(expected.abs().max().item<float>(), 0.1f);
  EXPECT_LT((got - expected).abs().max().item<float>(), 1e-4f * expected.abs().max().item<float>());

  file.tensors[1].value = at::ones({32});
  WriteSafetensors(path, file);
  EXPECT_THAT(InputErrorOf([&] { network.Load(path); }), testing::HasSubstr("bn1.weight"));
  file.tensors.erase(file.tensors.begin() + 1);
  WriteSafetensors(path, file);
  EXPECT_THAT(InputErrorOf([&] { network.Load(path); }), testing::HasSubstr("bn1.weight"));
  EXPECT_THAT(InputErrorOf([&] { network.Load("/nowhere.safetensors"); }), testing::HasSubstr("/nowhere.safetensors"));
}

TEST(RgbEncoder, RefusesWhatDoesNotFit) {
  EXPECT_THAT(InputErrorOf([] { ActorCritic({.name = "rgb", .rgb = {.weights = "w"}}, StereoShapes(), 1); }),
              testing::HasSubstr("policy.rgb.weights"));

  EXPECT_THAT(InputErrorOf([] { ActorCritic({.name = "rgb"}, Shapes(), 1); }),
              testing::HasSubstr("render.rgb.cameras"));
  PolicyShapes three = StereoShapes();
  three.cameras = 3;
  EXPECT_THAT(InputErrorOf([&] { ActorCritic({.name = "rgb"}, three, 1); }), testing::HasSubstr("render.rgb.cameras"));
  const RgbConfig heads{.fusion = "attention", .pool_height = 2, .pool_width = 5, .heads = 4};
  EXPECT_THAT(InputErrorOf([&] { ActorCritic({.name = "rgb", .rgb = heads}, StereoShapes(), 1); }),
              testing::HasSubstr("policy.rgb.heads"));
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

TEST(ActorCritic, StateMlpReadsTheNumbersThatItIsToldTo) {
  PolicyConfig config{.name = "state_mlp", .actor_hidden = {16}, .critic_hidden = {8}};
  NetworkInput input = Input(4), other = input;
  other.proprio = input.proprio + 1;
  const auto changes = [&] {
    const ActorCritic network(config, Shapes(), 1);
    EXPECT_TRUE(at::equal(network.Critic(input).value, network.Critic(other).value));
    return !at::equal(network.Actor(input).mean, network.Actor(other).mean);
  };
  EXPECT_FALSE(changes()) << "by itself the state";
  config.actor_input = "proprio";
  EXPECT_TRUE(changes());
  input.state = torch::Tensor();
  EXPECT_EQ(ActorCritic(config, Shapes(), 1).Actor(input).mean.sizes(), (at::IntArrayRef{4, 4})) << "without a state";
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
