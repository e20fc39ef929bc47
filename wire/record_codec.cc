#include "wire/record_codec.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "wire/message.h"

namespace gripstream {
namespace {

constexpr uint32_t kLz4 = 1, kZstd = 2;
constexpr int kZstdLevel = 1;
constexpr size_t kChunk_bytes = size_t{1} << 20;

uint16_t Fold(uint16_t difference) {
  const auto value = static_cast<int16_t>(difference);
  return static_cast<uint16_t>((value << 1) ^ (value >> 15));
}

uint16_t Unfold(uint16_t folded) {
  return static_cast<uint16_t>((folded >> 1) ^ -(folded & 1));
}

// Every pixel is predicted by the one above it, those of the first row by nothing: whole rows at once, so that the
// compiler's vector instructions serve both directions.
void FilterImage(const std::byte* in, std::byte* out, size_t pixels, size_t row) {
  const auto* image = reinterpret_cast<const uint16_t*>(in);
  auto* low = reinterpret_cast<uint8_t*>(out);
  uint8_t* high = low + pixels;
  const auto put = [&](size_t i, uint16_t before) {
    const uint16_t folded = Fold(static_cast<uint16_t>(image[i] - before));
    low[i] = static_cast<uint8_t>(folded);
    high[i] = static_cast<uint8_t>(folded >> 8);
  };
  for (size_t i = 0; i < row; ++i) put(i, 0);
  for (size_t i = row; i < pixels; ++i) put(i, image[i - row]);
}

void UnfilterImage(const std::byte* in, std::byte* out, size_t pixels, size_t row) {
  const auto* low = reinterpret_cast<const uint8_t*>(in);
  const uint8_t* high = low + pixels;
  auto* image = reinterpret_cast<uint16_t*>(out);
  const auto difference = [&](size_t i) { return Unfold(static_cast<uint16_t>(low[i] | high[i] << 8)); };
  for (size_t i = 0; i < row; ++i) image[i] = difference(i);
  for (size_t begin = row; begin < pixels; begin += row) {
    uint16_t* __restrict__ to = image + begin;
    const uint16_t* __restrict__ above = to - row;
    for (size_t i = 0; i < row; ++i) to[i] = static_cast<uint16_t>(above[i] + difference(begin + i));
  }
}

}  // namespace

// Zstandard's working memory, made once.
struct RecordCodec::Contexts {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> pack{ZSTD_createCCtx(), ZSTD_freeCCtx};
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> unpack{ZSTD_createDCtx(), ZSTD_freeDCtx};
};

RecordCodec::RecordCodec(const std::string& compression, const Layout& layout, bool filter)
    : codec_(compression == "lz4" ? kLz4 : kZstd),
      record_bytes_(layout.Bytes()),
      chunks_((layout.Bytes() + kChunk_bytes - 1) / kChunk_bytes),
      filtered_(layout.Bytes()),
      packed_(sizeof(PackHeader) + chunks_ * sizeof(uint32_t) + layout.Bytes()),
      contexts_(std::make_unique<Contexts>()) {
  GS_CHECK(compression == "lz4" || compression == "zstd", "compression " + compression);
  size_t done = 0;
  for (size_t i = 0; filter && i < layout.Specs().size(); ++i) {
    const TensorSpec& spec = layout.Specs()[i];
    if (spec.dtype != DType::kUint16 || spec.shape.size() < 2) continue;
    const size_t begin = layout.Offset(static_cast<int>(i));
    if (begin > done) stretches_.push_back({done, begin - done, 0});
    stretches_.push_back({begin, layout.TensorBytes(static_cast<int>(i)), static_cast<size_t>(spec.shape.back())});
    done = begin + stretches_.back().bytes;
  }
  if (done < record_bytes_) stretches_.push_back({done, record_bytes_ - done, 0});
}

RecordCodec::~RecordCodec() = default;

size_t RecordCodec::ChunkBytes(size_t chunk) const {
  return std::min(kChunk_bytes, record_bytes_ - chunk * kChunk_bytes);
}

std::span<const std::byte> RecordCodec::Pack(std::span<const std::byte> record) {
  GS_CHECK(record.size() == record_bytes_, "record of another layout");
  for (const Stretch& part : stretches_) {
    std::byte* out = filtered_.data() + part.begin;
    if (part.row == 0) std::memcpy(out, record.data() + part.begin, part.bytes);
    if (part.row != 0) FilterImage(record.data() + part.begin, out, part.bytes / sizeof(uint16_t), part.row);
  }
  const PackHeader header{kPackMagic, codec_, record_bytes_};
  std::memcpy(packed_.data(), &header, sizeof(header));
  std::byte* const sizes = packed_.data() + sizeof(header);
  size_t end = sizeof(header) + chunks_ * sizeof(uint32_t);
  for (size_t chunk = 0; chunk < chunks_; ++chunk) {
    const std::span raw = std::span<const std::byte>(filtered_).subspan(chunk * kChunk_bytes, ChunkBytes(chunk));
    const auto bytes = static_cast<uint32_t>(PackChunk(raw, std::span(packed_).subspan(end, raw.size())));
    std::memcpy(sizes + chunk * sizeof(bytes), &bytes, sizeof(bytes));
    end += bytes;
  }
  return std::span<const std::byte>(packed_).first(end);
}

// Packs into less than raw.size() bytes, or stores.
size_t RecordCodec::PackChunk(std::span<const std::byte> raw, std::span<std::byte> out) {
  const auto* from = reinterpret_cast<const char*>(raw.data());
  auto* to = reinterpret_cast<char*>(out.data());
  size_t bytes = 0;
  if (codec_ == kLz4) {
    bytes = static_cast<size_t>(
        LZ4_compress_default(from, to, static_cast<int>(raw.size()), static_cast<int>(raw.size() - 1)));
  } else {
    bytes = ZSTD_compressCCtx(contexts_->pack.get(), to, raw.size() - 1, from, raw.size(), kZstdLevel);
    if (ZSTD_isError(bytes)) bytes = 0;
  }
  if (bytes > 0) return bytes;
  std::memcpy(to, from, raw.size());
  return raw.size();
}

void RecordCodec::UnpackChunk(std::span<const std::byte> packed, std::span<std::byte> raw) {
  const auto* from = reinterpret_cast<const char*>(packed.data());
  auto* to = reinterpret_cast<char*>(raw.data());
  if (packed.size() == raw.size()) {
    std::memcpy(to, from, raw.size());
    return;
  }
  size_t bytes = 0;
  if (codec_ == kLz4) {
    const int result = LZ4_decompress_safe(from, to, static_cast<int>(packed.size()), static_cast<int>(raw.size()));
    bytes = result < 0 ? 0 : static_cast<size_t>(result);
  } else {
    bytes = ZSTD_decompressDCtx(contexts_->unpack.get(), to, raw.size(), from, packed.size());
  }
  if (bytes != raw.size()) throw FrameError("a packed record is damaged");
}

void RecordCodec::Unpack(std::span<const std::byte> packed, std::span<std::byte> record) {
  GS_CHECK(record.size() == record_bytes_, "record of another layout");
  PackHeader header;
  size_t end = sizeof(header) + chunks_ * sizeof(uint32_t);
  if (packed.size() < end || packed.size() > packed_.size()) {
    throw FrameError("a packed record of " + std::to_string(packed.size()) + " bytes");
  }
  std::memcpy(&header, packed.data(), sizeof(header));
  if (header.magic != kPackMagic || header.codec != codec_ || header.raw_bytes != record_bytes_) {
    throw FrameError("a packed record of another layout or compression");
  }
  for (size_t chunk = 0; chunk < chunks_; ++chunk) {
    uint32_t bytes = 0;
    std::memcpy(&bytes, packed.data() + sizeof(header) + chunk * sizeof(bytes), sizeof(bytes));
    if (bytes > ChunkBytes(chunk) || bytes > packed.size() - end) throw FrameError("a packed record is cut short");
    UnpackChunk(packed.subspan(end, bytes), std::span(filtered_).subspan(chunk * kChunk_bytes, ChunkBytes(chunk)));
    end += bytes;
  }
  if (end != packed.size()) throw FrameError("bytes left over in a packed record");
  for (const Stretch& part : stretches_) {
    std::byte* out = record.data() + part.begin;
    if (part.row == 0) std::memcpy(out, filtered_.data() + part.begin, part.bytes);
    if (part.row != 0) UnfilterImage(filtered_.data() + part.begin, out, part.bytes / sizeof(uint16_t), part.row);
  }
}

}  // namespace gripstream
