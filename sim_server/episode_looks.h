// What is different about each environment's images in this episode: where its cameras stand.
//
// Redrawn when the environment is first seen in another episode, from (seed, episode) alone, so that neither grouping
// nor saving and loading changes it. One thread at a time. Allocates at construction only. Throws InputError for a
// camera that is not there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "envs/env_batch.h"
#include "sim_server/cameras_config.h"
#include "sim_server/render/camera_jitter.h"

namespace gripstream {

class EpisodeLooks {
 public:
  // `rigs`: cameras that move together, each list led by its first.
  EpisodeLooks(const CamerasConfig& config, uint64_t seed, const std::vector<std::vector<std::string>>& rigs,
               std::span<const mjModel* const> models, int envs);

  // The scene of environment `env`, which is in `episode`, as it is to be drawn; valid until its next call.
  SceneView Of(int env, const EpisodeKey& episode, const SceneView& scene);

 private:
  std::vector<std::optional<EpisodeKey>> drawn_;  // by environment
  std::vector<CameraJitter> jitters_;             // of each rig; none where nothing varies
};

}  // namespace gripstream
