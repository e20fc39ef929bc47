#include "policies/layers.h"

#include "core/error.h"
#include "policies/initialise.h"

namespace gripstream {
namespace {

constexpr double kForgetBias = 1.0;  // an LSTM remembers until it learns to forget

// In place where gradients need the result only: what a linear layer put out is of no further use, and elu's gradient
// from its result needs no second exponential.
torch::Tensor Activate(torch::Tensor x, const std::string& name) {
  if (name == "relu") return x.relu_();
  if (name == "tanh") return x.tanh_();
  if (name == "gelu") return at::gelu(x);
  return at::elu_(x);
}

}  // namespace

torch::Tensor Mlp::Forward(torch::Tensor x) const {
  for (size_t i = 0; i < weights.size(); ++i) {
    x = at::linear(x, weights[i], biases[i]);
    if (i + 1 < weights.size() || activate_last) x = Activate(x, activation);
  }
  return x;
}

Recurrent::Output Recurrent::Forward(const torch::Tensor& x, const torch::Tensor& memory,
                                     const torch::Tensor& keep) const {
  GS_CHECK(memory.defined() && memory.size(1) == MemorySize(), "a memory of another size");
  const int64_t batch = memory.size(0), steps = x.size(0) / batch;
  GS_CHECK(x.size(0) == batch * steps, "rows are not whole steps");
  // All steps' input products at once; only what depends on the step before is left for the loop.
  const torch::Tensor input_parts = at::linear(x, weight_ih_, bias_ih_);
  torch::Tensor hidden = memory.narrow(1, 0, units_);
  torch::Tensor cell = lstm_ ? memory.narrow(1, units_, units_) : torch::Tensor();
  std::vector<torch::Tensor> outputs;
  for (int64_t l = 0; l < steps; ++l) {
    if (keep.defined()) {
      const torch::Tensor kept = keep.narrow(0, l * batch, batch);
      hidden = hidden * kept;
      if (lstm_) cell = cell * kept;
    }
    outputs.push_back(Step(input_parts.narrow(0, l * batch, batch), hidden, cell));
  }
  Output output{steps == 1 ? outputs.front() : at::cat(outputs), lstm_ ? at::cat({hidden, cell}, 1) : hidden};
  if (norm_weight_.defined()) output.features = at::layer_norm(output.features, {units_}, norm_weight_, norm_bias_);
  return output;
}

torch::Tensor Recurrent::Step(const torch::Tensor& input_part, torch::Tensor& hidden, torch::Tensor& cell) const {
  const torch::Tensor recurrent = at::linear(hidden, weight_hh_, bias_hh_);
  if (lstm_) {
    const auto gates = (input_part + recurrent).chunk(4, 1);
    cell = at::sigmoid(gates[1]) * cell + at::sigmoid(gates[0]) * at::tanh(gates[2]);
    hidden = at::sigmoid(gates[3]) * at::tanh(cell);
    return hidden;
  }
  const auto from_input = input_part.chunk(3, 1), from_hidden = recurrent.chunk(3, 1);
  const torch::Tensor reset = at::sigmoid(from_input[0] + from_hidden[0]);
  const torch::Tensor update = at::sigmoid(from_input[1] + from_hidden[1]);
  const torch::Tensor fresh = at::tanh(from_input[2] + reset * from_hidden[2]);
  hidden = fresh + update * (hidden - fresh);
  return hidden;
}

torch::Tensor LayerBuilder::Weight(const std::string& name, at::IntArrayRef shape, double gain) const {
  const int64_t rows = shape[0];
  const int64_t columns = c10::multiply_integers(shape) / rows;
  const Rng rng = RandomStream(seed, "initialise." + name).At(0, 0);
  return parameters.Add(name, OrthogonalMatrix(rng, rows, columns, gain).view(shape));
}

torch::Tensor LayerBuilder::Constant(const std::string& name, at::IntArrayRef shape, double value) const {
  return parameters.Add(name, at::full(shape, value, torch::kFloat32));
}

void LayerBuilder::AddLayer(Mlp& mlp, const std::string& name, int64_t inputs, int64_t outputs, double gain) const {
  mlp.weights.push_back(Weight(name + ".weight", {outputs, inputs}, gain));
  mlp.biases.push_back(Constant(name + ".bias", {outputs}, 0.0));
}

torch::Tensor LayerBuilder::Normal(const std::string& name, at::IntArrayRef shape, double std) const {
  return parameters.Add(name, NormalTensor(RandomStream(seed, "initialise." + name).At(0, 0), shape, std));
}

Mlp LayerBuilder::Hidden(const std::string& name, int64_t inputs, const std::vector<int>& sizes,
                         const std::string& activation) const {
  Mlp mlp{.activation = activation, .activate_last = true};
  for (const int size : sizes) {
    AddLayer(mlp, name + "." + std::to_string(mlp.weights.size()), inputs, size, kHiddenGain);
    inputs = size;
  }
  return mlp;
}

Mlp LayerBuilder::Layers(const std::string& name, int64_t inputs, const std::vector<int>& sizes, int64_t outputs,
                         double last_gain, const std::string& activation) const {
  Mlp mlp = Hidden(name, inputs, sizes, activation);
  mlp.activate_last = false;
  AddLayer(mlp, name + "." + std::to_string(sizes.size()), sizes.empty() ? inputs : sizes.back(), outputs, last_gain);
  return mlp;
}

Mlp LayerBuilder::Linear(const std::string& name, int64_t inputs, int64_t outputs, double gain) const {
  Mlp mlp;
  AddLayer(mlp, name, inputs, outputs, gain);
  return mlp;
}

Recurrent LayerBuilder::Memory(const std::string& name, int64_t inputs, const RecurrentConfig& config) const {
  Recurrent layer;
  if (!config.Exists()) return layer;
  layer.lstm_ = config.kind == "lstm";
  layer.units_ = config.units;
  const int64_t rows = (layer.lstm_ ? 4 : 3) * layer.units_;
  layer.weight_ih_ = Weight(name + ".weight_ih", {rows, inputs}, 1.0);
  layer.weight_hh_ = Weight(name + ".weight_hh", {rows, layer.units_}, 1.0);
  layer.bias_ih_ = Constant(name + ".bias_ih", {rows}, 0.0);
  layer.bias_hh_ = Constant(name + ".bias_hh", {rows}, 0.0);
  if (layer.lstm_) layer.bias_ih_.detach().narrow(0, layer.units_, layer.units_).fill_(kForgetBias);
  if (config.layer_norm) {
    layer.norm_weight_ = Constant(name + ".norm.weight", {layer.units_}, 1.0);
    layer.norm_bias_ = Constant(name + ".norm.bias", {layer.units_}, 0.0);
  }
  return layer;
}

}  // namespace gripstream
