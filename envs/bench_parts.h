// What the benchmarks of envs share: mjBatch as a user of the library would run it, stop watches, states and actions.
#pragma once

#include <mujoco/mjbatch.h>

#include <functional>
#include <memory>
#include <vector>

#include "envs/env_batch.h"

namespace gripstream {

inline constexpr uint64_t kBenchSeed = 1;

double SecondsOf(const std::function<void()>& body);

// mjBatch as its documentation shows it: what a user of the library would write without us.
class RawBatch {
 public:
  RawBatch(std::vector<const mjModel*> models, int threads);
  void Step(int steps) { mjb_step(batch_.get(), nullptr, 0, steps, mjSTAGE_NONE); }
  mjtNum* State() { return mjb_state(batch_.get()); }
  size_t StateSize() const { return static_cast<size_t>(mjb_nstate(batch_.get())) * models_.size(); }

 private:
  struct Delete {
    void operator()(mjBatch* batch) const { mjb_deleteBatch(batch); }
  };
  std::vector<const mjModel*> models_;
  std::unique_ptr<mjBatch, Delete> batch_;
};

std::vector<const mjModel*> ModelsOf(const EnvBatch& envs);
void ReadStates(const BatchPhysics& physics, mjtNum* out);
void WriteStates(BatchPhysics& physics, const mjtNum* in);

// Uniform actions, new ones for every step.
std::vector<float> BenchActions(const EnvBatch& envs, int step);

// Seconds of `steps` whole policy steps and of mjb_step from the same states under the controls that each ended with,
// alternating.
struct StepTimes {
  std::vector<double> ours_s, raw_s;
};
StepTimes TimePolicySteps(EnvBatch& envs, int decimation, int steps, int threads);

}  // namespace gripstream
