#include "policies/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/files.h"

namespace gripstream {
namespace {

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr size_t kLengthBytes = 8;
constexpr size_t kLargestHeader = 64 << 20;
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kDigest = "sha256";

constexpr std::array<std::pair<const char*, torch::ScalarType>, 9> kTypes = {{{"F64", torch::kFloat64},
                                                                              {"F32", torch::kFloat32},
                                                                              {"F16", torch::kFloat16},
                                                                              {"BF16", torch::kBFloat16},
                                                                              {"I64", torch::kInt64},
                                                                              {"I32", torch::kInt32},
                                                                              {"U32", torch::kUInt32},
                                                                              {"U16", torch::kUInt16},
                                                                              {"U8", torch::kUInt8}}};

const char* NameOfType(torch::ScalarType type) {
  for (const auto& [name, candidate] : kTypes) {
    if (candidate == type) return name;
  }
  GS_CHECK(false, std::string("no safetensors type for ") + c10::toString(type));
}

std::string HexDigest(std::span<const std::byte> data) {
  Sha256 hash;
  hash.Update(data.data(), data.size());
  return hash.HexDigest();
}

// Reads one file; keeps its name for messages.
class Reader {
 public:
  Reader(const std::string& path, const std::vector<std::byte>& bytes) : path_(path), bytes_(bytes) {}

  SafetensorsFile Read() {
    const Json header = Header();
    SafetensorsFile content;
    size_t end = 0;
    for (const auto& [name, entry] : header.items()) {
      if (name == kMetadata) {
        content.metadata = Metadata(entry);
      } else {
        content.tensors.push_back({name, Tensor(name, entry, end)});
      }
    }
    if (end != data_.size()) {
      Fail(std::to_string(data_.size()) + " bytes of data where the header describes " + std::to_string(end));
    }
    CheckDigest(content.metadata);
    return content;
  }

 private:
  [[noreturn]] void Fail(const std::string& problem) const { throw InputError(path_, problem); }
  [[noreturn]] void FailAt(const std::string& key, const std::string& value, const std::string& expected) const {
    throw InputError(path_, key, value, expected);
  }

  Json Header() {
    if (bytes_.size() < kLengthBytes) Fail("not a safetensors file: shorter than its header length");
    uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), kLengthBytes);
    if (length > kLargestHeader) Fail("not a safetensors file: a header of " + std::to_string(length) + " bytes");
    if (length > bytes_.size() - kLengthBytes) {
      Fail("truncated: " + std::to_string(bytes_.size()) + " bytes, the header alone takes " +
           std::to_string(length + kLengthBytes));
    }
    const char* text = reinterpret_cast<const char*>(bytes_.data()) + kLengthBytes;
    data_ = std::span(bytes_).subspan(kLengthBytes + static_cast<size_t>(length));
    Json header = Json::parse(text, text + length, nullptr, false);
    if (!header.is_object()) Fail("not a safetensors file: its header is no JSON object");
    return header;
  }

  std::map<std::string, std::string> Metadata(const Json& entry) const {
    std::map<std::string, std::string> metadata;
    if (!entry.is_object()) FailAt(kMetadata, entry.dump(), "an object of texts");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) FailAt(std::string(kMetadata) + "." + key, value.dump(), "a text");
      metadata[key] = value.get<std::string>();
    }
    return metadata;
  }

  // `end` is where the data of the tensors so far ends; this one must begin there.
  torch::Tensor Tensor(const std::string& name, const Json& entry, size_t& end) const {
    const auto field = [&](const char* key) -> const Json& {
      if (!entry.is_object() || !entry.contains(key)) FailAt(name, "no " + std::string(key), "a tensor's description");
      return entry.at(key);
    };
    const torch::ScalarType type = Type(name, field("dtype"));
    const std::vector<int64_t> shape = Numbers(name, field("shape"));
    const std::vector<int64_t> offsets = Numbers(name, field("data_offsets"));
    if (offsets.size() != 2 || static_cast<uint64_t>(offsets[0]) != end || offsets[1] < offsets[0]) {
      FailAt(name + ".data_offsets", field("data_offsets").dump(), "two offsets, the first " + std::to_string(end));
    }
    if (static_cast<uint64_t>(offsets[1]) > data_.size()) {
      Fail("truncated: tensor " + name + " ends at byte " + std::to_string(offsets[1]) + " of " +
           std::to_string(data_.size()) + " in the data section");
    }
    const auto size = static_cast<uint64_t>(offsets[1] - offsets[0]);
    if (BytesOf(shape, type, data_.size()) != size) {
      FailAt(name + ".shape", field("shape").dump(), "one that takes the " + std::to_string(size) + " bytes there are");
    }
    torch::Tensor tensor = at::empty(shape, type);
    if (size > 0) std::memcpy(tensor.data_ptr(), data_.data() + end, size);
    end = static_cast<size_t>(offsets[1]);
    return tensor;
  }

  torch::ScalarType Type(const std::string& name, const Json& dtype) const {
    for (const auto& [known, type] : kTypes) {
      if (dtype == known) return type;
    }
    FailAt(name + ".dtype", dtype.is_string() ? dtype.get<std::string>() : dtype.dump(), "a numeric type");
  }

  std::vector<int64_t> Numbers(const std::string& name, const Json& list) const {
    std::vector<int64_t> numbers;
    if (!list.is_array() || list.size() > 16) FailAt(name, list.dump().substr(0, 80), "a list of sizes");
    for (const Json& number : list) {
      if (!number.is_number_unsigned() || number.get<uint64_t>() > (uint64_t{1} << 48)) {
        FailAt(name, number.dump(), "a size");
      }
      numbers.push_back(number.get<int64_t>());
    }
    return numbers;
  }

  // Stops multiplying as soon as the result is more than there can be.
  static uint64_t BytesOf(const std::vector<int64_t>& shape, torch::ScalarType type, uint64_t limit) {
    uint64_t bytes = c10::elementSize(type);
    for (const int64_t size : shape) {
      if (size == 0) return 0;
      if (bytes > limit) return limit + 1;
      bytes *= static_cast<uint64_t>(size);
    }
    return bytes;
  }

  void CheckDigest(const std::map<std::string, std::string>& metadata) const {
    const auto found = metadata.find(kDigest);
    if (found == metadata.end()) return;
    const std::string actual = HexDigest(data_);
    if (found->second != actual) FailAt("data SHA-256", actual, found->second + " (the file is damaged)");
  }

  const std::string& path_;
  const std::vector<std::byte>& bytes_;
  std::span<const std::byte> data_;
};

}  // namespace

// Tensors are written from where they are: a checkpoint costs no second copy of the network.
void WriteSafetensors(const std::string& path, const SafetensorsFile& content) {
  std::vector<torch::Tensor> contiguous;
  std::vector<std::span<const std::byte>> pieces(2);
  Json tensors = Json::object();
  Sha256 digest;
  size_t end = 0;
  for (const NamedTensor& named : content.tensors) {
    const torch::Tensor& tensor = contiguous.emplace_back(named.value.detach().contiguous());
    const auto& piece = pieces.emplace_back(static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes());
    digest.Update(piece.data(), piece.size());
    GS_CHECK(!tensors.contains(named.name), "two tensors named " + named.name);
    tensors[named.name] = {{"dtype", NameOfType(tensor.scalar_type())},
                           {"shape", tensor.sizes().vec()},
                           {"data_offsets", {end, end + piece.size()}}};
    end += piece.size();
  }
  Json header = Json::object();
  header[kMetadata] = content.metadata;
  header[kMetadata][kDigest] = digest.HexDigest();
  header.update(tensors);
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data begins at a multiple of 8
  const uint64_t length = text.size();
  pieces[0] = std::as_bytes(std::span(&length, 1));
  pieces[1] = std::as_bytes(std::span(text));
  WriteFileAtomically(path, pieces);
}

SafetensorsFile ReadSafetensors(const std::string& path) {
  const std::vector<std::byte> bytes = ReadBytes(path);
  return Reader(path, bytes).Read();
}

}  // namespace gripstream
