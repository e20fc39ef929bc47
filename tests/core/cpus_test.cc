// Tests core/cpus.h.
#include "core/cpus.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "core/error.h"

namespace gripstream {
namespace {

TEST(AvailableCpus, FollowsTheAffinityMask) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_GE(AvailableCpus(), 1);
  EXPECT_LE(AvailableCpus(), CPU_COUNT(&all));
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  int seen = 0;
  std::thread([&] {  // its own mask, as under taskset
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    seen = AvailableCpus();
  })
      .join();
  EXPECT_EQ(seen, 1);
}

TEST(PinThread, LeavesTheThreadOneCpu) {
  const std::vector<int> all = AllowedCpus();
  ASSERT_FALSE(all.empty());
  std::thread([&] {
    PinThread(all.back());
    EXPECT_EQ(AllowedCpus(), std::vector<int>{all.back()});
    EXPECT_EQ(sched_getcpu(), all.back());
    EXPECT_THROW(PinThread(100000), RunError);
  }).join();
  EXPECT_EQ(AllowedCpus(), all);
}

class ControlGroup : public testing::Test {
 protected:
  ControlGroup()
      : root_(std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(root_ / "cpu");
  }
  ~ControlGroup() override { std::filesystem::remove_all(root_); }
  int With(const std::string& file, const std::string& text) const {
    std::ofstream(root_ / file) << text << "\n";
    return QuotaCpus(root_.string());
  }
  std::filesystem::path root_;
};

TEST_F(ControlGroup, QuotasOfVersionTwoAreRoundedUp) {
  EXPECT_EQ(With("cpu.max", "250000 100000"), 3);
  EXPECT_EQ(With("cpu.max", "200000 100000"), 2);
  EXPECT_EQ(With("cpu.max", "5000 100000"), 1);
}

TEST_F(ControlGroup, QuotasOfVersionOneAreRoundedUp) {
  EXPECT_EQ(QuotaCpus(root_.string()), 0);
  With("cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(With("cpu/cpu.cfs_quota_us", "150000"), 2);
  EXPECT_EQ(With("cpu/cpu.cfs_quota_us", "-1"), 0);
}

TEST_F(ControlGroup, WithoutAQuotaOrWithoutSenseMeansNoLimit) {
  EXPECT_EQ(QuotaCpus((root_ / "nowhere").string()), 0);
  EXPECT_EQ(With("cpu.max", "max 100000"), 0);
  EXPECT_EQ(With("cpu.max", ""), 0);
  EXPECT_EQ(With("cpu.max", "100000 0"), 0);
}

}  // namespace
}  // namespace gripstream
