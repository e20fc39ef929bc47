// From a simulator's measured footprint to its budget of memory for any number of environments. Pure functions of plain
// values.
#pragma once

#include <vector>

#include "core/memory_budget.h"
#include "core/tensor_spec.h"
#include "wire/layout.h"

namespace gripstream {

inline constexpr char kEnvironmentsPart[] = "environments", kCamerasPart[] = "cameras", kReservePart[] = "reserve",
                      kRecordsPart[] = "record slots";

// Bytes.
struct SimulatorFootprint {
  double program = 0;      // libraries' data, threads
  double models = 0;       // what environments share: models, the physics threads' working memory
  double environment = 0;  // each environment's state
  double cameras = 0;      // what images need whatever the number of environments
  double camera = 0;       // render targets and scenes of each environment
  double state = 0;        // of one environment in a checkpoint

  template <class Visit>
  void ForEach(Visit&& visit) {
    visit("program", program);
    visit("models", models);
    visit("environment", environment);
    visit("cameras", cameras);
    visit("camera", camera);
    visit("state", state);
  }
};

struct SimulatorSizes {
  int slots = 3;
  int groups = 1;
  double reserve_bytes_per_env = 0;
};

inline MemoryBudget SimulatorBudget(const SimulatorFootprint& measured, const SimulatorSizes& sizes,
                                    const std::vector<TensorSpec>& record) {
  // A record's size is a straight line but for what rounds its tensors up to whole lines of memory.
  const double one = static_cast<double>(Layout(record, 64).Bytes()),
               two = static_cast<double>(Layout(record, 128).Bytes());
  const double per_env = (two - one) / 64;
  MemoryBudget budget;
  budget.parts = {{"program", measured.program},
                  {kEnvironmentsPart, measured.models, measured.environment},
                  {kCamerasPart, measured.cameras, measured.camera},
                  {kRecordsPart, sizes.slots * (2 * one - two), sizes.slots * per_env / sizes.groups}};
  if (sizes.reserve_bytes_per_env > 0) budget.parts.push_back({kReservePart, 0, sizes.reserve_bytes_per_env});
  return budget;
}

}  // namespace gripstream
