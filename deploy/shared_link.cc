#include "deploy/shared_link.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace gripstream {
namespace {

constexpr size_t kFileBytes = sizeof(SharedHead) + size_t{kSharedSlots} * kSharedStride;
constexpr uint32_t kStatesSlot = 0, kTargetsSlot = 1, kFirstCamera = 2;
constexpr double kLongestSleep_s = 0.05;  // for whoever writes without waking

// The file, mapped; unmapped at the end, and removed by the robot.
class Mapping {
 public:
  // The robot's.
  static Mapping Make(const std::string& path) {
    unlink(path.c_str());  // of a robot that ended without leaving
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(kFileBytes)) != 0) Refuse(fd, path, "a file that can be made");
    Mapping mapping(fd, path, true);
    SharedHead& head = mapping.Head();
    head.version = kRobotInterfaceVersion;
    head.slots = kSharedSlots;
    head.stride = kSharedStride;
    head.robot_here = 1;
    std::atomic_thread_fence(std::memory_order_release);
    std::memcpy(head.magic, kSharedMagic, sizeof(head.magic));
    return mapping;
  }
  // The runner's; nothing when it is not there yet.
  static std::unique_ptr<Mapping> Find(const std::string& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return nullptr;
    if (fd < 0) Refuse(fd, path, "a file that can be opened");
    struct stat info {};
    if (fstat(fd, &info) != 0 || static_cast<size_t>(info.st_size) != kFileBytes) {
      close(fd);
      return nullptr;  // being made
    }
    std::unique_ptr<Mapping> mapping(new Mapping(fd, path, false));
    const SharedHead& head = mapping->Head();
    if (std::memcmp(head.magic, kSharedMagic, sizeof(head.magic)) != 0 || head.robot_here == 0) return nullptr;
    if (head.version != kRobotInterfaceVersion || head.slots != kSharedSlots || head.stride != kSharedStride)
      throw RunError(path + ": another version or layout of the robot interface");
    return mapping;
  }
  Mapping(Mapping&& other) noexcept
      : path_(std::move(other.path_)),
        memory_(std::exchange(other.memory_, nullptr)),
        inode_(other.inode_),
        owner_(other.owner_) {}
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() {
    if (memory_ == nullptr) return;
    if (owner_) {
      Head().robot_here = 0;
      unlink(path_.c_str());
    }
    munmap(memory_, kFileBytes);
  }

  // Whether the robot has left, or another one has taken its place.
  bool Gone() {
    struct stat info {};
    return std::atomic_ref<uint32_t>(Head().robot_here).load() == 0 || stat(path_.c_str(), &info) != 0 ||
           info.st_ino != inode_;
  }

  SharedHead& Head() { return *reinterpret_cast<SharedHead*>(memory_); }
  SharedSlot& Slot(uint32_t index) {
    return *reinterpret_cast<SharedSlot*>(memory_ + sizeof(SharedHead) + size_t{index} * kSharedStride);
  }

 private:
  Mapping(int fd, const std::string& path, bool owner) : path_(path), owner_(owner) {
    void* memory = mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) Refuse(fd, path, "a file that can be mapped");
    struct stat info {};
    fstat(fd, &info);
    inode_ = info.st_ino;
    close(fd);
    memory_ = static_cast<std::byte*>(memory);
  }
  [[noreturn]] static void Refuse(int fd, const std::string& path, const std::string& expected) {
    const std::string why = std::strerror(errno);
    if (fd >= 0) close(fd);
    throw InputError("robot interface", "address", "shm:" + path, expected + " (" + why + ")");
  }

  std::string path_;
  std::byte* memory_ = nullptr;
  ino_t inode_ = 0;
  bool owner_;
};

std::atomic_ref<uint32_t> Atomic(uint32_t& value) {
  return std::atomic_ref<uint32_t>(value);
}

void Wake(uint32_t& news) {
  Atomic(news).fetch_add(1);
  syscall(SYS_futex, &news, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void SleepOn(uint32_t& news, uint32_t seen, double seconds) {
  const double s = std::min(seconds, kLongestSleep_s);
  const timespec time{0, std::max(1L, static_cast<long>(1e9 * s))};
  syscall(SYS_futex, &news, FUTEX_WAIT, seen, &time, nullptr, 0);
}

void WriteSlot(SharedSlot& slot, std::span<const std::byte> head, std::span<const std::byte> rest) {
  const size_t bytes = head.size() + rest.size();
  if (bytes > kSharedStride - sizeof(SharedSlot))
    throw RunError("a message of " + std::to_string(bytes) + " bytes does not fit a slot of the shared memory");
  auto* data = reinterpret_cast<std::byte*>(&slot + 1);
  // A writer that was killed halfway left it odd.
  const uint32_t odd = Atomic(slot.lock).load() | 1u;
  Atomic(slot.lock).store(odd);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::memcpy(data, head.data(), head.size());
  if (!rest.empty()) std::memcpy(data + head.size(), rest.data(), rest.size());
  slot.bytes = static_cast<uint32_t>(bytes);
  Atomic(slot.lock).store(odd + 1, std::memory_order_release);
}

// A message newer than `seen`, whole; false when there is none, or it is being written.
bool ReadSlot(SharedSlot& slot, uint32_t& seen, std::vector<std::byte>& message) {
  const uint32_t lock = Atomic(slot.lock).load(std::memory_order_acquire);
  const uint32_t bytes = slot.bytes;
  if (lock == seen || lock % 2 != 0 || bytes > kSharedStride - sizeof(SharedSlot)) return false;
  const auto* data = reinterpret_cast<const std::byte*>(&slot + 1);
  message.assign(data, data + bytes);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (Atomic(slot.lock).load() != lock) return false;
  seen = lock;
  return true;
}

class RobotEnd final : public RobotLink {
 public:
  explicit RobotEnd(const std::string& path) : mapping_(Mapping::Make(path)) {}

  void Send(std::span<const std::byte> head, std::span<const std::byte> rest) override {
    WriteSlot(mapping_.Slot(SlotOf(head)), head, rest);
    Wake(mapping_.Head().robot_news);
  }
  bool Receive(Deadline deadline, std::vector<std::byte>& message) override {
    for (;;) {
      uint32_t& news = mapping_.Head().runner_news;
      const uint32_t now = Atomic(news).load();
      if (ReadSlot(mapping_.Slot(kTargetsSlot), seen_, message)) return true;
      if (deadline.Passed()) return false;
      SleepOn(news, now, deadline.RemainingSeconds());
    }
  }
  bool Lost() override { return false; }

 private:
  // Every camera has a slot of its own, in the order in which they first come.
  uint32_t SlotOf(std::span<const std::byte> head) {
    CameraFrame frame;
    if (!ReadMessage(head, kCameraFrameKind, frame)) return kStatesSlot;
    const std::string name(frame.camera, strnlen(frame.camera, sizeof(frame.camera)));
    for (uint32_t i = 0; i < cameras_.size(); ++i) {
      if (cameras_[i] == name) return kFirstCamera + i;
    }
    if (kFirstCamera + cameras_.size() >= kSharedSlots)
      throw RunError("frames of camera " + name + " find no slot in the shared memory: it has " +
                     std::to_string(kSharedSlots - kFirstCamera));
    cameras_.push_back(name);
    return kFirstCamera + static_cast<uint32_t>(cameras_.size()) - 1;
  }

  Mapping mapping_;
  std::vector<std::string> cameras_;
  uint32_t seen_ = 0;
};

class RunnerEnd final : public RobotLink {
 public:
  explicit RunnerEnd(std::string path) : path_(std::move(path)) { Find(); }

  void Send(std::span<const std::byte> head, std::span<const std::byte> rest) override {
    if (!mapping_) return;
    WriteSlot(mapping_->Slot(kTargetsSlot), head, rest);
    Wake(mapping_->Head().runner_news);
  }
  bool Receive(Deadline deadline, std::vector<std::byte>& message) override {
    for (;;) {
      if (!mapping_) Find();
      uint32_t nobody = 0;
      uint32_t& news = mapping_ ? mapping_->Head().robot_news : nobody;
      const uint32_t now = Atomic(news).load();
      if (mapping_ && Take(message)) return true;
      if (deadline.Passed()) return false;
      SleepOn(news, now, deadline.RemainingSeconds());
      if (mapping_ && Atomic(news).load() == now && mapping_->Gone()) {
        mapping_.reset();
        lost_ = true;
      }
    }
  }
  bool Lost() override { return std::exchange(lost_, false); }

 private:
  void Find() {
    mapping_ = Mapping::Find(path_);
    if (mapping_) seen_.fill(0);
  }
  // Frames first: they belong to the states that were written after them.
  bool Take(std::vector<std::byte>& message) {
    const bool states = Atomic(mapping_->Slot(kStatesSlot).lock).load() != seen_[kStatesSlot];
    for (uint32_t slot = kFirstCamera; slot < kSharedSlots; ++slot) {
      if (ReadSlot(mapping_->Slot(slot), seen_[slot], message)) return true;
    }
    return states && ReadSlot(mapping_->Slot(kStatesSlot), seen_[kStatesSlot], message);
  }

  const std::string path_;
  std::unique_ptr<Mapping> mapping_;
  std::array<uint32_t, kSharedSlots> seen_{};
  bool lost_ = false;
};

}  // namespace

std::unique_ptr<RobotLink> SharedRunnerLink(const std::string& path) {
  return std::make_unique<RunnerEnd>(path);
}

std::unique_ptr<RobotLink> SharedRobotLink(const std::string& path) {
  return std::make_unique<RobotEnd>(path);
}

}  // namespace gripstream
