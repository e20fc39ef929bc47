#include "launch/checkpoints.h"

#include <filesystem>

#include "core/error.h"

namespace gripstream {

std::string NewestCheckpoint(const std::string& run_dir) {
  namespace fs = std::filesystem;
  std::string newest;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_dir + "/checkpoints", error)) {
    const std::string name = entry.path().filename();
    // Zero-padded numbers: the order of names is the order of iterations.
    if (name.rfind("iteration_", 0) == 0 && name.ends_with(".safetensors") && name > newest) newest = name;
  }
  if (newest.empty()) throw InputError(run_dir, "holds no checkpoint (checkpoints/iteration_*.safetensors)");
  return run_dir + "/checkpoints/" + newest;
}

}  // namespace gripstream
