// How many CPUs this process may use: what a default number of threads is taken from.
//
// The calling thread's affinity mask (taskset, Slurm, container cpusets) and the control group's quota, whichever is
// less: more threads than that would only take turns. Thread-safe; nothing throws but PinThread.
#pragma once

#include <string>
#include <vector>

namespace gripstream {

// At least 1.
int AvailableCpus();

// The quota of control groups mounted at `root`, in whole CPUs rounded up; 0 when there is none. Version 2 and 1.
int QuotaCpus(const std::string& root);

// CPUs that the calling thread may run on, by number.
std::vector<int> AllowedCpus();

// Keeps the calling thread, and the threads and processes that it starts from now on, on one of AllowedCpus(). Throws
// RunError when the system refuses.
void PinThread(int cpu);

}  // namespace gripstream
