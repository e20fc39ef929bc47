#include "sim_server/acting/policy_actor.h"

#include <ATen/Parallel.h>

#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"
#include "policies/acted.h"
#include "policies/published.h"

namespace gripstream {
namespace {

// The memory of a record's tensor and of ours for it, which have the same size.
void CopyIn(const torch::Tensor& to, const Layout& layout, const char* name, std::span<const std::byte> record) {
  if (!to.defined()) return;
  const int index = layout.Index(name);
  GS_CHECK(layout.TensorBytes(index) == to.nbytes(), std::string("size of ") + name);
  std::memcpy(to.data_ptr(), record.data() + layout.Offset(index), to.nbytes());
}

// [envs, ...] for a record's tensor; undefined where there is none.
torch::Tensor RoomFor(const std::vector<TensorSpec>& specs, const char* name, int envs, torch::ScalarType type) {
  for (const TensorSpec& spec : specs) {
    if (spec.name != name) continue;
    std::vector<int64_t> shape = {envs};
    shape.insert(shape.end(), spec.shape.begin(), spec.shape.end());
    return at::zeros(shape, type);
  }
  return {};
}

void CopyOut(const torch::Tensor& from, const Layout& layout, const char* name, std::span<std::byte> record) {
  const int index = layout.Index(name);
  GS_CHECK(layout.TensorBytes(index) == from.nbytes(), std::string("size of ") + name);
  std::memcpy(record.data() + layout.Offset(index), from.const_data_ptr(), from.nbytes());
}

}  // namespace

PolicyActor::PolicyActor(const PolicyConfig& config, const std::vector<TensorSpec>& specs, int action_size,
                         uint64_t seed, int envs, int threads)
    : policy_(config, ShapesFromSpecs(specs, action_size), seed) {
  at::set_num_threads(threads);
  observation_.proprio = RoomFor(specs, kProprioTensor, envs, torch::kFloat32);
  observation_.depth = RoomFor(specs, kDepthTensor, envs, torch::kUInt16);
  observation_.rgb = RoomFor(specs, kRgbTensor, envs, torch::kUInt8);
  observation_.state = RoomFor(specs, kStateTensor, envs, torch::kFloat32);
  const PolicyShapes& shapes = policy_.Shapes();
  acted_.action = at::zeros({envs, shapes.action});
  acted_.mean = at::zeros({envs, shapes.action});
  acted_.log_std = at::zeros({envs, shapes.action});
  acted_.log_prob = at::zeros({envs});
  acted_.value = at::zeros({envs});
}

std::vector<TensorSpec> PolicyActor::Specs() const {
  return ActedSpecs(policy_.Shapes().action);
}

void PolicyActor::TakePolicy(std::span<const std::byte> policy, uint64_t version) {
  UnpackPolicy(policy, policy_);
  version_ = version;
  holds_any_ = true;
}

void PolicyActor::Observe(const Layout& layout, std::span<const std::byte> record) {
  RecordHeader header;
  std::memcpy(&header, record.data(), sizeof(header));
  env_begin_ = header.env_begin;
  CopyIn(observation_.proprio, layout, kProprioTensor, record);
  CopyIn(observation_.depth, layout, kDepthTensor, record);
  CopyIn(observation_.rgb, layout, kRgbTensor, record);
  CopyIn(observation_.state, layout, kStateTensor, record);
}

std::span<const float> PolicyActor::Act(uint64_t version, uint64_t step) {
  if (!holds_any_ || version != version_) {
    throw RunError("asked to act by version " + std::to_string(version) + " of the policy, while holding " +
                   (holds_any_ ? "version " + std::to_string(version_) : "none"));
  }
  policy_.Act(observation_, {.first_env = env_begin_, .step = step}, acted_);
  return {acted_.action.const_data_ptr<float>(), static_cast<size_t>(acted_.action.numel())};
}

void PolicyActor::Write(const Layout& layout, std::span<std::byte> record) const {
  const std::pair<const char*, const torch::Tensor*> all[] = {{kActedAction, &acted_.action},
                                                              {kActedMean, &acted_.mean},
                                                              {kActedLogStd, &acted_.log_std},
                                                              {kActedLogProb, &acted_.log_prob},
                                                              {kActedValue, &acted_.value}};
  for (const auto& [name, tensor] : all) CopyOut(*tensor, layout, name, record);
}

}  // namespace gripstream
