// Tests core/tensor_spec.h.
#include "core/tensor_spec.h"

#include <gtest/gtest.h>

namespace gripstream {
namespace {

const TensorSpec kDepth{"obs.depth", DType::kUint16, {48, 64}, "m", 1e-4};

TEST(TensorSpec, CountsElementsAndBytes) {
  EXPECT_EQ(kDepth.Elements(), 48u * 64u);
  EXPECT_EQ(kDepth.Bytes(), 48u * 64u * 2u);
  EXPECT_EQ((TensorSpec{"reward", DType::kFloat32, {}, "", 1}).Bytes(), 4u);
}

TEST(TensorSpec, DescribesItself) {
  EXPECT_EQ(kDepth.ToString(), "obs.depth uint16 [48, 64] m x 0.0001");
}

TEST(HashSpecs, ChangesWithEveryPropertyAndWithOrder) {
  const TensorSpec other{"reward", DType::kFloat32, {}, "", 1};
  const uint64_t hash = HashSpecs({kDepth, other});
  EXPECT_EQ(hash, HashSpecs({kDepth, other}));
  EXPECT_NE(hash, HashSpecs({other, kDepth}));
  const auto differs = [&](auto change) {
    TensorSpec changed = kDepth;
    change(changed);
    EXPECT_NE(HashSpecs({changed, other}), hash) << changed.ToString();
  };
  differs([](TensorSpec& spec) { spec.name = "obs.deptH"; });
  differs([](TensorSpec& spec) { spec.dtype = DType::kFloat32; });
  differs([](TensorSpec& spec) { spec.shape = {64, 48}; });
  differs([](TensorSpec& spec) { spec.unit = "mm"; });
  differs([](TensorSpec& spec) { spec.scale = 1e-3; });
}

}  // namespace
}  // namespace gripstream
