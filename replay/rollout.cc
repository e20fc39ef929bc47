#include "replay/rollout.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace gripstream {

torch::ScalarType ScalarTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return torch::kUInt8;
    case DType::kUint16:
      return torch::kUInt16;
    case DType::kInt32:
      return torch::kInt32;
    case DType::kUint32:
      return torch::kUInt32;
    case DType::kInt64:
      return torch::kInt64;
    case DType::kFloat32:
      return torch::kFloat32;
  }
  GS_CHECK(false, "unknown dtype");
}

RolloutStore::RolloutStore(const std::vector<TensorSpec>& specs, int horizon, int envs, int action_size,
                           MemoryShape memory, ImageStorage images)
    : specs_(StoredSpecs(specs, images)),
      horizon_(horizon),
      envs_(envs),
      action_size_(action_size),
      memory_every_(memory.every) {
  for (size_t i = 0; i < specs.size(); ++i) widened_.push_back(specs[i].dtype != specs_[i].dtype);
  GS_CHECK(memory.every >= 1 && horizon % memory.every == 0, "sequences that do not divide the rollout");
  GS_CHECK(horizon >= 1 && envs >= 1 && action_size >= 1, "a rollout needs steps, environments and actions");
  for (size_t i = 0; i < specs_.size(); ++i) {
    GS_CHECK(index_.emplace(specs_[i].name, i).second, "two tensors named " + specs_[i].name);
    std::vector<int64_t> shape = {horizon + 1, envs};
    shape.insert(shape.end(), specs_[i].shape.begin(), specs_[i].shape.end());
    records_.push_back(at::zeros(shape, ScalarTypeOf(specs_[i].dtype)));
  }
  const std::vector<int64_t> per_action = {horizon, envs, action_size};
  action_ = at::zeros(per_action, torch::kFloat32);
  mean_ = at::zeros(per_action, torch::kFloat32);
  log_std_ = at::zeros(per_action, torch::kFloat32);
  log_prob_ = at::zeros({horizon, envs}, torch::kFloat32);
  value_ = at::zeros({horizon + 1, envs}, torch::kFloat32);
  versions_ = at::zeros({horizon, envs}, torch::kInt64);
  if (memory.size == 0) return;
  memory_ = at::zeros({horizon / memory.every + 1, envs, memory.size}, torch::kFloat32);
  memory_between_ = at::zeros({envs, memory.size}, torch::kFloat32);
}

void RolloutStore::Put(size_t index, int t, int env_begin, int env_count, std::span<const std::byte> block) {
  const std::span<std::byte> target = Slice(index, t, env_begin, env_count);
  if (!widened_[index]) {
    GS_CHECK(block.size() == target.size(), "a block of " + std::to_string(block.size()) + " bytes");
    std::memcpy(target.data(), block.data(), target.size());
    return;
  }
  GS_CHECK(2 * block.size() == target.size(), "a block of " + std::to_string(block.size()) + " bytes");
  const auto* from = reinterpret_cast<const uint16_t*>(block.data());
  std::copy_n(from, block.size() / sizeof(uint16_t), reinterpret_cast<float*>(target.data()));
}

std::span<std::byte> RolloutStore::Slice(size_t index, int t, int env_begin, int env_count) {
  GS_CHECK(index < specs_.size(), "tensor " + std::to_string(index));
  GS_CHECK(t >= 0 && t <= horizon_, "step " + std::to_string(t) + " of " + std::to_string(horizon_));
  GS_CHECK(env_begin >= 0 && env_count >= 0 && env_begin + env_count <= envs_,
           "environments from " + std::to_string(env_begin) + ", " + std::to_string(env_count) + " of them");
  const size_t bytes = specs_[index].Bytes();  // per environment
  auto* base = static_cast<std::byte*>(records_[index].data_ptr());
  const size_t offset = (static_cast<size_t>(t) * static_cast<size_t>(envs_) + static_cast<size_t>(env_begin)) * bytes;
  return {base + offset, bytes * static_cast<size_t>(env_count)};
}

std::span<std::byte> RolloutStore::Slice(const std::string& name, int t, int env_begin, int env_count) {
  GS_CHECK(Has(name), "no tensor " + name);
  return Slice(index_.at(name), t, env_begin, env_count);
}

torch::Tensor RolloutStore::Record(const std::string& name) const {
  GS_CHECK(Has(name), "no tensor " + name);
  return records_[index_.at(name)];
}

torch::Tensor RolloutStore::Step(const std::string& name, int t) const {
  return Record(name).select(0, t);
}

torch::Tensor RolloutStore::AfterAction(const std::string& name) const {
  return Record(name).narrow(0, 1, horizon_);
}

torch::Tensor RolloutStore::MemoryBefore(int t) const {
  if (!memory_.defined()) return {};
  return t % memory_every_ == 0 ? memory_.select(0, t / memory_every_) : memory_between_;
}

void RolloutStore::BeginAfter(const RolloutStore& previous, int env_begin, int env_count) {
  GS_CHECK(previous.records_.size() == records_.size() && previous.envs_ == envs_, "a rollout of another run");
  for (size_t i = 0; i < records_.size(); ++i) {
    const torch::Tensor last = previous.records_[i].select(0, previous.horizon_);
    records_[i].select(0, 0).narrow(0, env_begin, env_count).copy_(last.narrow(0, env_begin, env_count));
  }
  if (!memory_.defined()) return;
  const torch::Tensor last = previous.MemoryBefore(previous.horizon_);
  MemoryBefore(0).narrow(0, env_begin, env_count).copy_(last.narrow(0, env_begin, env_count));
}

void RolloutStore::CopyRows(const RolloutStore& from, int rows, int env_begin, int env_count) {
  GS_CHECK(from.records_.size() == records_.size() && from.envs_ == envs_ && rows <= std::min(horizon_, from.horizon_),
           "rows of another run's rollout");
  const auto copy = [&](const torch::Tensor& to, const torch::Tensor& source) {
    const auto part = [&](const torch::Tensor& x) { return x.narrow(0, 0, rows).narrow(1, env_begin, env_count); };
    part(to).copy_(part(source));
  };
  for (size_t i = 0; i < records_.size(); ++i) copy(records_[i], from.records_[i]);
  copy(action_, from.action_), copy(mean_, from.mean_), copy(log_std_, from.log_std_);
  copy(log_prob_, from.log_prob_), copy(value_, from.value_), copy(versions_, from.versions_);
  if (!memory_.defined()) return;
  const auto part = [&](const torch::Tensor& x) { return x.narrow(-2, env_begin, env_count); };
  part(memory_).copy_(part(from.memory_));
  part(memory_between_).copy_(part(from.memory_between_));
}

size_t RolloutStore::Bytes() const {
  size_t total = 0;
  for (const torch::Tensor& record : records_) total += record.nbytes();
  for (const torch::Tensor* other :
       {&action_, &mean_, &log_std_, &log_prob_, &value_, &versions_, &memory_, &memory_between_}) {
    if (other->defined()) total += other->nbytes();
  }
  return total;
}

}  // namespace gripstream
