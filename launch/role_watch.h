// The role processes of a run on this machine, as the kernel sees them: gripstream top.
//
// Plain values. Roles on other machines are not seen, and processes that end while they are looked at are left out.
#pragma once

#include <string>
#include <vector>

namespace gripstream {

struct RoleSample {
  std::string name;  // "learner", "simulator 0", ...
  int pid = 0;
  std::string state;        // "running", "waiting", "stopped", "dead"
  double cpu_s = 0;         // of processor time so far, all threads
  double age_s = 0;         // since it was started
  double memory_bytes = 0;  // anonymous and shared
  int threads = 0;
};

// In the order of their names. `proc` stands for /proc.
std::vector<RoleSample> RolesOf(const std::string& run_dir, const std::string& proc = "/proc");

}  // namespace gripstream
