#include "sim_server/episode_film.h"

#include <cstdio>

#include "core/log.h"
#include "sim_server/seen_image.h"

namespace gripstream {
namespace {

constexpr double kInsetShare = 0.5;  // of the height, before Film fits it in

int Int(uint32_t n) {
  return static_cast<int>(n);
}

}  // namespace

EpisodeFilm::EpisodeFilm(const EnvBatch& envs, int candidates, const EpisodeRequest& request, double steps_per_s)
    : EpisodeWatcher(ChooseEnvs(envs, candidates, Int(request.shown))),
      path_(request.picture_path),
      steps_per_s_(steps_per_s),
      height_px_(Int(request.height_px)),
      overview_(envs.DistinctModels(), request.camera, Int(request.width_px), Int(request.height_px)),
      film_(steps_per_s, Int(request.width_px), Int(request.height_px)) {
  for (size_t i = 0; i < Count(); ++i) film_.AddClip();
}

void EpisodeFilm::Begin(size_t i, const EnvBatch& envs, int env, const Layout& layout,
                        std::span<const std::byte> record) {
  Extend(i, envs, env, layout, record);
}

void EpisodeFilm::Extend(size_t i, const EnvBatch& envs, int env, const Layout& layout,
                         std::span<const std::byte> record) {
  char time[32];
  std::snprintf(time, sizeof(time), "%.2f s", envs.EpisodeStep(env) / steps_per_s_);
  const std::string caption =
      "episode " + std::to_string(envs.Episode(env).index) + "   " + envs.Object(env).name + "   " + time;
  film_.AddFrame(static_cast<int>(i), overview_.Picture(envs, env),
                 SeenImage(layout, record, env, static_cast<int>(kInsetShare * height_px_)), caption);
}

void EpisodeFilm::End(size_t i, bool success) {
  film_.End(static_cast<int>(i), success ? "success" : "failure", success);
}

void EpisodeFilm::Write() {
  film_.Write(path_);
  LogInfo("wrote ", path_);
}

}  // namespace gripstream
