// Layout of one record: where each tensor of a step sits in the bytes that cross the wire.
//
//   specs (from envs) -> Layout -> offsets -> simulator writes, learner reads
//
// A record is a RecordHeader of 64 bytes, then each tensor as one [N, ...] block that starts at a multiple of 64 bytes;
// N = environments in the record. Numbers are little-endian, as the machines that run this are (checked at compile
// time).
//
// Immutable after construction; safe to share between threads. Names, types and sizes that do not fit are our own bugs:
// GS_CHECK.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "core/tensor_spec.h"

namespace gripstream {

static_assert(std::endian::native == std::endian::little, "records are little-endian");

inline constexpr uint32_t kRecordMagic = 0x43525347;  // "GSRC"
inline constexpr uint32_t kRecordVersion = 2;

// The first 64 bytes of every record. The simulator sets the fields marked *; PublishRecord sets the rest.
struct RecordHeader {
  uint32_t magic;
  uint32_t version;
  uint64_t sequence;        // 1, 2, 3, ... per simulator, without a gap
  uint32_t step;            // * policy steps since the last reset
  float inference_s;        // * seconds that the simulator spent on choosing the actions; 0 where the learner does
  uint64_t policy_version;  // * of the actions that led to these observations; the oldest when they differ
  uint32_t env_begin;       // * first global environment id; AcquireRecord sets it to the simulator's first
  uint32_t env_count;       // N
  uint32_t group;           // * part of the simulator's environments when it steps them in parts, else 0
  float physics_s;          // * seconds spent on this step's physics,
  float render_s;           // * its images,
  float observe_s;          // * its observations and rewards
  uint64_t payload_bytes;   // the whole record, header included
};
static_assert(sizeof(RecordHeader) == 64 && std::is_trivially_copyable_v<RecordHeader>);

template <class T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kUint8;
  if constexpr (std::is_same_v<T, uint16_t>) return DType::kUint16;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kInt32;
  if constexpr (std::is_same_v<T, uint32_t>) return DType::kUint32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kInt64;
  if constexpr (std::is_same_v<T, float>) return DType::kFloat32;
}

class Layout {
 public:
  Layout(std::vector<TensorSpec> specs, int n);

  int N() const { return n_; }
  const std::vector<TensorSpec>& Specs() const { return specs_; }
  size_t Bytes() const { return bytes_; }
  // Over the specs and the record version, not over N: equal on both sides whatever the split of environments.
  uint64_t Hash() const;

  // Position among the specs; look it up once, then use the overloads that take it.
  int Index(std::string_view name) const;
  bool Has(std::string_view name) const;
  size_t Offset(int index) const { return offsets_[CheckedIndex(index)]; }
  size_t TensorBytes(int index) const { return specs_[CheckedIndex(index)].Bytes() * static_cast<size_t>(n_); }

  // The tensor's [N, ...] elements inside `record`.
  template <class T>
  std::span<T> View(std::span<std::byte> record, int index) const {
    const std::span<std::byte> bytes = record.subspan(CheckedOffset(record.size(), index, DTypeOf<T>()));
    return {reinterpret_cast<T*>(bytes.data()), TensorBytes(index) / sizeof(T)};
  }
  template <class T>
  std::span<const T> View(std::span<const std::byte> record, int index) const {
    const std::span<const std::byte> bytes = record.subspan(CheckedOffset(record.size(), index, DTypeOf<T>()));
    return {reinterpret_cast<const T*>(bytes.data()), TensorBytes(index) / sizeof(T)};
  }
  template <class T>
  std::span<T> View(std::span<std::byte> record, std::string_view name) const {
    return View<T>(record, Index(name));
  }
  template <class T>
  std::span<const T> View(std::span<const std::byte> record, std::string_view name) const {
    return View<T>(record, Index(name));
  }

  static RecordHeader& Header(std::span<std::byte> record) {
    GS_CHECK(record.size() >= sizeof(RecordHeader), "record shorter than its header");
    return *reinterpret_cast<RecordHeader*>(record.data());
  }

 private:
  size_t CheckedIndex(int index) const;
  size_t CheckedOffset(size_t record_bytes, int index, DType dtype) const;

  std::vector<TensorSpec> specs_;
  std::vector<size_t> offsets_;
  size_t bytes_ = 0;
  int n_;
};

}  // namespace gripstream
