// Which checkpoint a run folder or a path means. Reads names only, not contents.
#pragma once

#include <string>

namespace gripstream {

// RUN/checkpoints/iteration_*.safetensors with the highest number. Throws InputError when there is none.
std::string NewestCheckpoint(const std::string& run_dir);

struct CheckpointPlace {
  std::string file;
  std::string run_dir;
};
// A checkpoint file of a run folder, or the folder itself: its newest. Throws InputError when there is none.
CheckpointPlace LocateCheckpoint(const std::string& path);

}  // namespace gripstream
