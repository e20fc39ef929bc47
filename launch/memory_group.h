// A hard limit on one process's memory: a control group of the kernel's (version 1 or 2) that it is started into. A
// process that cannot stay within it is killed by the kernel.
//
// What is charged: memory that the process touches first, shared memory included; files in the page cache only until
// the kernel needs the room. Needs the right to make groups. One thread; throws RunError.
#pragma once

#include <string>
#include <vector>

namespace gripstream {

class MemoryGroup {
 public:
  // Why there can be none on this machine, for this user; empty when there can.
  static std::string WhyNot();

  MemoryGroup(const std::string& name, double limit_bytes);
  // All its processes have ended.
  ~MemoryGroup();
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  // The command that starts `argv` inside.
  std::vector<std::string> Inside(const std::vector<std::string>& argv) const;
  double PeakBytes() const;

 private:
  std::string path_;
};

}  // namespace gripstream
