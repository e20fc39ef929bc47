#include "deploy/sim_robot/episode_rows.h"

#include "core/log.h"
#include "sim_server/seen_image.h"

namespace gripstream {
namespace {

constexpr int kWidth_px = 240, kHeight_px = 180, kColumns = 4;

}  // namespace

EpisodeRows::EpisodeRows(const EnvBatch& envs, const std::string& path, int rows)
    : path_(path),
      rows_(path.empty() ? 0 : rows),
      last_tick_(envs.EpisodeSteps() - 1),
      sheet_(kColumns, "What the policy saw, and what the robot did") {
  if (rows_ > 0) overview_ = std::make_unique<Overview>(envs.DistinctModels(), "", kWidth_px, kHeight_px);
}

void EpisodeRows::Look(const SimWorld& world, int tick) {
  if (!Open()) return;
  if (tick == 0) {
    const cv::Mat seen = SeenImage(world.RecordLayout(), world.Record(), 0, kHeight_px);
    if (!seen.empty()) sheet_.Add(seen, world.Envs().Object(0).name);
    views_.clear();
  }
  if (tick == 0 || tick == last_tick_ / 2 || tick == last_tick_) views_.push_back(overview_->Picture(world.Envs(), 0));
}

void EpisodeRows::End(bool success) {
  if (!Open()) return;
  sheet_.Add(views_.front(), "start");
  sheet_.Add(views_[views_.size() / 2], "middle");
  sheet_.Add(views_.back(), success ? "end: success" : "end: failure");
  if (++done_ < rows_) return;
  sheet_.WritePng(path_);
  LogInfo("wrote ", path_);
}

}  // namespace gripstream
