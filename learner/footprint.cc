#include "learner/footprint.h"

#include <algorithm>
#include <memory>

#include "core/process_memory.h"
#include "learner/collector.h"
#include "learner/ppo.h"
#include "policies/shapes.h"
#include "replay/tensor_memory.h"

namespace gripstream {
namespace {

constexpr uint64_t kSeed = 1;

// Sizes small enough to measure and large enough that libraries choose the algorithms of real sizes, and never more
// than the run itself will use: `few` rows and up to three times as many, of an update's pass or of an actor. Policies
// with memory learn in whole sequences.
struct Small {
  static constexpr int64_t kPixels = 1 << 20;  // of all rows together: about a tenth of a second
  static constexpr int64_t kLeast = 24, kMost = 192;
  int steps = 4, few, many;

  Small(const PpoConfig& ppo, const Policy& policy, const std::vector<TensorSpec>& specs) {
    const bool sequences = policy.MemorySize() > 0;
    if (sequences) steps = ppo.sequence;
    int64_t pixels = 0;
    for (const TensorSpec& spec : specs) pixels += spec.shape.size() >= 2 ? spec.Elements() : 0;
    const int64_t cheap = pixels > 0 ? std::clamp(kPixels / pixels, kLeast, kMost) : kMost;
    const int64_t rows = std::min<int64_t>({cheap, ppo.micro_batch, ppo.minibatch});
    const int64_t whole = sequences ? steps : 1;
    few = static_cast<int>(std::max(rows / 3 / whole, int64_t{1}) * whole);
    many = static_cast<int>(std::max(rows / whole * whole, int64_t{few}));
  }
  // Of a line through (few, at_few) and (many, at_many); from nothing when there is one point only.
  double Slope(double at_few, double at_many) const {
    return many > few ? std::max(0.0, at_many - at_few) / (many - few) : at_few / few;
  }
};

MemoryShape ShapeOf(const Policy& policy, int every) {
  return {policy.MemorySize(), policy.MemorySize() > 0 ? every : 1};
}

// The most that an update of so many environments holds besides what is there all the time.
double UpdatePeak(const PpoConfig& run, Policy& policy, const std::vector<TensorSpec>& specs, int steps, int envs,
                  int rows) {
  PpoConfig config = run;
  config.horizon = steps;
  config.epochs = 1;
  config.minibatch = steps * envs;
  config.micro_batch = rows;
  config.lr = 0;
  config.lr_scaling = "none";
  config.schedule.kind = "fixed";
  const LearnerGroup alone;
  Ppo ppo(config, policy, envs, kSeed, 1, alone);
  RolloutStore store(specs, steps, envs, policy.Shapes().action, ShapeOf(policy, steps));
  ppo.Update(store, 0);  // what is made once is made now
  const TensorPeak peak;
  ppo.Update(store, 1);
  return static_cast<double>(peak.Bytes());
}

double ActPeak(const Policy& policy, const std::vector<TensorSpec>& specs, int envs) {
  const RolloutStore store(specs, 1, envs, policy.Shapes().action, ShapeOf(policy, 1));
  const ActResult result{.action = store.Action()[0],
                         .mean = store.Mean()[0],
                         .log_std = store.LogStd()[0],
                         .log_prob = store.LogProb()[0],
                         .value = store.Value()[0],
                         .memory = store.MemoryBefore(1)};
  const ActRequest request{.memory = store.MemoryBefore(0)};
  policy.Act(ObservationAt(store, 0), request, result);
  const TensorPeak peak;
  policy.Act(ObservationAt(store, 0), request, result);
  return static_cast<double>(peak.Bytes());
}

void MeasureGrowth(const PpoConfig& ppo, Policy& policy, const std::vector<TensorSpec>& specs, LearnerFootprint& out) {
  const Small small(ppo, policy, specs);
  const int few_envs = (small.many + small.steps - 1) / small.steps, many_envs = 2 * few_envs;
  const auto peak = [&](int envs, int rows_at_once) {
    return UpdatePeak(ppo, policy, specs, small.steps, envs, rows_at_once);
  };
  const double few = peak(few_envs, small.few), rows = peak(few_envs, small.many), envs = peak(many_envs, small.few);
  out.update_row = small.Slope(few, rows);
  out.update_sample = std::max(0.0, envs - few) / (small.steps * (many_envs - few_envs));
  out.update = std::max(0.0, few - out.update_row * small.few - out.update_sample * small.steps * few_envs);
  out.memory = static_cast<double>(policy.MemorySize());
  const int chunk = policy.Config().inference_chunk;
  const int little = std::max(1, std::min(small.few, chunk / 2)), more = std::min(small.many, chunk);
  const double one = ActPeak(policy, specs, little), other = ActPeak(policy, specs, more);
  out.act_row = more > little ? std::max(0.0, other - one) / (more - little) : one / little;
  out.act = std::max(0.0, one - out.act_row * little);
}

}  // namespace

LearnerFootprint MeasureLearner(const PpoConfig& ppo, const PolicyConfig& config, const std::vector<TensorSpec>& specs,
                                int action_size) {
  CountTensorMemory();
  LearnerFootprint out;
  {
    const size_t before = HeapInUse();
    Policy policy(config, ShapesFromSpecs(specs, action_size), kSeed);
    const size_t with_network = HeapInUse();
    out.network = static_cast<double>(with_network - before);
    const int64_t tensors = TensorBytes();
    {
      const LearnerGroup alone;
      PpoConfig small = ppo;
      small.horizon = small.minibatch = small.sequence = 1;
      const Ppo optimiser(small, policy, 1, kSeed, 1, alone);
      out.optimiser = static_cast<double>(TensorBytes() - tensors);
    }
    MeasureGrowth(ppo, policy, specs, out);
  }
  ReleaseFreeHeap();
  out.program = static_cast<double>(OwnMemory().anonymous_bytes);
  return out;
}

}  // namespace gripstream
