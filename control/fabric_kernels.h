// A fabric's steps, compiled once per instruction set and chosen at run time. All give the same bits. Pure; nothing
// throws or allocates.
#pragma once

#include <vector>

#include "control/fabric.h"
#include "control/fabric_step.h"

namespace gripstream {

struct FabricKernel {
  const char* name;
  int lanes;
  // Steps `count` environments, at most `lanes`.
  void (*step)(const FabricModel& model, const FabricEnv* envs, int count, int steps);
};
extern const FabricKernel kFabricAvx512, kFabricAvx2;

// Those that this processor can run, the widest first; the last is plain and for one environment.
const std::vector<FabricKernel>& FabricKernels();

// A target for the functions of fabric_step.h.
FabricTargetOf<double> OneTarget(const FabricTarget& target);

// What kernels leave to code that is compiled for every processor: the wanted palm as numbers (rotation, row-major,
// then origin), and the guard against boxes, of one environment.
void PalmNumbers(const Transform& palm, double* twelve);
void GuardBoxesOfOne(const FabricModel& model, const double* distance, const double* q, const double* qd,
                     double* acceleration);

}  // namespace gripstream
