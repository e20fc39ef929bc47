// gripstream play: a film of the evaluation set's first episodes with a trained policy.
#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "envs/env_batch.h"
#include "launch/addresses.h"
#include "launch/checkpoints.h"
#include "launch/commands.h"
#include "launch/roles.h"
#include "launch/run_folder.h"
#include "launch/supervisor.h"
#include "sim_server/render/camera.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

// Beside the run's evaluations unless named.
std::string VideoPath(const PlayArguments& arguments, const CheckpointPlace& place) {
  if (arguments.video.empty()) {
    fs::create_directories(fs::path(place.run_dir) / "evaluations");
    return fs::absolute(fs::path(place.run_dir) / "evaluations" / (fs::path(place.file).stem().string() + ".mp4"));
  }
  const fs::path path = fs::absolute(arguments.video);
  if (path.extension() != ".mp4") throw InputError("command line", "--video", arguments.video, "a name ending in .mp4");
  if (!fs::is_directory(path.parent_path())) {
    throw InputError("command line", "--video", arguments.video, "a file in a folder that is there");
  }
  return path;
}

// What would otherwise only come up in the simulator.
void Check(const PlayArguments& arguments, const RunConfig& config) {
  const int most = config.sim.envs / config.Groups();
  if (arguments.episodes > most) {
    throw InputError("command line", "--episodes", std::to_string(arguments.episodes),
                     "at most " + std::to_string(most) + ", the environments of one simulator's group");
  }
  for (const auto& [key, size] : {std::pair("--width", arguments.width_px), {"--height", arguments.height_px}}) {
    if (size % 2 != 0) throw InputError("command line", key, std::to_string(size), "an even number of pixels");
  }
  if (arguments.camera.empty()) return;
  const auto envs = EnvBatch::Make(config.task, {.threads = 1}, config.run.seed, 0, 1);
  FindCamera(*envs->DistinctModels().front(), arguments.camera, "--camera");
}

}  // namespace

int PlayCommand(const PlayArguments& arguments) {
  const CheckpointPlace place = LocateCheckpoint(arguments.checkpoint);
  const RunConfig config = OpenRunFolder(place.run_dir, arguments.overrides);
  DescribeTask(config);
  Check(arguments, config);
  const std::string video = VideoPath(arguments, place);
  std::printf("playing %s\n", place.file.c_str());
  std::fflush(stdout);
  return RunRoles(config,
                  {"--evaluate", place.file, "--film", video, "--film-episodes", std::to_string(arguments.episodes),
                   "--film-camera", arguments.camera, "--film-width", std::to_string(arguments.width_px),
                   "--film-height", std::to_string(arguments.height_px)},
                  BesideTheRun(config, arguments.overrides));
}

}  // namespace gripstream
