// What this machine can do, as far as a run's stages ask: measured alone, on all CPUs that the process may use.
//
// Blocks for about `seconds`. Call from the main thread. Throws InputError for what the configuration names wrongly,
// RunError when gripstream-bench, which measures what needs LibTorch, fails.
#pragma once

#include "launch/run_config.h"

namespace gripstream {

struct MachineLimits {
  double physics_steps_per_s = 0;  // mjb_step on the configuration's own models, in the states that it meets
  double images_per_s = 0;         // environments whose images are rendered
  double copied_bytes_per_s = 0;   // memcpy on one CPU, record after record
  double operations_per_s = 0;     // float32 matrix products
  // Floating-point operations of the networks for one sample; 0: not counted.
  double acting_operations = 0, training_operations = 0;
  double record_bytes = 0;  // of one environment's step
};

MachineLimits MeasureLimits(const RunConfig& config, double seconds);

}  // namespace gripstream
