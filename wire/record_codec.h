// Lossless compression of records for slow links: a filter that suits depth images, then LZ4 or Zstandard.
//
//   record -> filter -> chunks of 1 MiB -> PackHeader, size of each packed chunk, the chunks
//
// uint16 tensors of two or more dimensions (depth) are filtered: every pixel becomes its difference from the one above,
// folded so that small differences of either sign are small numbers, and the low bytes go before the high
// ones. What surfaces and noise leave is then a few bits in one half and zeros in the other. All else stays as it is.
// A chunk that does not shrink is stored. Unpacking checks every size against the layout before it writes, and throws
// FrameError on anything that is not exactly one packed record.
//
// One thread at a time. Memory: one record and its packed form, allocated at construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "wire/layout.h"

namespace gripstream {

inline constexpr uint32_t kPackMagic = 0x5A525347;  // "GSRZ"

struct PackHeader {
  uint32_t magic = kPackMagic;
  uint32_t codec = 0;      // 1 LZ4, 2 Zstandard
  uint64_t raw_bytes = 0;  // of the record
};
static_assert(sizeof(PackHeader) == 16 && std::is_trivially_copyable_v<PackHeader>);

class RecordCodec {
 public:
  // `compression`: "lz4" or "zstd". `filter` false leaves the filter out, for comparison.
  RecordCodec(const std::string& compression, const Layout& layout, bool filter = true);
  ~RecordCodec();

  // The packed record, valid until the next call.
  std::span<const std::byte> Pack(std::span<const std::byte> record);
  // Writes the whole record; FrameError when `packed` is not one of this layout and compression.
  void Unpack(std::span<const std::byte> packed, std::span<std::byte> record);
  // The most bytes that a packed record can have.
  size_t LargestPacked() const { return packed_.size(); }

 private:
  struct Contexts;
  // A stretch of the record that is treated alike.
  struct Stretch {
    size_t begin, bytes;
    size_t row;  // pixels in a row when it is filtered, else 0
  };
  size_t ChunkBytes(size_t chunk) const;
  size_t PackChunk(std::span<const std::byte> raw, std::span<std::byte> out);
  void UnpackChunk(std::span<const std::byte> packed, std::span<std::byte> raw);

  uint32_t codec_;
  size_t record_bytes_;
  size_t chunks_;
  std::vector<Stretch> stretches_;
  std::vector<std::byte> filtered_;
  std::vector<std::byte> packed_;
  std::unique_ptr<Contexts> contexts_;
};

}  // namespace gripstream
