#include "policies/inference.h"

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"
#include "policies/distribution.h"

namespace gripstream {
namespace {

constexpr double kTargetClip = 10.0;  // deviations; a target is clipped only when something is wrong with it

void Write(const torch::Tensor& to, const torch::Tensor& value, int64_t begin, int64_t count) {
  if (to.defined()) to.narrow(0, begin, count).copy_(value);
}

// The actor's numbers, then the critic's; without a critic's turn its part stays as it was.
void WriteMemory(const torch::Tensor& to, const torch::Tensor& actor, const torch::Tensor& critic, int64_t begin,
                 int64_t count) {
  if (!to.defined()) return;
  const torch::Tensor rows = to.narrow(0, begin, count);
  const int64_t actors = actor.defined() ? actor.size(1) : 0;
  if (actor.defined()) rows.narrow(1, 0, actors).copy_(actor);
  if (critic.defined()) rows.narrow(1, actors, critic.size(1)).copy_(critic);
}

// Calls `use` with the pixels, of either type that depth is stored in.
template <class Use>
torch::Tensor WithPixels(const torch::Tensor& depth, Use&& use) {
  GS_CHECK(depth.defined() && depth.is_contiguous(), "depth must be contiguous");
  if (depth.scalar_type() == torch::kFloat32) return use(depth.const_data_ptr<float>());
  GS_CHECK(depth.scalar_type() == torch::kUInt16, "depth must be uint16, or float32 of the same units");
  return use(static_cast<const uint16_t*>(depth.data_ptr()));
}

// 1 where memory goes on, 0 where an episode ended: [n] -> [n, 1].
torch::Tensor KeepOf(const torch::Tensor& done) {
  return done.eq(0).to(torch::kFloat32).unsqueeze(1);
}

// A blanked camera gives the mean colour.
torch::Tensor Colours(const torch::Tensor& images, bool blank) {
  const torch::Tensor cameras =
      images.dim() == 4 ? images.unsqueeze(1) : images;  // one camera's have no dimension of it
  const torch::Tensor colours = RgbEncoder::Normalised(cameras);
  return blank ? at::zeros_like(colours) : colours;
}

// A policy without depth still owns an image normaliser, of no pixels.
PolicyShapes ImageShapes(const PolicyConfig& config, PolicyShapes shapes) {
  if (config.name == "depth_cnn" && shapes.height_px > 0) return shapes;
  shapes.height_px = shapes.width_px = 0;
  shapes.depth_scale_m = 1e-3;
  return shapes;
}

}  // namespace

Policy::Policy(const PolicyConfig& config, const PolicyShapes& shapes, uint64_t seed)
    : config_(config),
      shapes_(shapes),
      seed_(seed),
      network_(config, shapes, seed),
      proprio_(shapes.proprio, config.observation_clip, config.least_deviation),
      state_(shapes.state, config.observation_clip, config.least_deviation),
      aux_(shapes.aux, kTargetClip),
      value_(config.normalise_values ? 1 : 0, kTargetClip),
      image_(config.image, ImageShapes(config, shapes), config.observation_clip) {}

torch::Tensor Policy::Noise(uint32_t first_env, uint64_t step, int64_t count) const {
  const RandomStream stream(seed_, "action");
  torch::Tensor noise = at::empty({count, shapes_.action}, torch::kFloat32);
  float* out = noise.data_ptr<float>();
  for (int64_t i = 0; i < count; ++i) {
    Rng rng = stream.At(first_env + static_cast<uint32_t>(i), step);
    for (int a = 0; a < shapes_.action; ++a) *out++ = rng.Normal();
  }
  return noise;
}

void Policy::ActChunk(const Observation& observation, const ActRequest& request, const ActResult& result, int64_t begin,
                      int64_t count) const {
  const auto part = [&](const torch::Tensor& x) { return x.defined() ? x.narrow(0, begin, count) : x; };
  NetworkInput input;
  if (!config_.ActorReadsState()) input.proprio = proprio_.Normalise(part(observation.proprio));
  if (observation.state.defined()) input.state = state_.Normalise(part(observation.state));
  if (network_.UsesDepth()) {
    input.image = request.blank_image ? image_.Blank(count) : WithPixels(observation.depth, [&](const auto* pixels) {
      return image_.Range(pixels, begin, count);
    });
  } else if (network_.UsesRgb()) {
    input.image = Colours(part(observation.rgb), request.blank_image);
  }
  input.memory = part(request.memory);
  if (MemorySize() > 0 && observation.done.defined()) input.keep = KeepOf(part(observation.done));
  const ActorOutput actor = network_.Actor(input);
  torch::Tensor action = actor.mean;
  if (request.taken.defined()) {
    action = part(request.taken);
  } else if (request.sample) {
    action =
        actor.mean + actor.log_std.exp() * Noise(request.first_env + static_cast<uint32_t>(begin), request.step, count);
  }
  Write(result.action, action, begin, count);
  Write(result.mean, actor.mean, begin, count);
  Write(result.log_std, actor.log_std, begin, count);
  if (result.log_prob.defined())
    Write(result.log_prob, GaussianLogProb(actor.mean, actor.log_std, action), begin, count);
  if (result.aux.defined() && network_.HasAux()) Write(result.aux, aux_.Denormalise(actor.aux), begin, count);
  CriticOutput critic;
  if (result.value.defined()) {
    critic = network_.Critic(input);
    Write(result.value, ValueIn(critic.value), begin, count);
  }
  WriteMemory(result.memory, actor.memory, critic.memory, begin, count);
}

void Policy::Act(const Observation& observation, const ActRequest& request, const ActResult& result) const {
  const torch::NoGradGuard no_grad;
  const int64_t total = observation.proprio.size(0), chunk = config_.inference_chunk;
  GS_CHECK(
      request.first_env % static_cast<uint32_t>(chunk) == 0,
      "inference from environment " + std::to_string(request.first_env) + " in chunks of " + std::to_string(chunk));
  for (int64_t begin = 0; begin < total; begin += chunk) {
    ActChunk(observation, request, result, begin, std::min(chunk, total - begin));
  }
}

torch::Tensor Policy::Values(const Observation& observation, const torch::Tensor& memory,
                             const torch::Tensor& memory_after) const {
  const torch::NoGradGuard no_grad;
  const int64_t total = observation.state.size(0), chunk = config_.inference_chunk;
  torch::Tensor values = at::empty({total}, torch::kFloat32);
  for (int64_t begin = 0; begin < total; begin += chunk) {
    const int64_t count = std::min(chunk, total - begin);
    NetworkInput input;
    input.state = state_.Normalise(observation.state.narrow(0, begin, count));
    if (memory.defined()) input.memory = memory.narrow(0, begin, count);
    if (observation.done.defined()) input.keep = KeepOf(observation.done.narrow(0, begin, count));
    const CriticOutput critic = network_.Critic(input);
    Write(values, ValueIn(critic.value), begin, count);
    if (memory_after.defined() && critic.memory.defined()) {
      Write(memory_after.narrow(1, network_.ActorMemorySize(), critic.memory.size(1)), critic.memory, begin, count);
    }
  }
  return values;
}

// The critic's output in the rewards' own units.
torch::Tensor Policy::ValueIn(const torch::Tensor& critic) const {
  return config_.normalise_values ? value_.Denormalise(critic.unsqueeze(-1)).squeeze(-1) : critic;
}

torch::Tensor Policy::NormaliseValue(const torch::Tensor& value) const {
  return config_.normalise_values ? value_.Normalise(value.unsqueeze(-1)).squeeze(-1) : value;
}

NetworkInput Policy::Gather(const Observation& samples, std::span<const int64_t> rows) const {
  const torch::Tensor index =
      at::from_blob(const_cast<int64_t*>(rows.data()), {static_cast<int64_t>(rows.size())}, torch::kInt64);
  NetworkInput input;
  if (!config_.ActorReadsState()) input.proprio = proprio_.Normalise(samples.proprio.index_select(0, index));
  input.state = state_.Normalise(samples.state.index_select(0, index));
  if (network_.UsesDepth()) {
    input.image = WithPixels(samples.depth, [&](const auto* pixels) { return image_.Gather(pixels, rows); });
  }
  if (network_.UsesRgb()) input.image = Colours(samples.rgb.index_select(0, index), false);
  if (MemorySize() > 0) input.keep = KeepOf(samples.done.index_select(0, index));
  return input;
}

torch::Tensor Policy::NormalizerMoments(const NormalizerRows& rows) const {
  std::vector<torch::Tensor> parts = {proprio_.Moments(rows.proprio), state_.Moments(rows.state)};
  if (network_.UsesDepth()) parts.push_back(image_.Moments(rows.depth));
  if (network_.HasAux()) parts.push_back(aux_.Moments(rows.aux));
  if (config_.normalise_values) {
    const torch::Tensor value = rows.value.defined() ? rows.value : at::empty({0}, torch::kFloat32);
    parts.push_back(value_.Moments(value.unsqueeze(-1)));
  }
  return at::cat(parts);
}

void Policy::MergeNormalizers(const torch::Tensor& moments) {
  int64_t begin = 0;
  const auto next = [&](int64_t count) {
    begin += count;
    return moments.narrow(0, begin - count, count);
  };
  proprio_.Merge(next(proprio_.State().numel()));
  state_.Merge(next(state_.State().numel()));
  if (network_.UsesDepth()) image_.Merge(next(image_.State().numel()));
  if (network_.HasAux()) aux_.Merge(next(aux_.State().numel()));
  if (!config_.normalise_values) return;
  const Normalizer before = value_;
  value_.Merge(next(value_.State().numel()));
  network_.RescaleValues(before.Mean()[0], before.Deviation()[0], value_.Mean()[0], value_.Deviation()[0]);
}

size_t Policy::Bytes() const {
  size_t bytes = proprio_.Bytes() + state_.Bytes() + aux_.Bytes() + value_.Bytes() + image_.Bytes();
  for (const NamedTensor& parameter : network_.Parameters().All()) bytes += parameter.value.nbytes();
  return bytes;
}

Policy Policy::Clone() const {
  Policy copy(config_, shapes_, seed_);
  copy.SetState(State());
  return copy;
}

std::vector<NamedTensor> Policy::State() const {
  std::vector<NamedTensor> state;
  for (const NamedTensor& parameter : network_.Parameters().All()) {
    state.push_back({"policy." + parameter.name, parameter.value.detach()});
  }
  state.push_back({"normalizer.proprio", proprio_.State()});
  state.push_back({"normalizer.state", state_.State()});
  state.push_back({"normalizer.aux", aux_.State()});
  state.push_back({"normalizer.image", image_.State()});
  if (config_.normalise_values) state.push_back({"normalizer.value", value_.State()});
  return state;
}

void Policy::SetState(const std::vector<NamedTensor>& state) {
  const torch::NoGradGuard no_grad;
  for (const NamedTensor& parameter : network_.Parameters().All()) {
    const torch::Tensor& value = TensorNamed(state, "policy." + parameter.name);
    GS_CHECK(value.sizes() == parameter.value.sizes(), "shape of " + parameter.name);
    parameter.value.detach().copy_(value);
  }
  proprio_.SetState(TensorNamed(state, "normalizer.proprio"));
  state_.SetState(TensorNamed(state, "normalizer.state"));
  aux_.SetState(TensorNamed(state, "normalizer.aux"));
  image_.SetState(TensorNamed(state, "normalizer.image"));
  if (config_.normalise_values) value_.SetState(TensorNamed(state, "normalizer.value"));
}

}  // namespace gripstream
