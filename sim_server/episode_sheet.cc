#include "sim_server/episode_sheet.h"

#include "core/log.h"
#include "sim_server/render/contact_sheet.h"
#include "sim_server/seen_image.h"

namespace gripstream {
namespace {

constexpr int kWidth_px = 240, kHeight_px = 180;
constexpr int kColumns = 4;         // what the camera saw, then the start, the middle and the end
constexpr size_t kMostFrames = 64;  // kept per episode; longer ones are thinned

}  // namespace

EpisodeSheet::EpisodeSheet(const EnvBatch& envs, int candidates, int rows, const std::string& path)
    : EpisodeWatcher(ChooseEnvs(envs, candidates, rows)),
      path_(path),
      overview_(envs.DistinctModels(), "", kWidth_px, kHeight_px),
      rows_(Count()) {}

void EpisodeSheet::Begin(size_t i, const EnvBatch& envs, int env, const Layout& layout,
                         std::span<const std::byte> record) {
  rows_[i].object = envs.Object(env).name;
  rows_[i].seen = SeenImage(layout, record, env, kHeight_px);
  rows_[i].views.push_back(overview_.Picture(envs, env));
}

void EpisodeSheet::Extend(size_t i, const EnvBatch& envs, int env, const Layout&, std::span<const std::byte>) {
  Row& row = rows_[i];
  if (++row.steps % row.stride != 0) return;
  row.views.push_back(overview_.Picture(envs, env));
  if (row.views.size() < kMostFrames) return;
  for (size_t k = 1; 2 * k < row.views.size(); ++k) row.views[k] = row.views[2 * k];
  row.views.resize(row.views.size() / 2);
  row.stride *= 2;
}

void EpisodeSheet::Write() {
  ContactSheet sheet(kColumns, "What the policy saw, and what it did");
  for (const Row& row : rows_) {
    const bool blind = row.seen.empty();
    sheet.Add(blind ? cv::Mat(kHeight_px, kWidth_px, CV_8U, cv::Scalar(200)) : row.seen,
              blind ? row.object + " (no image)" : row.object);
    sheet.Add(row.views.front(), "start");
    sheet.Add(row.views[row.views.size() / 2], "middle");
    sheet.Add(row.views.back(), row.success ? "end: success" : "end: failure");
  }
  sheet.WritePng(path_);
  LogInfo("wrote ", path_);
}

}  // namespace gripstream
