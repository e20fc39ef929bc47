#include "core/tensor_spec.h"

#include <sstream>

#include "core/error.h"
#include "core/rng.h"

namespace gripstream {

size_t SizeOf(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return 1;
    case DType::kUint16:
      return 2;
    case DType::kInt32:
    case DType::kUint32:
    case DType::kFloat32:
      return 4;
    case DType::kInt64:
      return 8;
  }
  GS_CHECK(false, "unknown dtype");
  return 0;
}

const char* NameOf(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return "uint8";
    case DType::kUint16:
      return "uint16";
    case DType::kInt32:
      return "int32";
    case DType::kUint32:
      return "uint32";
    case DType::kInt64:
      return "int64";
    case DType::kFloat32:
      return "float32";
  }
  return "?";
}

size_t TensorSpec::Elements() const {
  size_t count = 1;
  for (const int extent : shape) count *= static_cast<size_t>(extent);
  return count;
}

size_t TensorSpec::Bytes() const {
  return Elements() * SizeOf(dtype);
}

std::string TensorSpec::ToString() const {
  std::ostringstream out;
  out << name << ' ' << NameOf(dtype) << " [";
  for (size_t i = 0; i < shape.size(); ++i) out << (i ? ", " : "") << shape[i];
  out << ']';
  if (!unit.empty()) out << ' ' << unit;
  if (scale != 1.0) out << " x " << scale;
  return out.str();
}

uint64_t HashSpecs(const std::vector<TensorSpec>& specs) {
  std::string text;
  for (const TensorSpec& spec : specs) text += spec.ToString() + '\n';
  return HashName(text);
}

}  // namespace gripstream
