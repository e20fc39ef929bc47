// Tests replay/tensor_memory.h.
#include "replay/tensor_memory.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace gripstream {
namespace {

TEST(TensorMemory, CountsWhatTensorsHoldAndForgetsWhatTheyGiveBack) {
  CountTensorMemory();
  CountTensorMemory();
  const int64_t before = TensorBytes();
  {
    const torch::Tensor x = at::zeros({1 << 20}, torch::kFloat32);
    EXPECT_GE(TensorBytes() - before, 4 << 20);
    EXPECT_LE(TensorBytes() - before, (4 << 20) + 4096);
  }
  EXPECT_EQ(TensorBytes(), before);
}

TEST(TensorMemory, ThePeakIsBeyondWhatWasThere) {
  CountTensorMemory();
  const torch::Tensor held = at::zeros({1 << 20}, torch::kUInt8);
  const TensorPeak peak;
  { const torch::Tensor passing = at::zeros({3 << 20}, torch::kUInt8); }
  const torch::Tensor less = at::zeros({1 << 20}, torch::kUInt8);
  EXPECT_GE(peak.Bytes(), 3 << 20);
  EXPECT_LE(peak.Bytes(), (3 << 20) + 8192);
}

}  // namespace
}  // namespace gripstream
