// The experience of one iteration, in memory that is allocated once: T steps of N environments.
//
//   records (wire) -> Slice() -> [T + 1, N, ...] tensors -> returns, minibatches -> PPO
//
// Row t of a record tensor is what the simulators published at step t: the observation before action t, and the reward
// and done kind that action t - 1 brought. So the action of step t is judged by rows t + 1 of "reward", "done",
// "final_state" and "success". Row T is the observation after the last action; BeginAfter makes it row 0 of the next.
//
// Depth stays uint16 unless the store is made for float32 images. Different environment ranges may be written by
// different threads at once; everything else is for one thread. The store owns the tensors; views and spans stay valid
// for its lifetime. GS_CHECK fails on a wrong name.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/tensor_spec.h"
#include "replay/rollout_size.h"

namespace gripstream {

class RolloutStore {
 public:
  // `specs` describe the record's tensors, images included; `action_size` is A. T, N, A >= 1.
  RolloutStore(const std::vector<TensorSpec>& specs, int horizon, int envs, int action_size, MemoryShape memory = {},
               ImageStorage images = ImageStorage::kAsRecorded);

  int Horizon() const { return horizon_; }
  int Envs() const { return envs_; }
  int ActionSize() const { return action_size_; }
  const std::vector<TensorSpec>& Specs() const { return specs_; }  // as stored
  bool Has(const std::string& name) const { return index_.contains(name); }

  // Takes a record's block of tensor `index` for environments [env_begin, env_begin + env_count) at step t.
  void Put(size_t index, int t, int env_begin, int env_count, std::span<const std::byte> block);
  // The memory of tensor `index` (position in Specs()) for environments [env_begin, env_begin + env_count) at step t:
  // contiguous, laid out as in a record.
  std::span<std::byte> Slice(size_t index, int t, int env_begin, int env_count);
  std::span<std::byte> Slice(const std::string& name, int t, int env_begin, int env_count);

  torch::Tensor Record(const std::string& name) const;       // [T + 1, N, ...] as the spec says
  torch::Tensor Step(const std::string& name, int t) const;  // [N, ...], a view
  torch::Tensor AfterAction(const std::string& name) const;  // [T, N, ...], rows 1..T: what each action brought

  // What the policy did, written by the learner.
  const torch::Tensor& Action() const { return action_; }     // [T, N, A] float32, not clamped
  const torch::Tensor& Mean() const { return mean_; }         // [T, N, A]
  const torch::Tensor& LogStd() const { return log_std_; }    // [T, N, A]
  const torch::Tensor& LogProb() const { return log_prob_; }  // [T, N]
  const torch::Tensor& Value() const { return value_; }       // [T + 1, N]

  // The policy's memory before the first step of each sequence of L steps and after the last: [T / L + 1, N, M];
  // undefined without memory. Episodes that ended are not forgotten in it yet: row t of "done" says so.
  const torch::Tensor& Memory() const { return memory_; }
  // The same before step t in [0, T], [N, M]: a row of Memory, or room that is used again between those rows.
  torch::Tensor MemoryBefore(int t) const;

  MemoryShape ShapeOfMemory() const { return {memory_.defined() ? memory_.size(2) : 0, memory_every_}; }

  // Which version of the policy acted; written by the learner. Never falls with t.
  const torch::Tensor& Versions() const { return versions_; }  // [T, N] int64
  void SetVersion(int t, int64_t version) { versions_.select(0, t).fill_(version); }
  void SetVersion(int t, int64_t version, int env_begin, int env_count) {
    versions_.select(0, t).narrow(0, env_begin, env_count).fill_(version);
  }

  // The rollout after `previous`, which may be this one: its last observation and memory become the first.
  void BeginAfter(const RolloutStore& previous) { BeginAfter(previous, 0, envs_); }
  void BeginAfter(const RolloutStore& previous, int env_begin, int env_count);
  // Of these environments the first `rows` rows, observations and what was done on them, and memories.
  void CopyRows(const RolloutStore& from, int rows, int env_begin, int env_count);
  // Memory held, all tensors together: RolloutBytes of the same sizes.
  size_t Bytes() const;

 private:
  std::vector<TensorSpec> specs_;
  std::vector<bool> widened_;  // per spec: stored as float32, recorded as uint16
  int horizon_, envs_, action_size_;
  std::vector<torch::Tensor> records_;  // one per spec
  std::map<std::string, size_t> index_;
  torch::Tensor action_, mean_, log_std_, log_prob_, value_, versions_;
  int memory_every_;
  torch::Tensor memory_, memory_between_;
};

// The LibTorch type that holds `dtype`.
torch::ScalarType ScalarTypeOf(DType dtype);

}  // namespace gripstream
