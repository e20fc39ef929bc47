// Tests policies/graph.h and what is written from it: other engines compute what the policy computes.
#include "policies/graph.h"

#include <gtest/gtest.h>
#include <torch/script.h>

#include <filesystem>
#include <fstream>

#include "policies/graph_onnx.h"
#include "policies/graph_torchscript.h"
#include "policies/inference.h"
#include "policies/initialise.h"
#include "policies/safetensors.h"

namespace gripstream {
namespace {

constexpr int64_t kEnvs = 4;
constexpr int kSteps = 1000, kFewSteps = 60;

PolicyShapes Shapes() {
  return {.proprio = 5,
          .state = 9,
          .height_px = 32,
          .width_px = 40,
          .depth_scale_m = 1e-4,
          .cameras = 2,
          .rgb_height_px = 32,
          .rgb_width_px = 40,
          .aux = 3,
          .action = 4};
}

struct Kind {
  std::string name;
  PolicyConfig config;
  int steps = kSteps;  // fewer for large networks without memory, whose steps do not depend on each other
};

// Every kind of network there is, small.
std::vector<Kind> EveryKind() {
  PolicyConfig cnn, state{.name = "state_mlp"};
  cnn.actor_hidden = cnn.critic_hidden = state.actor_hidden = {16};
  cnn.inference_chunk = state.inference_chunk = kEnvs;
  const RecurrentConfig lstm{.kind = "lstm", .units = 12};
  const RecurrentConfig gru{
      .kind = "gru", .units = 12, .place = "after_mlp", .layer_norm = false, .concat_input = false};
  PolicyConfig paper = cnn, range = cnn, cnn_gru = cnn, state_lstm = state, state_gru = state, sensed = state;
  sensed.actor_input = "proprio";
  paper.encoder = {
      .channels = {4, 8}, .kernels = {6, 4}, .strides = {2, 2}, .norm = "layer", .pool = "average", .features = 16};
  paper.actor_rnn = lstm;
  range.image.normalise = "range";
  range.aux.enabled = false;
  range.activation = "relu";
  range.std = "network";
  cnn_gru.actor_rnn = gru;
  cnn_gru.aux.feed_actor = false;
  state_lstm.actor_rnn = lstm;
  state_lstm.actor_rnn.place = "after_mlp";
  state_lstm.activation = "tanh";
  state_gru.actor_rnn = gru;
  state_gru.actor_rnn.place = "before_mlp";
  PolicyConfig stereo = cnn_gru, transformer = cnn, resnet = cnn;
  stereo.name = transformer.name = resnet.name = "rgb";
  transformer.rgb =
      resnet.rgb = {.fusion = "attention", .tokens = 12, .pool_height = 2, .pool_width = 4, .heads = 2, .features = 16};
  transformer.actor_rnn = lstm;
  resnet.rgb.trunk = "resnet18";
  return {{"cnn", cnn},
          {"paper_cnn_lstm", paper},
          {"cnn_range", range},
          {"cnn_gru", cnn_gru},
          {"state", state},
          {"sensed_state", sensed},
          {"state_lstm", state_lstm},
          {"state_gru", state_gru},
          {"stereo_cnn_gru", stereo},
          {"stereo_transformer_lstm", transformer},
          {"stereo_resnet18_transformer", resnet, kFewSteps}};
}

// Some steps of four environments as a simulator would send them; depth with holes, near and far.
struct Recording {
  Observation rows;  // [steps kEnvs, ...]
  explicit Recording(int steps) {
    const RandomStream stream(5, "recording");
    const int64_t count = steps * kEnvs;
    rows.proprio = NormalTensor(stream.At(0, 0), {count, 5}, 2.0);
    rows.state = NormalTensor(stream.At(1, 0), {count, 9}, 2.0);
    rows.depth = at::empty({count, 32, 40}, torch::kUInt16);
    rows.rgb = at::empty({count, 2, 32, 40, 3}, torch::kUInt8);
    Rng rng = stream.At(2, 0);
    for (int64_t i = 0; i < rows.depth.numel(); ++i) {
      const uint32_t draw = rng.Below(25000);
      static_cast<uint16_t*>(rows.depth.data_ptr())[i] = static_cast<uint16_t>(draw < 1000 ? 0 : draw);
    }
    for (int64_t i = 0; i < rows.rgb.numel(); ++i) {
      rows.rgb.data_ptr<uint8_t>()[i] = static_cast<uint8_t>(rng.Below(256));
    }
  }
  Observation At(int64_t t) const {
    return {rows.proprio.narrow(0, t * kEnvs, kEnvs),
            rows.depth.narrow(0, t * kEnvs, kEnvs),
            rows.state.narrow(0, t * kEnvs, kEnvs),
            {},
            rows.rgb.narrow(0, t * kEnvs, kEnvs)};
  }
  torch::Tensor DepthMetres(int64_t t) const { return At(t).depth.to(torch::kFloat32) * 1e-4; }
};

Policy Trained(const PolicyConfig& config) {
  Policy policy(config, Shapes(), 7);
  const Recording seen(10);
  const torch::Tensor aux = NormalTensor(RandomStream(1, "aux").At(0, 0), {10 * kEnvs, 3}, 0.1) + 0.4;
  policy.UpdateNormalizers(
      {.proprio = seen.rows.proprio, .depth = seen.rows.depth, .state = seen.rows.state, .aux = aux.contiguous()});
  for (const NamedTensor& p : policy.Network().Parameters().All()) {
    p.value.detach().add_(NormalTensor(RandomStream(2, p.name).At(0, 0), p.value.sizes(), 0.05));
  }
  return policy;
}

// What the policy does at each step, with its memory.
struct Played {
  torch::Tensor action, aux;
  Played(const Policy& policy, const Recording& recording, int steps)
      : action(at::zeros({steps, kEnvs, 4})), aux(at::zeros({steps, kEnvs, 3})) {
    const torch::Tensor memory = at::zeros({kEnvs, policy.MemorySize()});
    for (int t = 0; t < steps; ++t) {
      policy.Act(recording.At(t), {.sample = false, .memory = memory},
                 {.action = action[t], .aux = aux[t], .memory = memory});
    }
  }
};

class Exported : public testing::TestWithParam<size_t> {
 protected:
  const Kind kind_ = EveryKind()[GetParam()];
  const Policy policy_ = Trained(kind_.config);
  const Graph graph_ = policy_.InferenceGraph();
  bool Has(const char* output) const {
    for (const GraphValue& value : graph_.outputs) {
      if (value.name == output) return true;
    }
    return false;
  }
};

TEST_P(Exported, TorchScriptActsAsThePolicyDoesOverAThousandSteps) {
  const std::string path = testing::TempDir() + "/gripstream_graph_test.pt";
  WriteTorchScript(graph_, path);
  torch::jit::Module module = torch::jit::load(path);
  const Recording recording(kind_.steps);
  const Played played(policy_, recording, kind_.steps);
  torch::Tensor memory = at::zeros({kEnvs, policy_.Network().ActorMemorySize()});
  double worst = 0, worst_aux = 0;
  for (int t = 0; t < kind_.steps; ++t) {
    const Observation o = recording.At(t);
    std::vector<c10::IValue> inputs;
    for (const GraphValue& input : graph_.inputs) {
      inputs.emplace_back(input.name == "depth"     ? recording.DepthMetres(t)
                          : input.name == "proprio" ? o.proprio
                          : input.name == "state"   ? o.state
                          : input.name == "rgb"     ? o.rgb.to(torch::kFloat32)
                                                    : memory);
    }
    const auto outputs = module.forward(inputs).toTuple()->elements();
    ASSERT_EQ(outputs.size(), graph_.outputs.size());
    worst = std::max(worst, (outputs[0].toTensor() - played.action[t]).abs().max().item<double>());
    if (Has("aux")) {
      worst_aux = std::max(worst_aux, (outputs[1].toTensor() - played.aux[t]).abs().max().item<double>());
    }
    if (Has("memory_out")) memory = outputs.back().toTensor();
  }
  EXPECT_LT(worst, 1e-4);
  EXPECT_LT(worst_aux, 1e-4);
  EXPECT_GT(played.action.abs().max().item<double>(), 0.05);  // there was something to agree on
  std::filesystem::remove(path);
}

// The Python side, on what was written: onnx.checker and ONNX Runtime, or torch.jit.
class FromPython : public Exported {
 protected:
  const std::string python_ = std::string(GRIPSTREAM_DEPS_DIR) + "/venv/bin/python";
  bool CanImport(const std::string& modules) const {
    return std::system((python_ + " -c 'import " + modules + "' 2>/dev/null").c_str()) == 0;
  }
  int Check(const std::string& option) const {
    const std::string folder = testing::TempDir() + "/gripstream_graph_" + kind_.name + option;
    std::filesystem::create_directories(folder);
    const int steps = kind_.steps;
    const Recording recording(steps);
    const Played played(policy_, recording, steps);
    WriteTorchScript(graph_, folder + "/policy.pt");
    std::ofstream(folder + "/policy.onnx", std::ios::binary) << OnnxModel(graph_, "gripstream test");
    SafetensorsFile file;
    file.tensors = {{"depth", recording.rows.depth.to(torch::kFloat32).view({steps, kEnvs, 32, 40}) * 1e-4},
                    {"rgb", recording.rows.rgb.to(torch::kFloat32).view({steps, kEnvs, 2, 32, 40, 3})},
                    {"proprio", recording.rows.proprio.view({steps, kEnvs, 5})},
                    {"state", recording.rows.state.view({steps, kEnvs, 9})},
                    {"action", played.action},
                    {"aux", played.aux}};
    WriteSafetensors(folder + "/recording.safetensors", file);
    const std::string script = std::string(GRIPSTREAM_SOURCE_DIR) + "/tests/policies/check_export.py ";
    const int code = std::system((python_ + " " + script + folder + " " + option).c_str());
    std::filesystem::remove_all(folder);
    return code;
  }
};

TEST_P(FromPython, OnnxRuntimeActsAsThePolicyDoesOverAThousandSteps) {
  if (!CanImport("onnx, onnxruntime")) GTEST_SKIP() << "no onnx and onnxruntime in build/deps (tools/setup.sh --tests)";
  EXPECT_EQ(Check(""), 0);
}

TEST_P(FromPython, TorchScriptActsAsThePolicyDoesOverAThousandSteps) {
  if (!CanImport("torch, onnxruntime")) GTEST_SKIP() << "the torch wheel in build/deps lacks its CUDA half";
  EXPECT_EQ(Check("--torchscript"), 0);
}

INSTANTIATE_TEST_SUITE_P(EveryKind, FromPython, testing::Range(size_t{0}, EveryKind().size()),
                         [](const auto& test) { return EveryKind()[test.param].name; });
INSTANTIATE_TEST_SUITE_P(EveryKind, Exported, testing::Range(size_t{0}, EveryKind().size()),
                         [](const auto& test) { return EveryKind()[test.param].name; });

}  // namespace
}  // namespace gripstream
