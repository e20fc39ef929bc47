// Tests policies/layers.h against LibTorch's own recurrent layers.
#include "policies/layers.h"

#include <ATen/ops/gru.h>
#include <ATen/ops/lstm.h>
#include <gtest/gtest.h>

#include "policies/initialise.h"

namespace gripstream {
namespace {

constexpr int64_t kSteps = 5, kBatch = 3, kInputs = 4, kUnits = 6;

struct Layer {
  ParameterSet parameters;
  Recurrent recurrent;

  explicit Layer(const std::string& kind, bool layer_norm = false) {
    recurrent = LayerBuilder{parameters, 1}.Memory(
        "m", kInputs, {.kind = kind, .units = static_cast<int>(kUnits), .layer_norm = layer_norm});
    // Biases begin at constants: make every parameter matter.
    for (const NamedTensor& p : parameters.All()) {
      p.value.detach().add_(NormalTensor(RandomStream(2, p.name).At(0, 0), p.value.sizes(), 0.3));
    }
  }
  std::vector<torch::Tensor> Weights() const {
    std::vector<torch::Tensor> weights;
    for (const NamedTensor& p : parameters.All()) weights.push_back(p.value);
    return weights;  // weight_ih, weight_hh, bias_ih, bias_hh
  }
  torch::Tensor Memory() const {
    return NormalTensor(RandomStream(3, "memory").At(0, 0), {kBatch, recurrent.MemorySize()}, 0.5);
  }
};

torch::Tensor Inputs() {
  return NormalTensor(RandomStream(4, "x").At(0, 0), {kSteps * kBatch, kInputs}, 1.0);
}

void ExpectClose(const torch::Tensor& a, const torch::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  EXPECT_LT((a - b).abs().max().item<float>(), 2e-6f);
}

TEST(Recurrent, LstmIsLibTorchsLstm) {
  const Layer layer("lstm");
  const torch::Tensor memory = layer.Memory(), x = Inputs();
  const Recurrent::Output output = layer.recurrent.Forward(x, memory, {});
  const auto [y, h, c] =
      at::lstm(x.view({kSteps, kBatch, kInputs}),
               {memory.narrow(1, 0, kUnits).unsqueeze(0), memory.narrow(1, kUnits, kUnits).unsqueeze(0)},
               layer.Weights(), true, 1, 0.0, false, false, false);
  ExpectClose(output.features, y.flatten(0, 1));
  ExpectClose(output.memory, at::cat({h[0], c[0]}, 1));
}

TEST(Recurrent, GruIsLibTorchsGru) {
  const Layer layer("gru");
  const torch::Tensor memory = layer.Memory(), x = Inputs();
  const Recurrent::Output output = layer.recurrent.Forward(x, memory, {});
  const auto [y, h] = at::gru(x.view({kSteps, kBatch, kInputs}), memory.unsqueeze(0), layer.Weights(), true, 1, 0.0,
                              false, false, false);
  ExpectClose(output.features, y.flatten(0, 1));
  ExpectClose(output.memory, h[0]);
}

class EachKind : public testing::TestWithParam<const char*> {};

TEST_P(EachKind, StepsOneByOneAreTheSequence) {
  const Layer layer(GetParam(), true);
  const torch::Tensor x = Inputs();
  const Recurrent::Output whole = layer.recurrent.Forward(x, layer.Memory(), {});
  torch::Tensor memory = layer.Memory();
  for (int64_t l = 0; l < kSteps; ++l) {
    const Recurrent::Output one = layer.recurrent.Forward(x.narrow(0, l * kBatch, kBatch), memory, {});
    ExpectClose(one.features, whole.features.narrow(0, l * kBatch, kBatch));
    memory = one.memory;
  }
  ExpectClose(memory, whole.memory);
}

TEST_P(EachKind, BeginsAnewFromNothingWhereItIsNotToKeep) {
  const Layer layer(GetParam());
  const torch::Tensor x = Inputs(), keep = at::ones({kSteps * kBatch, 1});
  keep[2 * kBatch + 1] = 0.0;  // sequence 1 before step 2
  const Recurrent::Output cut = layer.recurrent.Forward(x, layer.Memory(), keep);
  const Recurrent::Output uncut = layer.recurrent.Forward(x, layer.Memory(), {});
  const int64_t rest = kSteps - 2;
  const Recurrent::Output fresh = layer.recurrent.Forward(x.narrow(0, 2 * kBatch, rest * kBatch),
                                                          at::zeros({kBatch, layer.recurrent.MemorySize()}), {});
  ExpectClose(cut.memory[1], fresh.memory[1]);
  ExpectClose(cut.memory[0], uncut.memory[0]);
  const auto step = [](const Recurrent::Output& output, int64_t l, int64_t b) {
    return output.features[l * kBatch + b];
  };
  ExpectClose(step(cut, 1, 1), step(uncut, 1, 1));
  for (int64_t l = 0; l < rest; ++l) ExpectClose(step(cut, 2 + l, 1), step(fresh, l, 1));
  for (int64_t l = 0; l < kSteps; ++l) ExpectClose(step(cut, l, 2), step(uncut, l, 2));
}

TEST_P(EachKind, NoGradientGoesBackPastAnEpisodesEnd) {
  const Layer layer(GetParam());
  const torch::Tensor x = Inputs().requires_grad_(true), keep = at::ones({kSteps * kBatch, 1});
  keep.narrow(0, 3 * kBatch, kBatch).zero_();
  layer.recurrent.Forward(x, layer.Memory(), keep).memory.sum().backward();
  EXPECT_EQ(x.grad().narrow(0, 0, 3 * kBatch).abs().max().item<float>(), 0.0f);
  EXPECT_GT(x.grad().narrow(0, 3 * kBatch, kBatch).abs().min().item<float>(), 0.0f);
}

TEST_P(EachKind, NormalisedFeaturesHaveMeanZeroAndDeviationOneAtFirst) {
  ParameterSet parameters;
  const Recurrent layer = LayerBuilder{parameters, 1}.Memory("m", kInputs, {.kind = GetParam(), .units = 64});
  const torch::Tensor y = layer.Forward(Inputs(), at::zeros({kBatch, layer.MemorySize()}), {}).features;
  EXPECT_LT(y.mean(1).abs().max().item<float>(), 1e-5f);
  EXPECT_LT((y.square().mean(1) - 1.0).abs().max().item<float>(), 0.05f);
}

INSTANTIATE_TEST_SUITE_P(Recurrent, EachKind, testing::Values("lstm", "gru"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace gripstream
