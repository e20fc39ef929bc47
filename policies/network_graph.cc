// The forward functions of layers.h and network.h once more, as graphs. Tests hold both to the same numbers.
#include "policies/network.h"

namespace gripstream {

std::string Mlp::AddTo(GraphBuilder& graph, std::string x) const {
  for (size_t i = 0; i < weights.size(); ++i) {
    x = graph.Linear(x, weights[i], biases[i]);
    if (i + 1 < weights.size() || activate_last) x = graph.Activation(activation, x);
  }
  return x;
}

Recurrent::GraphOutput Recurrent::AddTo(GraphBuilder& graph, const std::string& x, const std::string& memory) const {
  const std::string from_input = graph.Linear(x, weight_ih_, bias_ih_);
  const std::string hidden = graph.Slice(memory, 0, units_);
  const std::string from_hidden = graph.Linear(hidden, weight_hh_, bias_hh_);
  const auto part = [&](const std::string& of, int64_t gate) { return graph.Slice(of, gate * units_, units_); };
  GraphOutput output;
  if (lstm_) {
    const std::string gates = graph.Add(from_input, from_hidden);
    const auto gate = [&](int64_t i, const char* kind) { return graph.Activation(kind, part(gates, i)); };
    const std::string kept = graph.Multiply(gate(1, "sigmoid"), graph.Slice(memory, units_, units_));
    const std::string cell = graph.Add(kept, graph.Multiply(gate(0, "sigmoid"), gate(2, "tanh")));
    output.features = graph.Multiply(gate(3, "sigmoid"), graph.Activation("tanh", cell));
    output.memory = graph.Concat({output.features, cell});
  } else {
    const auto gate = [&](int64_t i) {
      return graph.Activation("sigmoid", graph.Add(part(from_input, i), part(from_hidden, i)));
    };
    const std::string fresh =
        graph.Activation("tanh", graph.Add(part(from_input, 2), graph.Multiply(gate(0), part(from_hidden, 2))));
    output.features = graph.Add(fresh, graph.Multiply(gate(1), graph.Subtract(hidden, fresh)));
    output.memory = output.features;
  }
  if (norm_weight_.defined()) output.features = graph.LayerNorm(output.features, norm_weight_, norm_bias_);
  return output;
}

std::string ActorCritic::AddEncoderTo(GraphBuilder& graph, const std::string& image) const {
  if (uses_rgb_) return rgb_.AddTo(graph, image);
  const std::string x = convolutions_.AddTo(graph, image);
  return projection_.AddTo(graph, average_ ? graph.MeanPixels(x) : graph.Flatten(x));
}

ActorCritic::GraphOutput ActorCritic::AddActorTo(GraphBuilder& graph, const GraphInput& input) const {
  GraphOutput output;
  const auto remember = [&](const std::string& x) {
    Recurrent::GraphOutput step = actor_.memory.AddTo(graph, x, input.memory);
    output.memory = step.memory;
    return step.features;
  };
  const bool remembers = actor_.memory.Exists();
  const std::string& numbers = reads_state_ ? input.state : input.proprio;
  std::string x = UsesImage() ? graph.Concat({AddEncoderTo(graph, input.image), numbers}) : numbers;
  if (remembers && actor_.memory_first) {
    const std::string features = remember(x);
    x = actor_.concat_input ? graph.Concat({features, x}) : features;
  }
  if (has_aux_) {
    output.aux = aux_.AddTo(graph, x);
    if (feed_aux_) x = graph.Concat({x, output.aux});
  }
  std::string y = actor_.hidden.AddTo(graph, x);
  if (remembers && !actor_.memory_first) y = remember(actor_.concat_input ? graph.Concat({y, x}) : y);
  output.mean = actor_.output.AddTo(graph, y);
  if (!log_std_.defined()) output.mean = graph.Slice(output.mean, 0, actions_);
  return output;
}

}  // namespace gripstream
