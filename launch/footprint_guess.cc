#include "launch/footprint_guess.h"

#include <algorithm>

namespace gripstream {
namespace {

constexpr double kLearnerProgram_bytes = 300e6, kSimulatorProgram_bytes = 100e6;  // three times what they are
// Numbers that a pass keeps for each that a layer puts out: before and after its activation, and the gradients of both.
constexpr double kKept = 4;

// Numbers, not bytes.
struct Sizes {
  double parameters = 0;
  double row = 0;  // of what a row's pass puts out, layer by layer

  void Add(const Sizes& other) {
    parameters += other.parameters;
    row += other.row;
  }
};

Sizes Layers(double inputs, const std::vector<int>& hidden) {
  Sizes sizes;
  for (const int width : hidden) {
    sizes.Add({(inputs + 1) * width, static_cast<double>(width)});
    inputs = width;
  }
  return sizes;
}

Sizes Convolutions(const EncoderConfig& encoder, double pixels, double colours) {
  Sizes sizes;
  double last = colours;
  for (size_t i = 0; i < encoder.channels.size(); ++i) {
    const double channels = encoder.channels[i], kernel = i < encoder.kernels.size() ? encoder.kernels[i] : 3,
                 stride = i < encoder.strides.size() ? encoder.strides[i] : 1;
    pixels /= stride * stride;
    sizes.Add({(kernel * kernel * last + 1) * channels, channels * pixels});
    last = channels;
  }
  const double flat = encoder.pool == "none" ? last * pixels : last;
  sizes.Add(Layers(flat, {encoder.features}));
  return sizes;
}

Sizes ResNet18(double pixels) {
  constexpr double kParameters = 12e6, kRowPerPixel = 60;  // 64 channels at half the resolution in each direction, ...
  return {kParameters, kRowPerPixel * pixels};
}

Sizes Attention(const RgbConfig& rgb) {
  constexpr double kMatrices = 12, kRows = 24;  // of a transformer's block: projections, and a part four times as wide
  const double width = static_cast<double>(rgb.pool_height) * rgb.pool_width;
  return {rgb.layers * kMatrices * width * width,
          rgb.layers * (kRows * rgb.tokens * width + 2.0 * rgb.heads * rgb.tokens * rgb.tokens)};
}

Sizes Recurrent(const RecurrentConfig& rnn, double inputs) {
  constexpr double kGates = 4;
  if (!rnn.Exists()) return {};
  return {kGates * rnn.units * (inputs + rnn.units + 2.0), 2 * kGates * rnn.units};
}

// All networks together.
Sizes Networks(const PolicyConfig& policy, const TaskDescription& task) {
  Sizes sizes;
  double inputs = static_cast<double>(policy.encoder.features + 2 * policy.rgb.features);
  for (const TensorSpec& spec : task.record) {
    const double elements = static_cast<double>(spec.Elements());
    sizes.row += elements;  // as network input
    if (spec.shape.size() < 2) {
      inputs += elements;
      continue;
    }
    const double colours = spec.shape.size() > 2 ? 3 : 1, pixels = elements / colours;
    sizes.Add(policy.name == "rgb" && policy.rgb.trunk == "resnet18" ? ResNet18(pixels)
                                                                     : Convolutions(policy.encoder, pixels, colours));
    if (policy.name == "rgb" && policy.rgb.fusion == "attention") sizes.Add(Attention(policy.rgb));
  }
  const double actor = inputs + policy.actor_rnn.units, critic = inputs + policy.critic_rnn.units;
  for (const Sizes& part :
       {Layers(actor, policy.actor_hidden), Layers(critic, policy.critic_hidden), Layers(actor, policy.aux.hidden),
        Recurrent(policy.actor_rnn, actor + 8192), Recurrent(policy.critic_rnn, critic + 8192)}) {
    sizes.Add(part);
  }
  return sizes;
}

}  // namespace

Footprints GuessFootprints(const RunConfig& config, const TaskDescription& task) {
  constexpr double kFloat = sizeof(float), kPerSample_bytes = 64;
  const PolicyConfig& policy = config.policy;
  const Sizes sizes = Networks(policy, task);
  Footprints guess;
  guess.learner = {.program = kLearnerProgram_bytes,
                   .network = 2 * kFloat * sizes.parameters,
                   .optimiser = 3 * kFloat * sizes.parameters,
                   .update = kFloat * sizes.parameters,
                   .update_sample = kPerSample_bytes,
                   .update_row = kKept * kFloat * sizes.row,
                   .act_row = kFloat * sizes.row};
  for (const RecurrentConfig* rnn : {&policy.actor_rnn, &policy.critic_rnn}) {
    if (rnn->Exists()) guess.learner.memory += 2 * rnn->units;
  }
  // One environment alone has its own models, too, which many share.
  guess.simulator = {.program = kSimulatorProgram_bytes,
                     .environment = task.env_bytes,
                     .state = static_cast<double>(task.state_bytes)};
  return guess;
}

}  // namespace gripstream
