// Geometric fabrics of many environments of one robot: stepping them on the CPU.
//
// See fabric_step.h for the method and fabric_model.h for the numbers. Pure; allocates nothing; any number of threads.
#pragma once

#include <span>

#include "control/fabric_step.h"

namespace gripstream {

// `steps` steps of model.dt_s for each of targets.size() environments; q, qd and qdd are [N, joints].
void StepFabrics(const FabricModel& model, std::span<const FabricTarget> targets, int steps, std::span<double> q,
                 std::span<double> qd, std::span<double> qdd);

}  // namespace gripstream
