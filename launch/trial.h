// A configuration tried out: the real roles run for a moment in a temporary folder, and their metrics are read.
//
// Nothing is evaluated and nothing stays behind. What the roles say is kept from the terminal; the last line of it is
// in the error when they fail. Call from the main thread. Throws RunError when the run fails or is interrupted.
#pragma once

#include <map>
#include <string>

#include "launch/run_config.h"

namespace gripstream {

// Seconds of one iteration, in the order of the work: medians.
struct StageTimes {
  double simulation_s = 0;  // physics, observations, rewards
  double rendering_s = 0;
  double wire_s = 0;
  double inference_s = 0;
  double update_s = 0;
  double Total() const { return simulation_s + rendering_s + wire_s + inference_s + update_s; }
};

struct TrialResult {
  double steps_per_s = 0;  // environment steps, from the end of the first iteration to that of the last
  int iterations = 0;
  StageTimes stages;
};

// Trains for about `seconds`, at least one iteration.
TrialResult RunTrial(RunConfig config, double seconds);

// Of a run's metrics.csv; RunError when it holds no iteration.
TrialResult ReadTrial(const std::string& csv);

}  // namespace gripstream
