#include "launch/memory_group.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/error.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

constexpr char kVersionOne[] = "/sys/fs/cgroup/memory", kVersionTwo[] = "/sys/fs/cgroup";

bool HasVersionOne() {
  return fs::exists(fs::path(kVersionOne) / "memory.limit_in_bytes");
}

bool HasVersionTwo() {
  std::ifstream in(fs::path(kVersionTwo) / "cgroup.subtree_control");
  for (std::string controller; in >> controller;) {
    if (controller == "memory") return true;
  }
  return false;
}

bool Write(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text << std::flush;
  return out.good();
}

}  // namespace

std::string MemoryGroup::WhyNot() {
  if (!HasVersionOne() && !HasVersionTwo()) return "no control groups for memory on this machine";
  try {
    const MemoryGroup probe("probe", 1e9);
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

MemoryGroup::MemoryGroup(const std::string& name, double limit_bytes) {
  const bool one = HasVersionOne();
  path_ = std::string(one ? kVersionOne : kVersionTwo) + "/gripstream-" + std::to_string(getpid()) + "-" + name;
  if (mkdir(path_.c_str(), 0755) != 0) throw RunError(path_ + ": cannot be made: " + std::strerror(errno));
  const std::string limit = std::to_string(static_cast<long long>(limit_bytes));
  const bool set = Write(fs::path(path_) / (one ? "memory.limit_in_bytes" : "memory.max"), limit);
  if (!set) {
    rmdir(path_.c_str());
    throw RunError(path_ + ": the limit cannot be set");
  }
  // Nothing may leave for the swap space where there is one.
  if (one) Write(fs::path(path_) / "memory.memsw.limit_in_bytes", limit);
  if (!one) Write(fs::path(path_) / "memory.swap.max", "0");
}

MemoryGroup::~MemoryGroup() {
  // A process that was waited for may still be leaving its group.
  for (int tries = 0; rmdir(path_.c_str()) != 0 && errno == EBUSY && tries < 200; ++tries) usleep(10'000);
}

std::vector<std::string> MemoryGroup::Inside(const std::vector<std::string>& argv) const {
  std::vector<std::string> command = {"/bin/sh", "-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"", path_};
  command.insert(command.end(), argv.begin(), argv.end());
  return command;
}

double MemoryGroup::PeakBytes() const {
  double bytes = 0;
  for (const char* name : {"memory.max_usage_in_bytes", "memory.peak"}) {
    if (std::ifstream in(fs::path(path_) / name); in) in >> bytes;
  }
  return bytes;
}

}  // namespace gripstream
