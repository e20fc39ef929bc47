#include "deploy/script_engine.h"

#include <ATen/Parallel.h>
#include <torch/script.h>

#include <algorithm>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "deploy/policy_driver.h"

namespace gripstream {
namespace {

constexpr int kWarmUps = 5;

class ScriptEngine final : public PolicyEngine {
 public:
  ScriptEngine(torch::jit::Module module, const Manifest& manifest)
      : module_(std::move(module)), policy_(manifest.policy), sizes_(PolicyDriver::SizesOf(manifest)) {}

  void Run(const PolicyInput& input, PolicyOutput& output) override {
    const c10::InferenceMode inference;
    std::vector<c10::IValue> inputs;
    for (const std::string& name : policy_.inputs) inputs.emplace_back(Tensor(name, input));
    try {
      const auto results = module_.forward(inputs).toTuple();
      GS_CHECK(results->elements().size() == policy_.outputs.size(), "outputs as the manifest has them");
      for (size_t i = 0; i < policy_.outputs.size(); ++i) {
        const torch::Tensor value = results->elements()[i].toTensor().contiguous();
        Slot(policy_.outputs[i], output)
            .assign(value.const_data_ptr<float>(), value.const_data_ptr<float>() + value.numel());
      }
    } catch (const c10::Error& error) {
      throw RunError(std::string("the policy failed: ") + error.what_without_backtrace());
    }
  }

  // Returns how long the quickest of some runs took.
  double WarmUp() {
    const PolicySizes& s = sizes_;
    const auto zeros = [](int count) { return std::vector<float>(static_cast<size_t>(count)); };
    const std::vector<float> proprio = zeros(s.proprio), depth = zeros(s.depth_height * s.depth_width),
                             rgb = zeros(s.cameras * s.rgb_height * s.rgb_width * 3), memory = zeros(s.memory);
    PolicyOutput output;
    double quickest_s = 1e9;
    for (int i = 0; i < kWarmUps; ++i) {
      const double begin_s = SteadySeconds();
      Run({.proprio = proprio, .depth = depth, .rgb = rgb, .memory = memory}, output);
      quickest_s = std::min(quickest_s, SteadySeconds() - begin_s);
    }
    return quickest_s;
  }

 private:
  static torch::Tensor View(std::span<const float> values, std::vector<int64_t> shape) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    GS_CHECK(static_cast<int64_t>(values.size()) == count, "an input as the manifest has it");
    return at::from_blob(const_cast<float*>(values.data()), shape, torch::kFloat32);
  }
  torch::Tensor Tensor(const std::string& name, const PolicyInput& input) const {
    const PolicySizes& s = sizes_;
    if (name == "depth") return View(input.depth, {1, s.depth_height, s.depth_width});
    if (name == "rgb") return View(input.rgb, {1, s.cameras, s.rgb_height, s.rgb_width, 3});
    if (name == "memory") return View(input.memory, {1, s.memory});
    return View(input.proprio, {1, s.proprio});
  }
  static std::vector<float>& Slot(const std::string& name, PolicyOutput& output) {
    return name == "aux" ? output.aux : name == "memory_out" ? output.memory : output.action;
  }

  torch::jit::Module module_;
  const ManifestPolicy policy_;
  const PolicySizes sizes_;
};

}  // namespace

std::unique_ptr<PolicyEngine> LoadScript(const std::string& folder, const Manifest& manifest, int threads) {
  const std::string file = folder + "/policy.pt";
  if (Sha256Hex(ReadText(file)) != manifest.origin.torchscript_sha256)
    throw InputError(file, "is not the policy of " + folder + "/manifest.yaml: its digest is another one");
  at::set_num_threads(threads);
  // The optimising executor compiles during the first runs and would do so again for other shapes.
  torch::jit::setGraphExecutorOptimize(false);
  try {
    torch::jit::Module module = torch::jit::load(file);
    module.eval();
    auto engine = std::make_unique<ScriptEngine>(std::move(module), manifest);
    const double took_s = engine->WarmUp(), period_s = 1 / manifest.control.policy_hz;
    if (took_s > period_s) {
      LogWarning("one decision takes ", 1e3 * took_s, " ms and the policy's period is ", 1e3 * period_s,
                 " ms: this machine holds ", 1 / took_s, " Hz at most");
    }
    return engine;
  } catch (const c10::Error& error) {
    throw InputError(file, std::string("cannot be loaded: ") + error.what_without_backtrace());
  }
}

}  // namespace gripstream
