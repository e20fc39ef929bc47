// Tests wire/layout.h.
#include "wire/layout.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace gripstream {
namespace {

const std::vector<TensorSpec> kSpecs = {{"joints", DType::kFloat32, {23}, "rad", 1.0},
                                        {"depth", DType::kUint16, {48, 64}, "m", 1e-4},
                                        {"done", DType::kUint8, {}, "", 1.0},
                                        {"id", DType::kInt64, {}, "", 1.0}};

std::vector<uint64_t> Storage(const Layout& layout) {
  return std::vector<uint64_t>(layout.Bytes() / 8);
}

std::span<std::byte> Bytes(std::vector<uint64_t>& storage) {
  return std::as_writable_bytes(std::span(storage));
}

TEST(Layout, PlacesBlocksAtTheOffsetsWorkedByHand) {
  const Layout layout(kSpecs, 3);
  EXPECT_EQ(layout.Offset(0), 64u);            // after the header
  EXPECT_EQ(layout.Offset(1), 64u + 320u);     // 3 * 23 * 4 = 276, up to 320
  EXPECT_EQ(layout.Offset(2), 384u + 18432u);  // 3 * 48 * 64 * 2 = 18432 = 288 * 64
  EXPECT_EQ(layout.Offset(3), 18816u + 64u);   // 3 bytes, up to 64
  EXPECT_EQ(layout.Bytes(), 18880u + 64u);     // 24 bytes, up to 64
}

TEST(Layout, ViewsCoverTheTensorsAndDoNotOverlap) {
  const Layout layout(kSpecs, 5);
  std::vector<uint64_t> storage = Storage(layout);
  const std::span<std::byte> record = Bytes(storage);
  for (float& x : layout.View<float>(record, "joints")) x = 1.5f;
  for (uint16_t& x : layout.View<uint16_t>(record, "depth")) x = 7;
  for (uint8_t& x : layout.View<uint8_t>(record, "done")) x = 9;
  for (int64_t& x : layout.View<int64_t>(record, "id")) x = -4;
  const std::span<const std::byte> read = record;
  EXPECT_EQ(layout.View<float>(read, "joints").size(), 5u * 23u);
  EXPECT_EQ(layout.View<uint16_t>(read, 1).size(), 5u * 48u * 64u);
  for (const float x : layout.View<float>(read, "joints")) ASSERT_EQ(x, 1.5f);
  for (const uint16_t x : layout.View<uint16_t>(read, "depth")) ASSERT_EQ(x, 7);
  for (const uint8_t x : layout.View<uint8_t>(read, "done")) ASSERT_EQ(x, 9);
  for (const int64_t x : layout.View<int64_t>(read, "id")) ASSERT_EQ(x, -4);
}

TEST(Layout, HashIgnoresTheNumberOfEnvironmentsAndNothingElse) {
  EXPECT_EQ(Layout(kSpecs, 3).Hash(), Layout(kSpecs, 300).Hash());
  for (int change = 0; change < 5; ++change) {
    std::vector<TensorSpec> other = kSpecs;
    if (change == 0) other[0].name = "joint";
    if (change == 1) other[0].dtype = DType::kInt32;
    if (change == 2) other[1].shape = {64, 48};
    if (change == 3) other[1].scale = 1e-3;
    if (change == 4) std::swap(other[0], other[1]);
    EXPECT_NE(Layout(other, 3).Hash(), Layout(kSpecs, 3).Hash()) << change;
  }
}

TEST(Layout, RefusesWrongNamesTypesAndSizes) {
  const Layout layout(kSpecs, 2);
  std::vector<uint64_t> storage = Storage(layout);
  const std::span<std::byte> record = Bytes(storage);
  EXPECT_THROW(layout.Index("colour"), InternalError);
  EXPECT_FALSE(layout.Has("colour"));
  EXPECT_TRUE(layout.Has("depth"));
  EXPECT_THROW(layout.View<float>(record, "depth"), InternalError);
  EXPECT_THROW(layout.View<float>(record, 4), InternalError);
  EXPECT_THROW(layout.View<float>(record.first(record.size() - 8), "joints"), InternalError);
  EXPECT_THROW(Layout::Header(record.first(63)), InternalError);
}

TEST(Layout, RefusesSpecsThatCannotBeLaidOut) {
  EXPECT_THROW(Layout(kSpecs, 0), InternalError);
  EXPECT_THROW(Layout({kSpecs[0], kSpecs[0]}, 1), InternalError);
  EXPECT_THROW(Layout({{"", DType::kUint8, {}, "", 1.0}}, 1), InternalError);
  EXPECT_THROW(Layout({{"x", DType::kUint8, {4, 0}, "", 1.0}}, 1), InternalError);
  EXPECT_THROW(Layout({{"x", DType::kUint8, {-4}, "", 1.0}}, 1), InternalError);
  // Products that would wrap around 64 bits.
  EXPECT_THROW(Layout({{"x", DType::kFloat32, {1 << 30, 1 << 30, 16}, "", 1.0}}, 1 << 20), InternalError);
}

}  // namespace
}  // namespace gripstream
