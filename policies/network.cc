#include "policies/network.h"

#include <cmath>

#include "core/error.h"
#include "policies/initialise.h"

namespace gripstream {
namespace {

constexpr double kActionGain = 0.01;                      // the first actions are near 0, whatever is observed
constexpr double kLeastLogStd = -5.0, kMostLogStd = 2.0;  // of deviations that the network puts out

// What one network needs to be built.
struct TowerPlan {
  std::string name;
  const std::vector<int>& hidden;
  const RecurrentConfig& memory;
  const std::string& activation;
};

// Adds the memory where it comes first. Returns how many numbers the hidden layers see.
int64_t BeginTower(const LayerBuilder& build, const TowerPlan& plan, int64_t inputs, Tower& tower) {
  tower.memory_first = plan.memory.place == "before_mlp";
  tower.concat_input = plan.memory.concat_input;
  if (!plan.memory.Exists() || !tower.memory_first) return inputs;
  tower.memory = build.Memory(plan.name + ".memory", inputs, plan.memory);
  return tower.memory.Units() + (tower.concat_input ? inputs : 0);
}

void FinishTower(const LayerBuilder& build, const TowerPlan& plan, int64_t inputs, int64_t outputs, double gain,
                 Tower& tower) {
  tower.hidden = build.Hidden(plan.name, inputs, plan.hidden, plan.activation);
  int64_t width = plan.hidden.empty() ? inputs : plan.hidden.back();
  if (plan.memory.Exists() && !tower.memory_first) {
    width += tower.concat_input ? inputs : 0;
    tower.memory = build.Memory(plan.name + ".memory", width, plan.memory);
    width = tower.memory.Units();
  }
  tower.output = build.Linear(plan.name + "." + std::to_string(plan.hidden.size()), width, outputs, gain);
}

// Runs x through the tower's memory, beside which it is kept where wanted.
torch::Tensor Remember(const Tower& tower, const torch::Tensor& x, const torch::Tensor& beside,
                       const NetworkInput& input, int64_t memory_begin, torch::Tensor& memory) {
  Recurrent::Output output =
      tower.memory.Forward(x, input.memory.narrow(1, memory_begin, tower.memory.MemorySize()), input.keep);
  memory = std::move(output.memory);
  return beside.defined() ? at::cat({output.features, beside}, 1) : output.features;
}

// The memory that comes first; x itself without one.
torch::Tensor RememberFirst(const Tower& tower, const torch::Tensor& x, const NetworkInput& input, int64_t memory_begin,
                            torch::Tensor& memory) {
  if (!tower.memory.Exists() || !tower.memory_first) return x;
  return Remember(tower, x, tower.concat_input ? x : torch::Tensor(), input, memory_begin, memory);
}

// Hidden layers, the memory that comes after them, and the output.
torch::Tensor Conclude(const Tower& tower, const torch::Tensor& x, const NetworkInput& input, int64_t memory_begin,
                       torch::Tensor& memory) {
  torch::Tensor y = tower.hidden.Forward(x);
  if (tower.memory.Exists() && !tower.memory_first) {
    if (tower.concat_input) y = at::cat({y, x}, 1);
    y = Remember(tower, y, torch::Tensor(), input, memory_begin, memory);
  }
  return tower.output.Forward(y);
}

}  // namespace

ActorCritic::ActorCritic(const PolicyConfig& config, const PolicyShapes& shapes, uint64_t seed)
    : uses_depth_(config.name == "depth_cnn"),
      uses_rgb_(config.name == "rgb"),
      reads_state_(config.ActorReadsState()),
      has_aux_(UsesImage() && config.aux.enabled && shapes.aux > 0),
      feed_aux_(has_aux_ && config.aux.feed_actor),
      average_(config.encoder.pool == "average"),
      actions_(shapes.action),
      init_log_std_(std::log(config.init_std)) {
  const LayerBuilder build{parameters_, seed};
  int64_t actor_inputs = reads_state_ ? shapes.state : shapes.proprio;
  if (UsesImage()) actor_inputs += BuildEncoder(build, config, shapes);
  const TowerPlan actor{"actor", config.actor_hidden, config.actor_rnn, config.activation};
  actor_inputs = BeginTower(build, actor, actor_inputs, actor_);
  if (has_aux_) {
    aux_ = build.Layers("aux", actor_inputs, config.aux.hidden, shapes.aux, 1.0, config.activation);
    if (feed_aux_) actor_inputs += shapes.aux;
  }
  const bool own_std = config.std == "network";
  FinishTower(build, actor, actor_inputs, own_std ? 2 * actions_ : actions_, kActionGain, actor_);
  if (!own_std) log_std_ = build.Constant("log_std", {actions_}, init_log_std_);
  const TowerPlan critic{"critic", config.critic_hidden, config.critic_rnn, config.activation};
  FinishTower(build, critic, BeginTower(build, critic, shapes.state, critic_), 1, 1.0, critic_);
}

// Returns the length of the features.
int64_t ActorCritic::BuildEncoder(const LayerBuilder& build, const PolicyConfig& config, const PolicyShapes& shapes) {
  if (!config.rgb.weights.empty() && (!uses_rgb_ || config.rgb.trunk != "resnet18")) {
    throw InputError("configuration", "policy.rgb.weights", config.rgb.weights,
                     "policy.name rgb with policy.rgb.trunk resnet18, or no file");
  }
  if (uses_rgb_) {
    rgb_ = RgbEncoder(build, config, shapes);
    return rgb_.Features();
  }
  if (shapes.height_px == 0) {
    throw InputError("configuration", "policy.name", config.name,
                     "a policy without image, or exactly one camera in render.depth.cameras");
  }
  convolutions_ = Convolutions(build, "encoder", config.encoder, {1, shapes.height_px, shapes.width_px});
  const MapShape& map = convolutions_.Shape();
  const int64_t seen = average_ ? map.channels : map.channels * map.height * map.width;
  projection_ = build.Hidden("encoder.features", seen, {config.encoder.features}, config.activation);
  return config.encoder.features;
}

torch::Tensor ActorCritic::Encode(const torch::Tensor& image) const {
  if (uses_rgb_) return rgb_.Forward(image);
  const torch::Tensor x = convolutions_.Forward(image);
  return projection_.Forward(average_ ? x.mean({2, 3}) : x.flatten(1));
}

ActorOutput ActorCritic::Actor(const NetworkInput& input) const {
  ActorOutput output;
  const torch::Tensor& numbers = reads_state_ ? input.state : input.proprio;
  torch::Tensor x = UsesImage() ? at::cat({Encode(input.image), numbers}, 1) : numbers;
  x = RememberFirst(actor_, x, input, 0, output.memory);
  if (has_aux_) {
    output.aux = aux_.Forward(x);
    // Detached: the head answers to the object's true position alone, so its meaning stays.
    if (feed_aux_) x = at::cat({x, output.aux.detach()}, 1);
  }
  output.mean = Conclude(actor_, x, input, 0, output.memory);
  if (log_std_.defined()) {
    output.log_std = log_std_.expand_as(output.mean);
  } else {
    output.log_std = (output.mean.narrow(1, actions_, actions_) + init_log_std_).clamp(kLeastLogStd, kMostLogStd);
    output.mean = output.mean.narrow(1, 0, actions_);
  }
  return output;
}

void ActorCritic::RescaleValues(double old_mean, double old_deviation, double mean, double deviation) {
  const torch::NoGradGuard no_grad;
  const double scale = old_deviation / deviation;
  critic_.output.weights.back().detach().mul_(scale);
  critic_.output.biases.back().detach().mul_(scale).add_((old_mean - mean) / deviation);
}

CriticOutput ActorCritic::Critic(const NetworkInput& input) const {
  CriticOutput output;
  const int64_t begin = ActorMemorySize();
  const torch::Tensor x = RememberFirst(critic_, input.state, input, begin, output.memory);
  output.value = Conclude(critic_, x, input, begin, output.memory).squeeze(-1);
  return output;
}

}  // namespace gripstream
