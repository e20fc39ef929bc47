// Tests sim_server/render/noise_kernel.h: its random bits and what it makes of them, one lane at a time.
#define GS_RENDER_ISA noise_test
#define GS_RENDER_ONE_LANE
#include "sim_server/render/noise_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gripstream::noise_test {
namespace {

NoiseJob JobOf(uint32_t key0, uint32_t key1, uint32_t moment0, uint32_t moment1) {
  NoiseJob job = {};
  job.key[0] = key0, job.key[1] = key1;
  job.moment[0] = moment0, job.moment[1] = moment1;
  return job;
}

// The known answer published with Random123 for philox4x32 with 7 rounds, all numbers 0.
TEST(NoiseBits, GiveThePublishedKnownAnswer) {
  const auto bits = NoiseBits(JobOf(0, 0, 0, 0), 0);
  EXPECT_EQ(bits.x0.v, 0x5f6fb709u);
  EXPECT_EQ(bits.x1.v, 0x0d893f64u);
  EXPECT_EQ(bits.x2.v, 0x4f121f81u);
  EXPECT_EQ(bits.x3.v, 0x4f730a48u);
}

TEST(NoiseBits, AreThoseOfThePlainGenerator) {
  for (const uint32_t pixel : {0u, 1u, 19199u, 16777215u}) {
    uint32_t c[4] = {0, pixel, 0x13198a2e, 0x03707344}, key[2] = {0xa4093822, 0x299f31d0};
    const auto bits = NoiseBits(JobOf(key[0], key[1], c[2], c[3]), static_cast<int>(pixel));
    for (int round = 0; round < 7; ++round) {
      const uint64_t p = uint64_t{0xD2511F53u} * c[0], q = uint64_t{0xCD9E8D57u} * c[2];
      const uint32_t next[4] = {static_cast<uint32_t>(q >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(q),
                                static_cast<uint32_t>(p >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(p)};
      std::copy_n(next, 4, c);
      key[0] += 0x9E3779B9u, key[1] += 0xBB67AE85u;
    }
    EXPECT_EQ(bits.x0.v, c[0]);
    EXPECT_EQ(bits.x1.v, c[1]);
    EXPECT_EQ(bits.x2.v, c[2]);
    EXPECT_EQ(bits.x3.v, c[3]);
  }
}

TEST(NoiseDraws, HaveMeanZeroAndVarianceOneAndDecideEvenly) {
  double sum[4] = {}, squares[4] = {}, products = 0, event = 0, most = 0;
  const int count = 50000;
  for (int i = 0; i < count; ++i) {
    const NoiseDraws d = DrawsAt(JobOf(1, 2, 3, 4), i);
    const float normal[4] = {d.jitter_x.v, d.jitter_y.v, d.disparity.v, d.shift.v};
    for (int k = 0; k < 4; ++k) {
      sum[k] += normal[k], squares[k] += normal[k] * normal[k];
      most = std::max<double>(most, std::abs(normal[k]));
    }
    products += normal[0] * d.event.v + normal[1] * normal[2] + normal[2] * normal[3];
    event += d.event.v;
    ASSERT_TRUE(d.event.v >= 0 && d.event.v < 1);
  }
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(sum[k] / count, 0, 0.02) << k;
    EXPECT_NEAR(squares[k] / count, 1, 0.02) << k;
  }
  EXPECT_NEAR(products / count, 0, 0.03);
  EXPECT_NEAR(event / count, 0.5, 0.01);
  EXPECT_LT(most, 3.5);
}

}  // namespace
}  // namespace gripstream::noise_test
