// Everything that a run needs to go on exactly where it was, in one safetensors file.
//
//   tensors   policy.*, normalizer.*, optimiser.*, env_state (uint8 [N, bytes of one environment])
//   metadata  format, format_version, counters.* (whole numbers), and whatever texts the caller adds: resolved
//             configuration, library versions, seed, git revision; sha256 of the data
//
// A file that is truncated, damaged, foreign, of another version or of another network is refused by an InputError of
// one line. A failed write (RunError) leaves the older files as they were. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "policies/parameters.h"

namespace gripstream {

inline constexpr int kCheckpointVersion = 1;

struct Checkpoint {
  std::vector<NamedTensor> tensors;
  std::map<std::string, int64_t> counters;  // iteration, env_steps, ...
  std::map<std::string, std::string> texts;

  // Throws InputError naming `path` when there is none of this name.
  const torch::Tensor& Tensor(const std::string& name, const std::string& path) const;
  int64_t Counter(const std::string& name, const std::string& path) const;
};

void SaveCheckpoint(const std::string& path, const Checkpoint& checkpoint);
Checkpoint LoadCheckpoint(const std::string& path);

// Throws InputError, naming the first key that differs, unless the checkpoint holds every one of `expected` with the
// same type and shape, and no other policy.* or normalizer.* tensor. Call it before SetState.
void RequireSameTensors(const Checkpoint& checkpoint, const std::string& path,
                        const std::vector<NamedTensor>& expected);

// The checkpoints of a run: iteration_000010.safetensors, ..., best.safetensors.
class CheckpointFolder {
 public:
  // Keeps the newest `keep_last` >= 1 besides the best. The folder must exist.
  CheckpointFolder(std::string folder, int keep_last);
  // Writes the iteration's file, then removes those that are too old. Returns its path.
  std::string Save(const Checkpoint& checkpoint, int64_t iteration) const;
  // Makes a copy of `path`, written before, the best one.
  void MarkBest(const std::string& path) const;

 private:
  std::string folder_;
  int keep_last_;
};

}  // namespace gripstream
