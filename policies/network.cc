#include "policies/network.h"

#include <cmath>

#include "core/error.h"
#include "policies/initialise.h"

namespace gripstream {
namespace {

constexpr double kHiddenGain = 1.4142135623730951;
constexpr double kActionGain = 0.01;  // the first actions are near 0, whatever is observed

torch::Tensor Activate(const torch::Tensor& x, const std::string& name) {
  if (name == "relu") return at::relu(x);
  if (name == "tanh") return at::tanh(x);
  return at::elu(x);
}

// Declares parameters; every tensor draws from a stream of its own, named after it.
struct Builder {
  ParameterSet& parameters;
  uint64_t seed;

  Rng Stream(const std::string& name) const { return RandomStream(seed, "initialise." + name).At(0, 0); }
  torch::Tensor Weight(const std::string& name, at::IntArrayRef shape, double gain) const {
    const int64_t rows = shape[0];
    const int64_t columns = c10::multiply_integers(shape) / rows;
    return parameters.Add(name, OrthogonalMatrix(Stream(name), rows, columns, gain).view(shape));
  }
  torch::Tensor Bias(const std::string& name, int64_t size) const {
    return parameters.Add(name, at::zeros({size}, torch::kFloat32));
  }
  Mlp Layers(const std::string& name, int64_t inputs, const std::vector<int>& hidden, int64_t outputs, double last_gain,
             const std::string& activation) const {
    Mlp mlp;
    mlp.activation = activation;
    std::vector<int64_t> sizes(hidden.begin(), hidden.end());
    if (outputs > 0) sizes.push_back(outputs);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::string layer = name + "." + std::to_string(i);
      const bool last = i + 1 == sizes.size();
      mlp.weights.push_back(Weight(layer + ".weight", {sizes[i], inputs}, last ? last_gain : kHiddenGain));
      mlp.biases.push_back(Bias(layer + ".bias", sizes[i]));
      inputs = sizes[i];
    }
    return mlp;
  }
};

void RefuseEncoder(const std::string& key, const std::string& value, const std::string& expected) {
  throw InputError("configuration", "policy.encoder." + key, value, expected);
}

}  // namespace

torch::Tensor Mlp::Forward(torch::Tensor x) const {
  for (size_t i = 0; i < weights.size(); ++i) {
    x = at::linear(x, weights[i], biases[i]);
    if (i + 1 < weights.size() || activate_last) x = Activate(x, activation);
  }
  return x;
}

ActorCritic::ActorCritic(const PolicyConfig& config, const PolicyShapes& shapes, uint64_t seed)
    : uses_image_(config.name == "depth_cnn"),
      has_aux_(uses_image_ && config.aux.enabled && shapes.aux > 0),
      feed_aux_(has_aux_ && config.aux.feed_actor) {
  const Builder build{parameters_, seed};
  int64_t actor_inputs = shapes.state;
  if (uses_image_) {
    BuildEncoder(config, shapes, seed);
    actor_inputs = config.encoder.features + shapes.proprio;
  }
  if (has_aux_) {
    aux_ = build.Layers("aux", actor_inputs, config.aux.hidden, shapes.aux, 1.0, config.activation);
    if (feed_aux_) actor_inputs += shapes.aux;
  }
  actor_ = build.Layers("actor", actor_inputs, config.actor_hidden, shapes.action, kActionGain, config.activation);
  log_std_ = parameters_.Add("log_std", at::full({shapes.action}, std::log(config.init_std), torch::kFloat32));
  critic_ = build.Layers("critic", shapes.state, config.critic_hidden, 1, 1.0, config.activation);
}

void ActorCritic::BuildEncoder(const PolicyConfig& config, const PolicyShapes& shapes, uint64_t seed) {
  const EncoderConfig& encoder = config.encoder;
  const size_t depth = encoder.channels.size();
  if (encoder.kernels.size() != depth) {
    RefuseEncoder("kernels", std::to_string(encoder.kernels.size()) + " numbers", "as many as channels");
  }
  if (encoder.strides.size() != depth) {
    RefuseEncoder("strides", std::to_string(encoder.strides.size()) + " numbers", "as many as channels");
  }
  if (shapes.height_px == 0) {
    throw InputError("configuration", "policy.name", config.name,
                     "a policy without image, or exactly one camera in render.depth.cameras");
  }
  const Builder build{parameters_, seed};
  int64_t height = shapes.height_px, width = shapes.width_px, inputs = 1;
  for (size_t i = 0; i < depth; ++i) {
    const int64_t kernel = encoder.kernels[i], stride = encoder.strides[i], outputs = encoder.channels[i];
    if (height < kernel || width < kernel) {
      RefuseEncoder("kernels", std::to_string(kernel),
                    "at most the " + std::to_string(height) + " x " + std::to_string(width) +
                        " that reach convolution " + std::to_string(i));
    }
    const std::string layer = "encoder." + std::to_string(i);
    conv_weights_.push_back(build.Weight(layer + ".weight", {outputs, inputs, kernel, kernel}, kHiddenGain));
    conv_biases_.push_back(build.Bias(layer + ".bias", outputs));
    conv_strides_.push_back(stride);
    height = (height - kernel) / stride + 1;
    width = (width - kernel) / stride + 1;
    inputs = outputs;
  }
  projection_ =
      build.Layers("encoder.features", inputs * height * width, {encoder.features}, 0, kHiddenGain, config.activation);
  projection_.activate_last = true;
}

torch::Tensor ActorCritic::Encode(const torch::Tensor& image) const {
  torch::Tensor x = image;
  for (size_t i = 0; i < conv_weights_.size(); ++i) {
    x = at::conv2d(x, conv_weights_[i], conv_biases_[i], conv_strides_[i]).relu_();
  }
  return projection_.Forward(x.flatten(1));
}

ActorOutput ActorCritic::Actor(const NetworkInput& input) const {
  ActorOutput output;
  if (!uses_image_) {
    output.mean = actor_.Forward(input.state);
    return output;
  }
  torch::Tensor x = at::cat({Encode(input.image), input.proprio}, 1);
  if (has_aux_) {
    output.aux = aux_.Forward(x);
    // Detached: the head answers to the object's true position alone, so its meaning stays.
    if (feed_aux_) x = at::cat({x, output.aux.detach()}, 1);
  }
  output.mean = actor_.Forward(x);
  return output;
}

torch::Tensor ActorCritic::Critic(const torch::Tensor& state) const {
  return critic_.Forward(state).squeeze(-1);
}

}  // namespace gripstream
