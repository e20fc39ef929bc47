#include "core/process_memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "core/error.h"
#include "core/memory_budget.h"

namespace gripstream {
namespace {

constexpr double kNoLimit = 1e18;  // cgroup v1 writes "none" as a number near 2^63

// Lines "Name:   123 kB" as bytes.
std::map<std::string, size_t> Kilobytes(const std::string& path) {
  std::map<std::string, size_t> fields;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name, unit;
    size_t value = 0;
    if (words >> name >> value >> unit && unit == "kB") fields[name.substr(0, name.size() - 1)] = value * 1024;
  }
  return fields;
}

void AddResourceLimit(int resource, const char* name, std::vector<MemoryLimit>& limits) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  limits.push_back({static_cast<double>(limit.rlim_cur), name, true});
}

void AddFile(const std::filesystem::path& path, std::vector<MemoryLimit>& limits) {
  double bytes = 0;
  if (std::ifstream in(path); in >> bytes && bytes < kNoLimit)
    limits.push_back({bytes, "cgroup " + path.string(), false});
}

// The group's own limit and those of all above it, up to the mount point; a container may see no more than that.
void AddGroup(const std::filesystem::path& mount, std::filesystem::path group, const char* file,
              std::vector<MemoryLimit>& limits) {
  for (group = group.relative_path(); !group.empty(); group = group.parent_path())
    AddFile(mount / group / file, limits);
  AddFile(mount / file, limits);
}

}  // namespace

ProcessMemory OwnMemory() {
  return MemoryOf(getpid());
}

ProcessMemory MemoryOf(int pid) {
  const std::string proc = "/proc/" + std::to_string(pid);
  const std::map<std::string, size_t> status = Kilobytes(proc + "/status"), rollup = Kilobytes(proc + "/smaps_rollup");
  const auto of = [](const std::map<std::string, size_t>& fields, const char* name) {
    const auto found = fields.find(name);
    return found == fields.end() ? size_t{0} : found->second;
  };
  return {.anonymous_bytes = of(status, "RssAnon"),
          .shared_bytes = of(status, "RssShmem"),
          .file_bytes = of(status, "RssFile"),
          .peak_bytes = of(status, "VmHWM"),
          .proportional_bytes = of(rollup, "Pss"),
          .private_bytes = of(rollup, "Private_Dirty")};
}

std::string DescribeOwnMemory() {
  const ProcessMemory own = OwnMemory();
  const auto text = [](size_t bytes) { return FormatBytes(static_cast<double>(bytes)); };
  return "this process holds " + text(own.anonymous_bytes) + " of its own, " + text(own.shared_bytes) + " shared, " +
         text(own.file_bytes) + " of files; malloc has handed out " + text(HeapInUse()) + "; in proportion " +
         text(own.proportional_bytes) + ", at most so far " + text(own.peak_bytes);
}

size_t HeapInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void ReleaseFreeHeap() {
  malloc_trim(0);
}

std::vector<MemoryLimit> MemoryLimits(const std::string& root, const std::string& proc) {
  std::vector<MemoryLimit> limits;
  AddResourceLimit(RLIMIT_AS, "RLIMIT_AS", limits);
  AddResourceLimit(RLIMIT_DATA, "RLIMIT_DATA", limits);
  std::ifstream groups(proc + "/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") AddGroup(root, path, "memory.max", limits);
    if (controllers.find(",memory,") != std::string::npos) {
      AddGroup(root + "/memory", path, "memory.limit_in_bytes", limits);
    }
  }
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0)
    limits.push_back({static_cast<double>(pages) * static_cast<double>(page_bytes), "physical memory", false});
  return limits;
}

MemoryLimit TightestLimit(const std::vector<MemoryLimit>& limits) {
  GS_CHECK(!limits.empty(), "no limits");
  return *std::ranges::min_element(limits, {}, &MemoryLimit::bytes);
}

}  // namespace gripstream
