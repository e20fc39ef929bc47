#include "sim_server/episode_looks.h"

namespace gripstream {
namespace {

bool Moves(const CameraJitterConfig& config) {
  return config.rotation_deg > 0 || config.position_m > 0 || config.stereo_rotation_deg > 0 ||
         config.stereo_position_m > 0;
}

}  // namespace

EpisodeLooks::EpisodeLooks(const CamerasConfig& config, uint64_t seed,
                           const std::vector<std::vector<std::string>>& rigs, std::span<const mjModel* const> models,
                           int envs)
    : drawn_(static_cast<size_t>(envs)) {
  if (!Moves(config.jitter)) return;
  // Every rig draws for itself: the name of its leader keeps them apart.
  for (const std::vector<std::string>& rig : rigs) {
    jitters_.emplace_back(config.jitter, MixBits(seed ^ HashName(rig.front())), rig, models, envs);
  }
}

SceneView EpisodeLooks::Of(int env, const EpisodeKey& episode, const SceneView& scene) {
  std::optional<EpisodeKey>& drawn = drawn_[static_cast<size_t>(env)];
  if (drawn != episode) {
    for (CameraJitter& jitter : jitters_) jitter.Redraw(env, episode.index, episode.episode);
    drawn = episode;
  }
  SceneView view = scene;
  for (CameraJitter& jitter : jitters_) view = jitter.Moved(env, view);
  return view;
}

}  // namespace gripstream
