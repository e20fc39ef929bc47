#include "policies/checkpoint.h"

#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/files.h"
#include "policies/checkpoint_names.h"
#include "policies/safetensors.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "gripstream.checkpoint";
constexpr std::string_view kCounterPrefix = "counters.";

int64_t ParseCounter(const std::string& path, const std::string& key, const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) throw InputError(path, key, text, "a whole number");
  return value;
}

std::string Describe(const torch::Tensor& tensor) {
  std::ostringstream out;
  out << c10::toString(tensor.scalar_type()) << " " << tensor.sizes();
  return out.str();
}

void RequireFormat(const std::string& path, const std::map<std::string, std::string>& metadata) {
  const auto format = metadata.find("format");
  if (format == metadata.end() || format->second != kFormat) {
    throw InputError(path, "format", format == metadata.end() ? "nothing" : format->second, kFormat);
  }
  const auto version = metadata.find("format_version");
  const std::string ours = std::to_string(kCheckpointVersion);
  if (version == metadata.end() || version->second != ours) {
    throw InputError(path, "format_version", version == metadata.end() ? "nothing" : version->second, ours);
  }
}

}  // namespace

const torch::Tensor& Checkpoint::Tensor(const std::string& name, const std::string& path) const {
  for (const NamedTensor& named : tensors) {
    if (named.name == name) return named.value;
  }
  throw InputError(path, name, "nothing", "a tensor of this name");
}

int64_t Checkpoint::Counter(const std::string& name, const std::string& path) const {
  const auto found = counters.find(name);
  if (found == counters.end()) throw InputError(path, std::string(kCounterPrefix) + name, "nothing", "a whole number");
  return found->second;
}

void SaveCheckpoint(const std::string& path, const Checkpoint& checkpoint) {
  SafetensorsFile file{checkpoint.tensors, checkpoint.texts};
  for (const auto& [name, value] : checkpoint.counters) {
    file.metadata[std::string(kCounterPrefix) + name] = std::to_string(value);
  }
  file.metadata["format"] = kFormat;
  file.metadata["format_version"] = std::to_string(kCheckpointVersion);
  WriteSafetensors(path, file);
}

Checkpoint LoadCheckpoint(const std::string& path) {
  SafetensorsFile file = ReadSafetensors(path);
  RequireFormat(path, file.metadata);
  Checkpoint checkpoint;
  checkpoint.tensors = std::move(file.tensors);
  for (const auto& [key, value] : file.metadata) {
    if (key.starts_with(kCounterPrefix)) {
      checkpoint.counters[key.substr(kCounterPrefix.size())] = ParseCounter(path, key, value);
    } else {
      checkpoint.texts[key] = value;
    }
  }
  return checkpoint;
}

void RequireSameTensors(const Checkpoint& checkpoint, const std::string& path,
                        const std::vector<NamedTensor>& expected) {
  std::set<std::string> known;
  for (const NamedTensor& named : expected) {
    known.insert(named.name);
    const torch::Tensor& found = checkpoint.Tensor(named.name, path);
    if (found.scalar_type() != named.value.scalar_type() || found.sizes() != named.value.sizes()) {
      throw InputError(path, named.name, Describe(found), Describe(named.value) + " as configured");
    }
  }
  for (const NamedTensor& named : checkpoint.tensors) {
    const bool ours = named.name.starts_with("policy.") || named.name.starts_with("normalizer.");
    if (ours && !known.contains(named.name)) {
      throw InputError(path, named.name, Describe(named.value), "no such tensor in the network as configured");
    }
  }
}

CheckpointFolder::CheckpointFolder(std::string folder, int keep_last)
    : folder_(std::move(folder)), keep_last_(keep_last) {
  GS_CHECK(keep_last >= 1, "at least one checkpoint must be kept");
}

std::string CheckpointFolder::Save(const Checkpoint& checkpoint, int64_t iteration) const {
  const std::string path = folder_ + "/" + CheckpointFileName(iteration);
  SaveCheckpoint(path, checkpoint);
  const auto files = CheckpointsNewestFirst(folder_);
  for (size_t i = static_cast<size_t>(keep_last_); i < files.size(); ++i) {
    std::error_code ignored;  // an old file that will not go is no reason to stop training
    fs::remove(files[i], ignored);
  }
  return path;
}

void CheckpointFolder::MarkBest(const std::string& path) const {
  WriteFileAtomically(folder_ + "/best.safetensors", ReadBytes(path));
}

}  // namespace gripstream
