// How many CPUs this process may use: what a default number of threads is taken from.
//
// The calling thread's affinity mask (taskset, Slurm, container cpusets) and the control group's quota, whichever is
// less: more threads than that would only take turns. Thread-safe; nothing throws.
#pragma once

#include <string>

namespace gripstream {

// At least 1.
int AvailableCpus();

// The quota of control groups mounted at `root`, in whole CPUs rounded up; 0 when there is none. Version 2 and 1.
int QuotaCpus(const std::string& root);

}  // namespace gripstream
