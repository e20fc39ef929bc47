#include "wire/layout.h"

#include <set>
#include <string>
#include <utility>

#include "core/rng.h"

namespace gripstream {
namespace {

constexpr size_t kAlignment_bytes = 64;
constexpr size_t kLargest_bytes = size_t{1} << 40;  // keeps every product below well inside 64 bits

size_t RoundUp(size_t bytes) {
  return (bytes + kAlignment_bytes - 1) / kAlignment_bytes * kAlignment_bytes;
}

}  // namespace

Layout::Layout(std::vector<TensorSpec> specs, int n) : specs_(std::move(specs)), n_(n) {
  GS_CHECK(n >= 1, "a record needs at least one environment");
  std::set<std::string> names;
  bytes_ = RoundUp(sizeof(RecordHeader));
  for (const TensorSpec& spec : specs_) {
    GS_CHECK(!spec.name.empty() && names.insert(spec.name).second, "tensor name empty or repeated: " + spec.name);
    size_t elements = static_cast<size_t>(n);
    for (const int extent : spec.shape) {
      GS_CHECK(extent >= 1, "extent below 1 in " + spec.ToString());
      elements *= static_cast<size_t>(extent);
      GS_CHECK(elements < kLargest_bytes, "tensor too large: " + spec.ToString());
    }
    offsets_.push_back(bytes_);
    bytes_ += RoundUp(elements * SizeOf(spec.dtype));
    GS_CHECK(bytes_ < kLargest_bytes, "record too large at " + spec.ToString());
  }
}

uint64_t Layout::Hash() const {
  return MixBits(HashSpecs(specs_) + kRecordVersion);
}

int Layout::Index(std::string_view name) const {
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].name == name) return static_cast<int>(i);
  }
  GS_CHECK(false, "no tensor named '" + std::string(name) + "' in this layout");
  return -1;
}

bool Layout::Has(std::string_view name) const {
  for (const TensorSpec& spec : specs_) {
    if (spec.name == name) return true;
  }
  return false;
}

size_t Layout::CheckedIndex(int index) const {
  GS_CHECK(index >= 0 && static_cast<size_t>(index) < specs_.size(), "tensor index " + std::to_string(index));
  return static_cast<size_t>(index);
}

size_t Layout::CheckedOffset(size_t record_bytes, int index, DType dtype) const {
  const TensorSpec& spec = specs_[CheckedIndex(index)];
  GS_CHECK(spec.dtype == dtype, "'" + spec.name + "' is " + NameOf(spec.dtype) + ", not " + NameOf(dtype));
  GS_CHECK(record_bytes == bytes_,
           "record of " + std::to_string(record_bytes) + " bytes, layout of " + std::to_string(bytes_));
  return offsets_[static_cast<size_t>(index)];
}

}  // namespace gripstream
