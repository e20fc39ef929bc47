#include "sim_server/episode_sheet.h"

#include <algorithm>
#include <set>
#include <vector>

#include "core/log.h"
#include "envs/env_batch.h"
#include "sim_server/overview.h"
#include "sim_server/render/contact_sheet.h"
#include "sim_server/seen_image.h"

namespace gripstream {
namespace {

constexpr int kWidth_px = 240, kHeight_px = 180;
constexpr int kColumns = 4;         // what the camera saw, then the start, the middle and the end
constexpr size_t kMostFrames = 64;  // kept per episode; longer ones are thinned

// Environments to show, spread over the candidates; each with an object not shown yet as long as there is one.
std::vector<int> ChooseEnvs(const EnvBatch& envs, int candidates, int rows) {
  std::vector<int> chosen;
  std::set<std::string> shown;
  for (int i = 0; i < std::min(rows, candidates); ++i) {
    const auto place = [&](int k) { return (i * candidates / std::min(rows, candidates) + k) % candidates; };
    const auto is_new = [&](int env) {
      return std::find(chosen.begin(), chosen.end(), env) == chosen.end() && !shown.contains(envs.Object(env).name);
    };
    int env = place(0);
    for (int k = 0; k < candidates && !is_new(env); ++k) env = place(k);
    if (!is_new(env)) {  // every object is shown already
      for (int k = 0; std::find(chosen.begin(), chosen.end(), env) != chosen.end(); ++k) env = place(k);
    }
    chosen.push_back(env);
    shown.insert(envs.Object(env).name);
  }
  return chosen;
}

}  // namespace

struct EpisodeSheet::Impl {
  struct Row {
    int env;
    std::string object;
    cv::Mat seen;                // the policy's first image
    std::vector<cv::Mat> views;  // from the overview camera, oldest first
    int stride = 1, steps = 0;   // every `stride`-th step is kept
    bool open = true, success = false;
  };

  void Extend(Row& row, const EnvBatch& envs) {
    if (++row.steps % row.stride != 0) return;
    row.views.push_back(overview->Picture(envs, row.env));
    if (row.views.size() < kMostFrames) return;
    for (size_t i = 1; 2 * i < row.views.size(); ++i) row.views[i] = row.views[2 * i];
    row.views.resize(row.views.size() / 2);
    row.stride *= 2;
  }

  void Write() const {
    ContactSheet sheet(kColumns, "What the policy saw, and what it did");
    for (const Row& row : rows) {
      sheet.Add(row.seen.empty() ? cv::Mat(kHeight_px, kWidth_px, CV_8U, cv::Scalar(200)) : row.seen,
                row.seen.empty() ? row.object + " (no image)" : row.object);
      sheet.Add(row.views.front(), "start");
      sheet.Add(row.views[row.views.size() / 2], "middle");
      sheet.Add(row.views.back(), row.success ? "end: success" : "end: failure");
    }
    sheet.WritePng(path);
    LogInfo("wrote ", path);
  }

  std::string path;
  std::unique_ptr<Overview> overview;
  std::vector<Row> rows;
  bool begun = false;
  size_t open_rows = 0;
};

EpisodeSheet::EpisodeSheet(const EnvBatch& envs, int candidates, int rows, const std::string& path)
    : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->overview = std::make_unique<Overview>(envs.DistinctModels(), "", kWidth_px, kHeight_px);
  for (const int env : ChooseEnvs(envs, candidates, rows)) {
    Impl::Row row;
    row.env = env;
    impl_->rows.push_back(row);
  }
  impl_->open_rows = impl_->rows.size();
}

EpisodeSheet::~EpisodeSheet() = default;

void EpisodeSheet::Observe(const EnvBatch& envs, const Layout& layout, std::span<const std::byte> record) {
  if (impl_->open_rows == 0) return;
  const std::span<const uint8_t> done = layout.View<uint8_t>(record, "done");
  const std::span<const uint8_t> success = layout.View<uint8_t>(record, "success");
  for (Impl::Row& row : impl_->rows) {
    const auto env = static_cast<size_t>(row.env);
    if (!impl_->begun) {
      row.object = envs.Object(row.env).name;
      row.seen = SeenImage(layout, record, row.env, kHeight_px);
      row.views.push_back(impl_->overview->Picture(envs, row.env));
    } else if (row.open && done[env] == static_cast<uint8_t>(DoneKind::kRunning)) {
      impl_->Extend(row, envs);
    } else if (row.open) {
      // What is in the record now is the next episode; the last view of this one is the step before its end.
      row.open = false;
      row.success = success[env] != 0;
      --impl_->open_rows;
    }
  }
  impl_->begun = true;
  if (impl_->open_rows == 0) impl_->Write();
}

}  // namespace gripstream
