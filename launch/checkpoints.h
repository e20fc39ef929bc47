// Which checkpoint a run folder or a path means. Reads names only, not contents.
#pragma once

#include <string>

namespace gripstream {

// RUN/checkpoints/iteration_*.safetensors with the highest number. Throws InputError when there is none.
std::string NewestCheckpoint(const std::string& run_dir);

}  // namespace gripstream
