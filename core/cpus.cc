#include "core/cpus.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

#include "core/error.h"

namespace gripstream {
namespace {

// Machines may have more CPUs than a plain cpu_set_t holds.
using CpuSet = std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)>;

CpuSet MakeCpuSet(int most) {
  return {CPU_ALLOC(most), [](cpu_set_t* s) { CPU_FREE(s); }};
}

int WholeCpus(double quota, double period) {
  return quota > 0 && period > 0 ? static_cast<int>(std::ceil(quota / period)) : 0;
}

}  // namespace

std::vector<int> AllowedCpus() {
  std::vector<int> allowed;
  for (int most = 1024; most <= 1 << 18; most *= 4) {
    const size_t bytes = CPU_ALLOC_SIZE(most);
    const CpuSet set = MakeCpuSet(most);
    if (!set || sched_getaffinity(0, bytes, set.get()) != 0) continue;
    for (int cpu = 0; cpu < most; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set.get())) allowed.push_back(cpu);
    }
    break;
  }
  return allowed;
}

void PinThread(int cpu) {
  const size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
  const CpuSet set = MakeCpuSet(cpu + 1);
  CPU_ZERO_S(bytes, set.get());
  CPU_SET_S(cpu, bytes, set.get());
  if (sched_setaffinity(0, bytes, set.get()) != 0) {
    throw RunError("cannot run on CPU " + std::to_string(cpu) + ": " + std::strerror(errno));
  }
}

int QuotaCpus(const std::string& root) {
  double quota = 0, period = 0;
  if (std::ifstream both(root + "/cpu.max"); both) {  // "max 100000" reads as no number: no quota
    both >> quota >> period;
    return WholeCpus(quota, period);
  }
  std::ifstream(root + "/cpu/cpu.cfs_quota_us") >> quota;  // -1: none
  std::ifstream(root + "/cpu/cpu.cfs_period_us") >> period;
  return WholeCpus(quota, period);
}

int AvailableCpus() {
  const int affinity = static_cast<int>(AllowedCpus().size()), quota = QuotaCpus("/sys/fs/cgroup");
  const int cpus = affinity > 0 ? affinity : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, quota > 0 ? std::min(cpus, quota) : cpus);
}

}  // namespace gripstream
