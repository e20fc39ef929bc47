// How the checkpoints of a run are named: iteration_000010.safetensors, ... No LibTorch: the launcher reads names too.
// Pure functions of a folder's listing; thread-safe.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gripstream {

inline constexpr std::string_view kCheckpointPrefix = "iteration_";
inline constexpr std::string_view kCheckpointSuffix = ".safetensors";

inline std::string CheckpointFileName(int64_t iteration) {
  char number[32];
  std::snprintf(number, sizeof(number), "%06lld", static_cast<long long>(iteration));
  return std::string(kCheckpointPrefix) + number + std::string(kCheckpointSuffix);
}

// The iteration in a checkpoint's file name; -1 for other files.
inline int64_t IterationOf(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  if (!name.starts_with(kCheckpointPrefix) || !name.ends_with(kCheckpointSuffix)) return -1;
  int64_t iteration = -1;
  const char* begin = name.data() + kCheckpointPrefix.size();
  const char* end = name.data() + name.size() - kCheckpointSuffix.size();
  const auto [stop, error] = std::from_chars(begin, end, iteration);
  return error == std::errc() && stop == end ? iteration : -1;
}

// By iteration, not by name: numbers outgrow their padding. A folder that is not there has none.
inline std::vector<std::filesystem::path> CheckpointsNewestFirst(const std::string& folder) {
  std::vector<std::pair<int64_t, std::filesystem::path>> found;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    if (const int64_t iteration = IterationOf(entry.path()); iteration >= 0)
      found.emplace_back(iteration, entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::filesystem::path> files;
  for (auto& [iteration, path] : found) files.push_back(std::move(path));
  return files;
}

}  // namespace gripstream
