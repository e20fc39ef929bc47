// Tests core/process_memory.h.
#include "core/process_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <memory>

namespace gripstream {
namespace {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kOtherAllocator = true;
#else
constexpr bool kOtherAllocator = false;
#endif

// A made-up /sys/fs/cgroup and /proc/self.
class Groups : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(root_); }
  void TearDown() override { fs::remove_all(root_); }
  void Write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  std::vector<MemoryLimit> Limits() { return MemoryLimits((root_ / "sys").string(), (root_ / "proc").string()); }
  double Tightest() { return TightestLimit(Limits()).bytes; }

  fs::path root_ = fs::path(testing::TempDir()) / "gripstream_process_memory_test";
};

TEST_F(Groups, TheTightestOfTheGroupAndThoseAboveItCounts) {
  Write("proc/cgroup", "0::/job/step");
  Write("sys/job/step/memory.max", "2000000");
  EXPECT_EQ(Tightest(), 2e6);
  Write("sys/job/memory.max", "1000000");
  EXPECT_EQ(Tightest(), 1e6);
  Write("sys/job/memory.max", "max");
  EXPECT_EQ(Tightest(), 2e6);
}

TEST_F(Groups, VersionOneHasAHierarchyOfItsOwn) {
  Write("proc/cgroup", "4:cpu,memory:/job\n0::/");
  Write("sys/memory/job/memory.limit_in_bytes", "3000000");
  EXPECT_EQ(Tightest(), 3e6);
  EXPECT_NE(TightestLimit(Limits()).name.find("/memory/job/"), std::string::npos);
  Write("sys/memory/job/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_GT(Tightest(), 3e6);
}

TEST_F(Groups, WithoutGroupsThereIsTheMachine) {
  const MemoryLimit limit = TightestLimit(Limits());
  EXPECT_EQ(limit.name, "physical memory");
  EXPECT_GT(limit.bytes, 1e8);
  EXPECT_FALSE(limit.own);
}

TEST_F(Groups, ResourceLimitsAreTheProcesssOwn) {
  if (kOtherAllocator) GTEST_SKIP() << "the sanitizer maps more than any limit";
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &old), 0);
  rlimit less = old;
  less.rlim_cur = 50'000'000'000;
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &less), 0);
  bool seen = false;
  for (const MemoryLimit& limit : Limits()) seen |= limit.name == "RLIMIT_DATA" && limit.bytes == 5e10 && limit.own;
  setrlimit(RLIMIT_DATA, &old);
  EXPECT_TRUE(seen);
}

TEST(ProcessMemory, SeesWhatIsTouched) {
  if (kOtherAllocator) GTEST_SKIP() << "the sanitizer's allocator is not malloc's";
  constexpr size_t kBytes = 64 << 20;
  const size_t heap = HeapInUse(), anonymous = OwnMemory().anonymous_bytes;
  const auto block = std::make_unique<std::byte[]>(kBytes);  // zeroed: every page is touched
  EXPECT_GE(HeapInUse() - heap, kBytes);
  EXPECT_GE(OwnMemory().anonymous_bytes - anonymous, kBytes * 95 / 100);
  EXPECT_GE(OwnMemory().peak_bytes, kBytes);
  EXPECT_GT(OwnMemory().proportional_bytes, kBytes / 2);
}

}  // namespace
}  // namespace gripstream
