// A film of evaluation episodes, one after the other: a camera's view, with what the policy sees as an inset.
//
// One thread at a time. Throws InputError for a camera that is not there.
#pragma once

#include <string>
#include <vector>

#include "sim_server/episode_watcher.h"
#include "sim_server/overview.h"
#include "sim_server/render/film.h"

namespace gripstream {

class EpisodeFilm : public EpisodeWatcher {
 public:
  // request.shown of the first `candidates` environments of `envs`, which have just been reset; on an MP4 file.
  EpisodeFilm(const EnvBatch& envs, int candidates, const EpisodeRequest& request, double steps_per_s);

 private:
  void Begin(size_t i, const EnvBatch& envs, int env, const Layout& layout, std::span<const std::byte> record) override;
  void Extend(size_t i, const EnvBatch& envs, int env, const Layout& layout,
              std::span<const std::byte> record) override;
  void End(size_t i, bool success) override;
  void Write() override;

  std::string path_;
  double steps_per_s_;
  int height_px_;
  Overview overview_;
  Film film_;
};

}  // namespace gripstream
