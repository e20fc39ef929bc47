// Tests wire/record_codec.h.
#include "wire/record_codec.h"

#include <gmock/gmock.h>

#include <functional>

#include "core/rng.h"
#include "tests/wire/wire_fixture.h"

namespace gripstream {
namespace {

std::vector<TensorSpec> DepthSpecs(int height, int width) {
  return {{"obs.joints", DType::kFloat32, {23}, "rad", 1.0},
          {"obs.depth", DType::kUint16, {height, width}, "m", 1e-4},
          {"obs.pair", DType::kUint16, {2, height, width}, "m", 1e-4},
          {"steps", DType::kUint16, {5}, "", 1.0},
          {"done", DType::kUint8, {}, "", 1.0}};
}

using Bytes = std::vector<std::byte>;

// A record whose every byte comes from `value`.
Bytes Record(const Layout& layout, const std::function<uint16_t(size_t)>& value) {
  Bytes record(layout.Bytes());
  for (size_t i = 0; i + 1 < record.size(); i += 2) {
    const uint16_t word = value(i / 2);
    std::memcpy(record.data() + i, &word, sizeof(word));
  }
  return record;
}

uint16_t Random(size_t i) {
  return static_cast<uint16_t>(RandomStream(1, "codec").At(0, i).NextU64());
}

class Codec : public testing::TestWithParam<std::string> {};

TEST_P(Codec, EveryRecordComesBackBitForBit) {
  const std::function<uint16_t(size_t)> contents[] = {
      [](size_t) { return uint16_t{0}; }, [](size_t i) { return static_cast<uint16_t>(i * 3); }, Random,
      [](size_t i) { return i % 2 ? uint16_t{0xFFFF} : uint16_t{0}; },
      [](size_t i) { return static_cast<uint16_t>(7000 + Random(i) % 5); }};
  // One environment, an odd width, and one so large that it has several chunks and an incomplete one.
  for (const auto& [height, width, n] : {std::tuple{1, 1, 1}, {7, 13, 3}, {48, 64, 130}}) {
    const Layout layout(DepthSpecs(height, width), n);
    RecordCodec sender(GetParam(), layout), receiver(GetParam(), layout);
    for (const auto& content : contents) {
      const Bytes record = Record(layout, content);
      Bytes unpacked(record.size(), std::byte{0xAA});
      const std::span<const std::byte> packed = sender.Pack(record);
      ASSERT_LE(packed.size(), receiver.LargestPacked());
      receiver.Unpack(packed, unpacked);
      ASSERT_EQ(unpacked, record);
    }
  }
}

TEST_P(Codec, SmoothDepthShrinksMoreWithTheFilter) {
  const Layout layout({{"depth", DType::kUint16, {48, 64}, "m", 1e-4}}, 16);
  const Bytes record =
      Record(layout, [](size_t i) { return static_cast<uint16_t>(i % 64 * 7 + i / 64 * 11 + Random(i) % 3); });
  RecordCodec filtered(GetParam(), layout), plain(GetParam(), layout, false);
  EXPECT_LT(filtered.Pack(record).size(), record.size() / 2);
  EXPECT_LT(filtered.Pack(record).size(), plain.Pack(record).size());
}

TEST_P(Codec, NoiseIsStoredAtTheCostOfTheHeaders) {
  const Layout layout({{"bytes", DType::kUint16, {1 << 20}, "", 1.0}}, 1);
  RecordCodec codec(GetParam(), layout);
  EXPECT_LE(codec.Pack(Record(layout, Random)).size(), layout.Bytes() + 64);
}

TEST_P(Codec, PackedRecordsOfAnotherShapeAreRefused) {
  const Layout layout(DepthSpecs(7, 13), 3), other(DepthSpecs(7, 13), 4);
  RecordCodec codec(GetParam(), layout), for_other(GetParam(), other);
  RecordCodec for_codec(GetParam() == "lz4" ? "zstd" : "lz4", layout);
  const Bytes record = Record(layout, Random);
  Bytes out(layout.Bytes()), out_other(other.Bytes());
  EXPECT_THROW(for_other.Unpack(codec.Pack(record), out_other), FrameError);
  EXPECT_THROW(for_codec.Unpack(codec.Pack(record), out), FrameError);
  EXPECT_THROW(codec.Unpack({}, out), FrameError);
  EXPECT_THROW(codec.Unpack(record, out), FrameError);
}

TEST_P(Codec, CutOrStretchedPackedRecordsAreRefused) {
  const Layout layout(DepthSpecs(7, 13), 3);
  RecordCodec codec(GetParam(), layout);
  const std::span<const std::byte> view = codec.Pack(Record(layout, [](size_t i) { return static_cast<uint16_t>(i); }));
  Bytes packed(view.begin(), view.end());
  Bytes out(layout.Bytes());
  for (size_t bytes = 0; bytes < packed.size(); ++bytes) {
    EXPECT_THROW(codec.Unpack(std::span(packed).first(bytes), out), FrameError) << bytes;
  }
  packed.push_back(std::byte{0});
  EXPECT_THROW(codec.Unpack(packed, out), FrameError);
}

// A size that lies about its chunk: larger than all there is, larger than the chunk, nothing at all.
TEST_P(Codec, LyingSizesAreRefused) {
  const Layout layout(DepthSpecs(7, 13), 3);
  RecordCodec codec(GetParam(), layout);
  const std::span<const std::byte> view = codec.Pack(Record(layout, [](size_t i) { return static_cast<uint16_t>(i); }));
  Bytes packed(view.begin(), view.end());
  Bytes out(layout.Bytes());
  for (const uint32_t size : {0xFFFFFFFFu, 0x80000000u, static_cast<uint32_t>(layout.Bytes()) + 1, 1u, 0u}) {
    std::memcpy(packed.data() + sizeof(PackHeader), &size, sizeof(size));
    EXPECT_THROW(codec.Unpack(packed, out), FrameError) << size;
  }
  PackHeader header{kPackMagic, GetParam() == "lz4" ? 1u : 2u, uint64_t{1} << 62};
  std::memcpy(packed.data(), &header, sizeof(header));
  EXPECT_THROW(codec.Unpack(packed, out), FrameError);
}

INSTANTIATE_TEST_SUITE_P(Each, Codec, testing::Values("lz4", "zstd"), [](const auto& codec) { return codec.param; });

}  // namespace
}  // namespace gripstream
