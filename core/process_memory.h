// What a process has, and what it may have: figures of the kernel and of malloc. Linux.
//
// Thread-safe. Figures that cannot be read are 0, limits that are not there are not listed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gripstream {

// Of a process, from /proc: what a cgroup charges and cannot take back is anonymous memory, and shared memory
// in the process that touched it first.
struct ProcessMemory {
  size_t anonymous_bytes = 0;     // heap, stacks, relocated libraries
  size_t shared_bytes = 0;        // shared memory that it maps and that is there
  size_t file_bytes = 0;          // of programs and libraries: given back under pressure
  size_t peak_bytes = 0;          // largest sum of the three so far
  size_t proportional_bytes = 0;  // PSS: what is shared divides by those who share it
  size_t private_bytes = 0;       // written to, and shared with nobody

  size_t ResidentBytes() const { return anonymous_bytes + shared_bytes + file_bytes; }
};
ProcessMemory OwnMemory();
ProcessMemory MemoryOf(int pid);
// "this process holds 123 MB (anonymous), ..."
std::string DescribeOwnMemory();

// Bytes of malloc that are in use, all arenas together; pages of it may not have been touched.
size_t HeapInUse();
// Gives free heap back to the system, so that anonymous_bytes is what is in use.
void ReleaseFreeHeap();

struct MemoryLimit {
  double bytes = 0;
  std::string name;  // "cgroup memory limit", ...
  bool own = false;  // for this process alone; otherwise for all that run beside it
};
// RLIMIT_AS, RLIMIT_DATA, the cgroup's and its parents' limits, the machine's memory. `root` and `proc` stand for
// /sys/fs/cgroup and /proc/self.
std::vector<MemoryLimit> MemoryLimits(const std::string& root = "/sys/fs/cgroup",
                                      const std::string& proc = "/proc/self");
// The smallest of them.
MemoryLimit TightestLimit(const std::vector<MemoryLimit>& limits);

}  // namespace gripstream
