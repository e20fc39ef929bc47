// Geometric fabrics of many environments of one robot: stepping them on the CPU, several to a vector where the
// processor can.
//
//   FabricEnv x N -> lanes (fabric_kernels.h) -> the next q, qd, qdd, in place
//
// See fabric_step.h for the method and fabric_model.h for the numbers. An environment gets the same bits whoever its
// neighbours are, and on every processor. Pure; allocates nothing; any number of threads.
#pragma once

#include <span>

#include "control/fabric_model.h"

namespace gripstream {

// The most that are stepped together.
inline constexpr int kMaxFabricLanes = 8;

struct FabricTarget {
  Transform palm{};                   // wanted pose of the palm in the base frame
  const double* synergies = nullptr;  // [S] wanted coordinates
  double damping = 10;                // 1/s
};

struct FabricEnv {
  FabricTarget target{};
  double *q, *qd, *qdd;  // [joints] each
};

// `steps` steps of model.dt_s for each of them.
void StepFabrics(const FabricModel& model, std::span<const FabricEnv> envs, int steps);

}  // namespace gripstream
