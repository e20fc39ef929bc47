#include "policies/published.h"

#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>

#include "core/error.h"
#include "core/rng.h"

namespace gripstream {
namespace {

struct PublishedHeader {
  uint64_t tensors_hash = 0;   // of names, types and shapes
  uint64_t payload_bytes = 0;  // that follow
};
static_assert(sizeof(PublishedHeader) == 16);

PublishedHeader HeaderOf(const std::vector<NamedTensor>& state) {
  PublishedHeader header;
  std::ostringstream text;
  for (const NamedTensor& tensor : state) {
    text << tensor.name << ' ' << tensor.value.scalar_type() << ' ' << tensor.value.sizes() << '\n';
    header.payload_bytes += tensor.value.nbytes();
  }
  header.tensors_hash = HashName(text.str());
  return header;
}

}  // namespace

std::vector<std::byte> PackPolicy(const Policy& policy) {
  const std::vector<NamedTensor> state = policy.State();
  const PublishedHeader header = HeaderOf(state);
  std::vector<std::byte> bytes(sizeof(header) + header.payload_bytes);
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::byte* out = bytes.data() + sizeof(header);
  for (const NamedTensor& tensor : state) {
    const torch::Tensor value = tensor.value.contiguous();
    if (value.nbytes() > 0) std::memcpy(out, value.const_data_ptr(), value.nbytes());
    out += value.nbytes();
  }
  return bytes;
}

void UnpackPolicy(std::span<const std::byte> bytes, Policy& policy) {
  std::vector<NamedTensor> state = policy.State();
  const PublishedHeader own = HeaderOf(state);
  PublishedHeader header;
  if (bytes.size() != sizeof(header) + own.payload_bytes) {
    throw RunError("a published policy of " + std::to_string(bytes.size()) + " bytes, while this run's has " +
                   std::to_string(sizeof(header) + own.payload_bytes));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.tensors_hash != own.tensors_hash || header.payload_bytes != own.payload_bytes) {
    throw RunError("a published policy with other tensors than this run's");
  }
  const std::byte* in = bytes.data() + sizeof(header);
  for (NamedTensor& tensor : state) {
    torch::Tensor value = at::empty(tensor.value.sizes(), tensor.value.scalar_type());
    if (value.nbytes() > 0) std::memcpy(value.data_ptr(), in, value.nbytes());
    in += value.nbytes();
    tensor.value = value;
  }
  policy.SetState(state);
}

}  // namespace gripstream
