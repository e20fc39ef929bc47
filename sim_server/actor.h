// Who chooses actions inside a simulator when runtime.inference is `simulator`.
//
//   TakePolicy (from the learner) -> { Act -> step, render -> Write: what was chosen, in the record it led to ->
//   Observe }
//
// The simulator role knows this interface only; the policies behind it are sim_server/acting's, so that the role itself
// needs no LibTorch. N = the simulator's environments, A = numbers of an action. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/tensor_spec.h"
#include "wire/layout.h"

namespace gripstream {

class Actor {
 public:
  virtual ~Actor() = default;
  // What its choices add to a record.
  virtual std::vector<TensorSpec> Specs() const = 0;
  // Acts by this policy from now on. Throws RunError when the bytes are not a policy of this run.
  virtual void TakePolicy(std::span<const std::byte> policy, uint64_t version) = 0;
  // The observations of the record that has just been made: what it acts on next.
  virtual void Observe(const Layout& layout, std::span<const std::byte> record) = 0;
  // Actions [N, A], valid until the next call. `step` keys the noise. Throws RunError when it does not hold `version`.
  virtual std::span<const float> Act(uint64_t version, uint64_t step) = 0;
  // Writes what the last Act chose.
  virtual void Write(const Layout& layout, std::span<std::byte> record) const = 0;
};

}  // namespace gripstream
