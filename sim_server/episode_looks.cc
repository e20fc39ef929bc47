#include "sim_server/episode_looks.h"

#include <algorithm>

#include "core/error.h"

namespace gripstream {
namespace {

bool Moves(const CameraJitterConfig& c) {
  return std::max({c.rotation_deg, c.position_m, c.stereo_rotation_deg, c.stereo_position_m, c.focal_ratio,
                   c.centre_ratio}) > 0;
}

}  // namespace

EpisodeLooks::EpisodeLooks(const CamerasConfig& config, const TaskConfig& task, uint64_t seed,
                           const std::vector<std::vector<std::string>>& rigs, std::span<const mjModel* const> models,
                           int envs, RenderAssets& assets)
    : jitter_config_(config.jitter),
      seed_(seed),
      rigs_(rigs),
      models_(models.begin(), models.end()),
      drawn_(static_cast<size_t>(envs)) {
  if (!config.randomise.enabled) return;
  randomiser_ = std::make_unique<VisualRandomiser>(config.randomise, seed, task.binding.object_body, models, envs,
                                                   &assets.Textures());
}

int EpisodeLooks::Add(const std::string& camera, int width_px, int height_px) {
  const auto rig = std::ranges::find_if(
      rigs_, [&](const auto& cameras) { return std::ranges::find(cameras, camera) != cameras.end(); });
  GS_CHECK(rig != rigs_.end(), "camera " + camera + " is of no rig");
  const size_t index = static_cast<size_t>(rig - rigs_.begin());
  const auto same = std::ranges::find_if(seen_, [&](const Seen& seen) {
    return seen.rig == index && seen.width_px == width_px && seen.height_px == height_px;
  });
  if (same != seen_.end()) return static_cast<int>(same - seen_.begin());
  seen_.push_back({index, width_px, height_px, std::nullopt});
  if (Moves(jitter_config_)) {
    // The leader's name keeps the draws of rigs apart; those of one rig are the same for every size of image.
    seen_.back().jitter.emplace(jitter_config_, MixBits(seed_ ^ HashName(rig->front())), *rig, models_,
                                static_cast<int>(drawn_.size()), width_px, height_px);
  }
  return static_cast<int>(seen_.size()) - 1;
}

void EpisodeLooks::Follow(int env, const EpisodeKey& episode, const mjModel* model) {
  std::optional<EpisodeKey>& drawn = drawn_[static_cast<size_t>(env)];
  if (drawn == episode) return;
  drawn = episode;
  for (Seen& seen : seen_) {
    if (seen.jitter) seen.jitter->Redraw(env, episode.index, episode.episode);
  }
  if (randomiser_) randomiser_->Redraw(env, model, episode.index, episode.episode);
}

SceneView EpisodeLooks::Of(int env, int seen, const SceneView& scene) {
  std::optional<CameraJitter>& jitter = seen_[static_cast<size_t>(seen)].jitter;
  SceneView view = jitter ? jitter->Moved(env, scene) : scene;
  if (randomiser_) view.appearance = randomiser_->Of(env);
  return view;
}

}  // namespace gripstream
