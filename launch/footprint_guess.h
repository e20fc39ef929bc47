// Footprints guessed from a configuration and one environment, on the generous side: only to tell whether a run is so
// small beside the memory there is that measuring what it takes (seconds of every start) would be for nothing.
//
// Guesses may be wrong by a factor of some; who uses them leaves a margin of ten. Pure function of plain values.
#pragma once

#include "launch/memory_plan.h"

namespace gripstream {

Footprints GuessFootprints(const RunConfig& config, const TaskDescription& task);

}  // namespace gripstream
