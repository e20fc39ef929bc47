// What is different about each environment's images in this episode: where its cameras stand, their lenses, and the
// looks of things.
//
// Redrawn when the environment is first seen in another episode, from (seed, episode) alone, so that neither grouping
// nor saving and loading changes it. One thread at a time. Allocates at construction and in Add only. Throws InputError
// for what the configuration names wrongly.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "envs/env_batch.h"
#include "sim_server/cameras_config.h"
#include "sim_server/render/assets.h"
#include "sim_server/render/camera_jitter.h"
#include "sim_server/render/visual_randomiser.h"

namespace gripstream {

class EpisodeLooks {
 public:
  // `rigs`: cameras that move together, each list led by its first.
  EpisodeLooks(const CamerasConfig& config, const TaskConfig& task, uint64_t seed,
               const std::vector<std::vector<std::string>>& rigs, std::span<const mjModel* const> models, int envs,
               RenderAssets& assets);

  // How environments will be seen through cameras of one rig at one image size; the same number for the same ones.
  int Add(const std::string& camera, int width_px, int height_px);
  // Environment `env` is in `episode` now, with this model.
  void Follow(int env, const EpisodeKey& episode, const mjModel* model);
  // Its scene as it is to be drawn; valid until asked again for the same `seen`.
  SceneView Of(int env, int seen, const SceneView& scene);

 private:
  struct Seen {
    size_t rig;
    int width_px, height_px;
    std::optional<CameraJitter> jitter;  // none where nothing moves
  };

  CameraJitterConfig jitter_config_;
  uint64_t seed_;
  std::vector<std::vector<std::string>> rigs_;
  std::vector<const mjModel*> models_;
  std::vector<std::optional<EpisodeKey>> drawn_;  // by environment
  std::vector<Seen> seen_;
  std::unique_ptr<VisualRandomiser> randomiser_;  // none where nothing is randomised
};

}  // namespace gripstream
