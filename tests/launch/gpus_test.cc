// Tests launch/gpus.h.
#include "launch/gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace gripstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<DriverGpu> kEight = [] {
  std::vector<DriverGpu> gpus;
  for (char c = '0'; c < '8'; ++c) gpus.push_back({std::string("GPU-") + c + "aaa-bbb", "H200"});
  return gpus;
}();

std::vector<std::string> Visible(const char* mask, const std::vector<DriverGpu>& driver, bool pci_order = false) {
  std::vector<std::string> names;
  for (const Gpu& gpu : VisibleGpus(mask, pci_order, driver)) names.push_back(gpu.visible);
  return names;
}

std::string Refusal(const char* mask, const std::vector<DriverGpu>& driver) {
  try {
    VisibleGpus(mask, false, driver);
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(VisibleGpus, AreAllOfTheDriverWithoutAMask) {
  EXPECT_EQ(Visible(nullptr, kEight).size(), 8u);
  EXPECT_TRUE(Visible(nullptr, {}).empty());
  EXPECT_EQ(VisibleGpus(nullptr, false, kEight)[5].physical, "GPU 5 (H200, GPU-5aaa-bbb)");
}

TEST(VisibleGpus, AreReadFromNumbersRangesAndUuids) {
  EXPECT_THAT(Visible("4-7", kEight), ElementsAre("GPU-4aaa-bbb", "GPU-5aaa-bbb", "GPU-6aaa-bbb", "GPU-7aaa-bbb"));
  EXPECT_THAT(Visible("6, 1-2", kEight), ElementsAre("GPU-6aaa-bbb", "GPU-1aaa-bbb", "GPU-2aaa-bbb"));
  EXPECT_THAT(Visible("GPU-3,0", kEight), ElementsAre("GPU-3aaa-bbb", "GPU-0aaa-bbb"));
  EXPECT_THAT(Visible("MIG-1234/0/1", kEight), ElementsAre("MIG-1234/0/1"));
  EXPECT_EQ(VisibleGpus("6", false, kEight)[0].physical, "GPU 6 (H200, GPU-6aaa-bbb)");
}

TEST(VisibleGpus, EndAtMinusOneAsInCuda) {
  EXPECT_TRUE(Visible("", kEight).empty());
  EXPECT_TRUE(Visible("-1", kEight).empty());
  EXPECT_EQ(Visible("2,-1,3", kEight).size(), 1u);
}

TEST(VisibleGpus, KeepNumbersWhereNobodyKnowsWhoseTheyAre) {
  EXPECT_THAT(Visible("4-5", {}), ElementsAre("4", "5"));
  std::vector<DriverGpu> mixed = kEight;
  mixed[2].name = "T4";
  EXPECT_THAT(Visible("3", mixed), ElementsAre("3"));  // CUDA puts the fastest first
  EXPECT_THAT(Visible("3", mixed, true), ElementsAre("GPU-3aaa-bbb"));
}

TEST(VisibleGpus, RefuseWhatCudaWouldDropInSilence) {
  EXPECT_THAT(Refusal("8", kEight),
              testing::AllOf(HasSubstr("CUDA_VISIBLE_DEVICES"), HasSubstr("'8'"), HasSubstr("0 to 7")));
  EXPECT_THAT(Refusal("7-4", kEight), HasSubstr("range such as 4-7"));
  EXPECT_THAT(Refusal("4-", kEight), HasSubstr("range"));
  EXPECT_THAT(Refusal("0-99999", {}), HasSubstr("range"));
  EXPECT_THAT(Refusal("one", kEight), HasSubstr("'one'"));
  EXPECT_THAT(Refusal("1,,2", kEight), HasSubstr("separated by commas"));
  EXPECT_THAT(Refusal("1,0-3", kEight), HasSubstr("given twice"));
  EXPECT_THAT(Refusal("GPU-9", kEight), HasSubstr("UUID of this machine"));
  EXPECT_THAT(Refusal("GPU-", kEight), HasSubstr("several GPUs match"));
}

TEST(ShareOutGpus, GivesLearnersTheFirstAndSimulatorsTheOthers) {
  EXPECT_THAT(ShareOutGpus(1, 3, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ShareOutGpus(2, 4, 4), ElementsAre(0, 1, 2, 3, 2, 3));
  EXPECT_THAT(ShareOutGpus(1, 2, 1), ElementsAre(0, 0, 0));
  EXPECT_THAT(ShareOutGpus(2, 2, 2), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(ShareOutGpus(4, 0, 2), ElementsAre(0, 1, 0, 1));
}

}  // namespace
}  // namespace gripstream
