#include "core/cpus.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <thread>

namespace gripstream {
namespace {

// Of the calling thread; 0 when it cannot be read. Machines may have more CPUs than a plain cpu_set_t holds.
int AffinityCpus() {
  for (int most = 1024; most <= 1 << 18; most *= 4) {
    const size_t bytes = CPU_ALLOC_SIZE(most);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(most), [](cpu_set_t* s) { CPU_FREE(s); });
    if (set && sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
  }
  return 0;
}

int WholeCpus(double quota, double period) {
  return quota > 0 && period > 0 ? static_cast<int>(std::ceil(quota / period)) : 0;
}

}  // namespace

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
  const int affinity = AffinityCpus(), quota = QuotaCpus("/sys/fs/cgroup");
  const int cpus = affinity > 0 ? affinity : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, quota > 0 ? std::min(cpus, quota) : cpus);
}

}  // namespace gripstream
