#include "policies/inference.h"

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"
#include "policies/distribution.h"

namespace gripstream {
namespace {

constexpr double kAuxClip = 10.0;  // deviations; a target is clipped only when something is wrong with it

void Write(const torch::Tensor& to, const torch::Tensor& value, int64_t begin, int64_t count) {
  if (to.defined()) to.narrow(0, begin, count).copy_(value);
}

const uint16_t* DepthData(const torch::Tensor& depth) {
  GS_CHECK(depth.defined() && depth.is_contiguous() && depth.scalar_type() == torch::kUInt16,
           "depth must be contiguous uint16");
  return static_cast<const uint16_t*>(depth.data_ptr());
}

// A policy without image still owns an image normaliser, of no pixels.
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
      proprio_(shapes.proprio, config.observation_clip),
      state_(shapes.state, config.observation_clip),
      aux_(shapes.aux, kAuxClip),
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
  NetworkInput input;
  input.proprio = proprio_.Normalise(observation.proprio.narrow(0, begin, count));
  if (observation.state.defined()) input.state = state_.Normalise(observation.state.narrow(0, begin, count));
  if (network_.UsesImage()) {
    input.image = request.blank_image ? image_.Blank(count) : image_.Range(DepthData(observation.depth), begin, count);
  }
  const ActorOutput actor = network_.Actor(input);
  const torch::Tensor log_std = network_.LogStd().detach().expand_as(actor.mean);
  torch::Tensor action = actor.mean;
  if (request.taken.defined()) {
    action = request.taken.narrow(0, begin, count);
  } else if (request.sample) {
    action = actor.mean + log_std.exp() * Noise(request.first_env + static_cast<uint32_t>(begin), request.step, count);
  }
  Write(result.action, action, begin, count);
  Write(result.mean, actor.mean, begin, count);
  Write(result.log_std, log_std, begin, count);
  if (result.log_prob.defined()) Write(result.log_prob, GaussianLogProb(actor.mean, log_std, action), begin, count);
  if (result.value.defined()) Write(result.value, network_.Critic(input.state), begin, count);
  if (result.aux.defined() && network_.HasAux()) Write(result.aux, aux_.Denormalise(actor.aux), begin, count);
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

torch::Tensor Policy::Values(const torch::Tensor& state) const {
  const torch::NoGradGuard no_grad;
  const int64_t total = state.size(0), chunk = config_.inference_chunk;
  torch::Tensor values = at::empty({total}, torch::kFloat32);
  for (int64_t begin = 0; begin < total; begin += chunk) {
    const int64_t count = std::min(chunk, total - begin);
    Write(values, network_.Critic(state_.Normalise(state.narrow(0, begin, count))), begin, count);
  }
  return values;
}

NetworkInput Policy::Gather(const Observation& samples, std::span<const int64_t> rows) const {
  const torch::Tensor index =
      at::from_blob(const_cast<int64_t*>(rows.data()), {static_cast<int64_t>(rows.size())}, torch::kInt64);
  NetworkInput input;
  input.proprio = proprio_.Normalise(samples.proprio.index_select(0, index));
  input.state = state_.Normalise(samples.state.index_select(0, index));
  if (network_.UsesImage()) input.image = image_.Gather(DepthData(samples.depth), rows);
  return input;
}

torch::Tensor Policy::NormalizerMoments(const torch::Tensor& proprio, const torch::Tensor& depth,
                                        const torch::Tensor& state, const torch::Tensor& aux) const {
  std::vector<torch::Tensor> parts = {proprio_.Moments(proprio), state_.Moments(state)};
  if (network_.UsesImage()) parts.push_back(image_.Moments(depth));
  if (network_.HasAux()) parts.push_back(aux_.Moments(aux));
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
  if (network_.UsesImage()) image_.Merge(next(image_.State().numel()));
  if (network_.HasAux()) aux_.Merge(next(aux_.State().numel()));
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
  return state;
}

void Policy::SetState(const std::vector<NamedTensor>& state) {
  const torch::NoGradGuard no_grad;
  const auto find = [&](const std::string& name) {
    const auto found = std::find_if(state.begin(), state.end(), [&](const NamedTensor& t) { return t.name == name; });
    GS_CHECK(found != state.end(), "no tensor " + name);
    return found->value;
  };
  for (const NamedTensor& parameter : network_.Parameters().All()) {
    const torch::Tensor value = find("policy." + parameter.name);
    GS_CHECK(value.sizes() == parameter.value.sizes(), "shape of " + parameter.name);
    parameter.value.detach().copy_(value);
  }
  proprio_.SetState(find("normalizer.proprio"));
  state_.SetState(find("normalizer.state"));
  aux_.SetState(find("normalizer.aux"));
  image_.SetState(find("normalizer.image"));
}

}  // namespace gripstream
