#include "launch/checkpoints.h"

#include "core/error.h"
#include "policies/checkpoint_names.h"

namespace gripstream {

std::string NewestCheckpoint(const std::string& run_dir) {
  const std::vector<std::filesystem::path> files = CheckpointsNewestFirst(run_dir + "/checkpoints");
  if (files.empty()) throw InputError(run_dir, "holds no checkpoint (checkpoints/iteration_*.safetensors)");
  return files.front().string();
}

CheckpointPlace LocateCheckpoint(const std::string& path) {
  namespace fs = std::filesystem;
  if (fs::is_directory(path)) return {NewestCheckpoint(path), path};
  if (!fs::exists(path)) throw InputError(path, "no such checkpoint or run folder");
  return {path, fs::absolute(path).parent_path().parent_path().string()};
}

}  // namespace gripstream
