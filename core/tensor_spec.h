// Describes one tensor of a record: what both ends of the wire, the buffer and the networks must agree on.
//
// A spec's shape is per environment; a batch of N environments prefixes N. Plain values; no thread rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gripstream {

enum class DType : uint8_t { kUint8 = 0, kUint16 = 1, kInt32 = 2, kUint32 = 3, kInt64 = 4, kFloat32 = 5 };

size_t SizeOf(DType dtype);       // bytes
const char* NameOf(DType dtype);  // "float32", ...

struct TensorSpec {
  std::string name;  // unique in its record, for example "obs.depth"
  DType dtype = DType::kFloat32;
  std::vector<int> shape;  // per environment; empty for a scalar
  std::string unit;        // of the stored number times `scale`; "" for none
  double scale = 1.0;      // stored number * scale = quantity in `unit`

  size_t Elements() const;       // per environment
  size_t Bytes() const;          // per environment
  std::string ToString() const;  // "obs.depth uint16 [48, 64] m x 0.0001"
  bool operator==(const TensorSpec&) const = default;
};

// 64-bit hash over names, dtypes, shapes, units and scales, in order.
uint64_t HashSpecs(const std::vector<TensorSpec>& specs);

}  // namespace gripstream
