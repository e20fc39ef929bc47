#include "policies/convolutions.h"

#include <algorithm>

#include "core/error.h"
#include "policies/safetensors.h"

namespace gripstream {
namespace {

void Refuse(const std::string& key, const std::string& value, const std::string& expected) {
  throw InputError("configuration", "policy.encoder." + key, value, expected);
}

int64_t Convolved(int64_t size, int64_t kernel, int64_t stride, int64_t padding) {
  return (size + 2 * padding - kernel) / stride + 1;
}

}  // namespace

Convolutions::Convolutions(const LayerBuilder& build, const std::string& name, const EncoderConfig& config,
                           const MapShape& image)
    : shape_(image) {
  const size_t depth = config.channels.size();
  if (config.kernels.size() != depth) {
    Refuse("kernels", std::to_string(config.kernels.size()) + " numbers", "as many as channels");
  }
  if (config.strides.size() != depth) {
    Refuse("strides", std::to_string(config.strides.size()) + " numbers", "as many as channels");
  }
  for (size_t i = 0; i < depth; ++i) {
    const int64_t kernel = config.kernels[i], outputs = config.channels[i];
    if (shape_.height < kernel || shape_.width < kernel) {
      Refuse("kernels", std::to_string(kernel),
             "at most the " + std::to_string(shape_.height) + " x " + std::to_string(shape_.width) +
                 " that reach convolution " + std::to_string(i));
    }
    const std::string layer = name + "." + std::to_string(i);
    Layer added{.weight = build.Weight(layer + ".weight", {outputs, shape_.channels, kernel, kernel}, kHiddenGain),
                .bias = build.Constant(layer + ".bias", {outputs}, 0.0),
                .norm_weight = {},
                .norm_bias = {},
                .stride = config.strides[i]};
    shape_ = {outputs, Convolved(shape_.height, kernel, added.stride, 0),
              Convolved(shape_.width, kernel, added.stride, 0)};
    if (config.norm == "layer") {
      const std::vector<int64_t> map = {outputs, shape_.height, shape_.width};
      added.norm_weight = build.Constant(layer + ".norm.weight", map, 1.0);
      added.norm_bias = build.Constant(layer + ".norm.bias", map, 0.0);
    }
    layers_.push_back(added);
  }
}

torch::Tensor Convolutions::Forward(torch::Tensor x) const {
  for (const Layer& layer : layers_) {
    x = at::conv2d(x, layer.weight, layer.bias, layer.stride).relu_();
    if (layer.norm_weight.defined()) {
      x = at::layer_norm(x, layer.norm_weight.sizes(), layer.norm_weight, layer.norm_bias);
    }
  }
  return x;
}

std::string Convolutions::AddTo(GraphBuilder& graph, std::string x) const {
  for (const Layer& layer : layers_) {
    x = graph.Activation("relu", graph.Conv2d(x, layer.weight, layer.bias, layer.stride, 0));
    if (layer.norm_weight.defined()) x = graph.LayerNorm(x, layer.norm_weight, layer.norm_bias);
  }
  return x;
}

// Scale and offset go into the convolution: one operation.
torch::Tensor ResNet18::Convolution::Forward(const torch::Tensor& x) const {
  return at::conv2d(x, weight * scale.view({-1, 1, 1, 1}), offset, stride, padding);
}

std::string ResNet18::Convolution::AddTo(GraphBuilder& graph, const std::string& x) const {
  return graph.Conv2d(x, (weight * scale.view({-1, 1, 1, 1})).detach(), offset, stride, padding);
}

ResNet18::ResNet18(const LayerBuilder& build, const std::string& name, const MapShape& image) : shape_(image) {
  constexpr int64_t kStages[] = {64, 128, 256, 512};
  const auto shrink = [&](int64_t channels, int64_t kernel, int64_t stride) {
    shape_ = {channels, Convolved(shape_.height, kernel, stride, kernel / 2),
              Convolved(shape_.width, kernel, stride, kernel / 2)};
  };
  const auto add = [&](const std::string& part, const std::string& convolution, const std::string& norm,
                       int64_t outputs, int64_t inputs, int64_t kernel, int64_t stride, double scale) {
    const std::string own = name + "." + part;
    return Convolution{.trained_weight = convolution + ".weight",
                       .trained_norm = norm,
                       .weight = build.Weight(own + ".weight", {outputs, inputs, kernel, kernel}, kHiddenGain),
                       .scale = build.Constant(own + ".scale", {outputs}, scale),
                       .offset = build.Constant(own + ".offset", {outputs}, 0.0),
                       .stride = stride,
                       .padding = kernel / 2};
  };
  stem_ = add("stem", "conv1", "bn1", kStages[0], image.channels, 7, 2, 1.0);
  shrink(kStages[0], 7, 2);
  shrink(kStages[0], 3, 2);  // pooling
  for (size_t stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < 2; ++i) {
      const int64_t inputs = shape_.channels, outputs = kStages[stage], stride = stage > 0 && i == 0 ? 2 : 1;
      const std::string block = "stage" + std::to_string(stage) + ".block" + std::to_string(i);
      const std::string theirs = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
      Block added{.first = add(block + ".first", theirs + ".conv1", theirs + ".bn1", outputs, inputs, 3, stride, 1.0),
                  .second = add(block + ".second", theirs + ".conv2", theirs + ".bn2", outputs, outputs, 3, 1, 0.0),
                  .shortcut = {}};
      if (stride != 1 || inputs != outputs) {
        added.shortcut = add(block + ".shortcut", theirs + ".downsample.0", theirs + ".downsample.1", outputs, inputs,
                             1, stride, 1.0);
      }
      blocks_.push_back(added);
      shrink(outputs, 3, stride);
    }
  }
}

std::vector<const ResNet18::Convolution*> ResNet18::All() const {
  std::vector<const Convolution*> all = {&stem_};
  for (const Block& block : blocks_) {
    all.insert(all.end(), {&block.first, &block.second});
    if (block.shortcut.weight.defined()) all.push_back(&block.shortcut);
  }
  return all;
}

void ResNet18::Load(const std::string& path) {
  constexpr double kEpsilon = 1e-5;  // of torchvision's batch normalisation
  const torch::NoGradGuard no_grad;
  const SafetensorsFile file = ReadSafetensors(path);
  const auto take = [&](const std::string& name, at::IntArrayRef shape) {
    const auto found = std::ranges::find_if(file.tensors, [&](const NamedTensor& t) { return t.name == name; });
    const bool fits = found != file.tensors.end() && found->value.sizes() == shape && found->value.is_floating_point();
    if (fits) return found->value.to(torch::kFloat32);
    throw InputError(path, name, found == file.tensors.end() ? "nothing" : c10::str(found->value.sizes()),
                     "ResNet-18's numbers of shape " + c10::str(shape) + ", by torchvision's names");
  };
  for (const Convolution* one : All()) {
    const at::IntArrayRef channels = one->scale.sizes();
    const torch::Tensor deviation = (take(one->trained_norm + ".running_var", channels) + kEpsilon).sqrt();
    const torch::Tensor scale = take(one->trained_norm + ".weight", channels) / deviation;
    one->weight.detach().copy_(take(one->trained_weight, one->weight.sizes()));
    one->scale.detach().copy_(scale);
    one->offset.detach().copy_(take(one->trained_norm + ".bias", channels) -
                               take(one->trained_norm + ".running_mean", channels) * scale);
  }
}

torch::Tensor ResNet18::Forward(torch::Tensor x) const {
  x = at::max_pool2d(at::relu(stem_.Forward(x)), 3, 2, 1);
  for (const Block& block : blocks_) {
    const torch::Tensor beside = block.shortcut.weight.defined() ? block.shortcut.Forward(x) : x;
    x = at::relu(block.second.Forward(at::relu(block.first.Forward(x))) + beside);
  }
  return x;
}

std::string ResNet18::AddTo(GraphBuilder& graph, std::string x) const {
  x = graph.MaxPool(graph.Activation("relu", stem_.AddTo(graph, x)), 3, 2, 1);
  for (const Block& block : blocks_) {
    const std::string beside = block.shortcut.weight.defined() ? block.shortcut.AddTo(graph, x) : x;
    const std::string inner = graph.Activation("relu", block.first.AddTo(graph, x));
    x = graph.Activation("relu", graph.Add(block.second.AddTo(graph, inner), beside));
  }
  return x;
}

}  // namespace gripstream
