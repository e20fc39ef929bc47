// How much of two cores' work the runtime lets happen at once: collection with the simulator on one core and inference
// on another, beside each of them alone and beside lock-step.
//
//   simulator process (gripstream-sim, core A)  <- shm ->  this thread (Fleet, Policy, core B)
//
// Everything is what a training run uses; whole rollouts are timed, with the standstill at their ends, from the same
// states with the same actions. Simulation alone takes a rollout's actions once more without asking the policy;
// inference alone acts on a rollout's observations without the simulator. The four are measured in turn, so that what
// else the machine does slows all alike, and medians compared. Networks are chosen so that simulation is the slower of
// the two, inference is, or neither.
//
// Needs two CPUs: rows say so where there is one. Pins the calling thread; call once per process, from its main thread.
#pragma once

#include <vector>

#include "core/bench.h"

namespace gripstream {

// About `seconds` for each of the figures compared.
std::vector<BenchRow> BenchPipeline(double seconds);

}  // namespace gripstream
