// The learner's policy, acting inside a simulator.
//
// Holds a copy of the policy in the version that the learner sent last and acts exactly as the learner would: the same
// code, in the same chunks by global environment id, with the same noise, so that where inference happens changes no
// bit (for the same number of threads). See sim_server/actor.h for the thread rule and what is thrown.
#pragma once

#include "policies/inference.h"
#include "sim_server/actor.h"

namespace gripstream {

class PolicyActor : public Actor {
 public:
  // For `envs` environments whose records have at least `specs`; which ones they are, the records say. `threads` are
  // LibTorch's, set for the process. Throws InputError when the networks do not fit the task.
  PolicyActor(const PolicyConfig& config, const std::vector<TensorSpec>& specs, int action_size, uint64_t seed,
              int envs, int threads);

  std::vector<TensorSpec> Specs() const override;
  void TakePolicy(std::span<const std::byte> policy, uint64_t version) override;
  void Observe(const Layout& layout, std::span<const std::byte> record) override;
  std::span<const float> Act(uint64_t version, uint64_t step) override;
  void Write(const Layout& layout, std::span<std::byte> record) const override;

 private:
  Policy policy_;
  uint32_t env_begin_ = 0;
  bool holds_any_ = false;
  uint64_t version_ = 0;
  Observation observation_;  // the last record's
  ActResult acted_;          // by the last Act
};

}  // namespace gripstream
