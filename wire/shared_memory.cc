#include "wire/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>

namespace gripstream {
namespace {

constexpr size_t kPage_bytes = 4096;
constexpr size_t kStatBlock_bytes = 512;  // the unit of st_blocks
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

size_t RoundUpToPage(size_t bytes) {
  return (bytes + kPage_bytes - 1) / kPage_bytes * kPage_bytes;
}

std::string InMegabytes(size_t bytes) {
  return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

// The first number after `label` in a file of "label value" lines, or of a bare number when label is empty.
bool ReadNumber(const std::string& path, const std::string& label, size_t& value) {
  std::ifstream file(path);
  std::string word;
  while (!label.empty() && file >> word && word != label) {
  }
  return static_cast<bool>(file >> value);
}

// Memory that can be had without swapping or a visit of the out-of-memory killer, as far as the system tells.
size_t AvailableMemory() {
  size_t available = SIZE_MAX;
  size_t kib = 0;
  if (ReadNumber("/proc/meminfo", "MemAvailable:", kib)) available = kib * 1024;
  const std::pair<const char*, const char*> control_groups[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (const auto& [limit_path, usage_path] : control_groups) {
    size_t limit = 0;
    size_t usage = 0;
    if (ReadNumber(limit_path, "", limit) && ReadNumber(usage_path, "", usage)) {
      available = std::min(available, limit > usage ? limit - usage : 0);
    }
  }
  return available;
}

// Going over RLIMIT_FSIZE would be answered with a signal, and over the memory there is with a kill: look first.
void CheckRoom(size_t bytes, const std::string& purpose) {
  const std::string wanted = "shared memory for " + purpose + " needs " + InMegabytes(bytes);
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    throw RunError(wanted + ", the file size limit (ulimit -f) allows " + InMegabytes(limit.rlim_cur));
  }
  const size_t available = AvailableMemory();
  if (bytes > available) {
    throw RunError(wanted + ", the machine has " + InMegabytes(available) +
                   " left; use fewer environments, smaller images or fewer wire.slots");
  }
}

UniqueFd MakeSegment(size_t bytes, const std::string& purpose) {
  CheckRoom(bytes, purpose);
  UniqueFd fd(memfd_create("gripstream", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) throw RunError(ErrnoText("cannot make shared memory for " + purpose));
  int status;
  do {
    status = fallocate(fd.Get(), 0, 0, static_cast<off_t>(bytes));
  } while (status != 0 && errno == EINTR);
  if (status != 0) {
    throw RunError(
        ErrnoText("shared memory for " + purpose + " needs " + InMegabytes(bytes) + ", which cannot be had"));
  }
  return fd;
}

void CheckSegment(int fd, size_t bytes, int seals) {
  struct stat status {};
  const int actual_seals = fcntl(fd, F_GET_SEALS);
  if (fstat(fd, &status) != 0 || actual_seals < 0) throw RunError("a peer passed something that is no shared memory");
  if (static_cast<size_t>(status.st_size) != bytes) {
    throw RunError("a peer passed shared memory of " + std::to_string(status.st_size) + " bytes, announced " +
                   std::to_string(bytes));
  }
  if ((actual_seals & seals) != seals || static_cast<size_t>(status.st_blocks) * kStatBlock_bytes < bytes) {
    throw RunError("a peer passed shared memory that is not sealed or not allocated");
  }
}

std::span<std::byte> Map(int fd, size_t bytes, int protection, int flags) {
  void* address = mmap(nullptr, bytes, protection, flags, fd, 0);
  if (address == MAP_FAILED) throw RunError(ErrnoText("cannot map " + InMegabytes(bytes) + " of shared memory"));
  return {static_cast<std::byte*>(address), bytes};
}

}  // namespace

SharedMemory::SharedMemory(UniqueFd fd, size_t bytes)
    : fd_(std::move(fd)), bytes_(Map(fd_.Get(), bytes, PROT_READ | PROT_WRITE, MAP_SHARED)) {}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)), bytes_(std::exchange(other.bytes_, {})) {}

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

SharedMemory SharedMemory::Make(size_t bytes, const std::string& purpose) {
  UniqueFd fd = MakeSegment(bytes, purpose);
  if (fcntl(fd.Get(), F_ADD_SEALS, kSizeSeals | F_SEAL_SEAL) != 0)
    throw RunError(ErrnoText("cannot seal shared memory"));
  return SharedMemory(std::move(fd), bytes);
}

SharedMemory SharedMemory::Attach(UniqueFd fd, size_t bytes) {
  CheckSegment(fd.Get(), bytes, kSizeSeals);
  return SharedMemory(std::move(fd), bytes);
}

UniqueFd MakeBlob(std::span<const std::byte> bytes) {
  UniqueFd fd = MakeSegment(bytes.size(), "a message of " + std::to_string(bytes.size()) + " bytes");
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = pwrite(fd.Get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw RunError(ErrnoText("cannot fill shared memory"));
    done += static_cast<size_t>(written);
  }
  if (fcntl(fd.Get(), F_ADD_SEALS, kSizeSeals | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
    throw RunError(ErrnoText("cannot seal shared memory"));
  }
  return fd;
}

Bulk MapBlob(UniqueFd fd, size_t bytes) {
  CheckSegment(fd.Get(), bytes, kSizeSeals | F_SEAL_WRITE);
  const std::span<std::byte> mapped = Map(fd.Get(), bytes, PROT_READ, MAP_PRIVATE);
  const std::shared_ptr<const void> hold(mapped.data(), [bytes](std::byte* address) { munmap(address, bytes); });
  return {mapped, hold};
}

RegionPlan::RegionPlan(const LineShape& line_shape)
    : shape(line_shape),
      record_stride_bytes(RoundUpToPage(shape.record_bytes)),
      command_stride_bytes(RoundUpToPage(shape.command_bytes)),
      records_begin(kPage_bytes),
      commands_begin(records_begin + shape.slots * record_stride_bytes),
      total_bytes(commands_begin + shape.slots * command_stride_bytes) {}

}  // namespace gripstream
