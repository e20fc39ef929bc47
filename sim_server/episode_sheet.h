// A contact sheet of evaluation episodes: what the policy's camera saw, and what the arm then did, one episode a row.
//
// One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "sim_server/episode_watcher.h"
#include "sim_server/overview.h"

namespace gripstream {

class EpisodeSheet : public EpisodeWatcher {
 public:
  // `rows` of the first `candidates` environments of `envs`, which have just been reset; on a PNG file.
  EpisodeSheet(const EnvBatch& envs, int candidates, int rows, const std::string& path);

 private:
  struct Row {
    std::string object;
    cv::Mat seen;                // the policy's first image; empty where it has none
    std::vector<cv::Mat> views;  // from the overview camera, oldest first
    int stride = 1, steps = 0;   // every `stride`-th step is kept
    bool success = false;
  };

  void Begin(size_t i, const EnvBatch& envs, int env, const Layout& layout, std::span<const std::byte> record) override;
  void Extend(size_t i, const EnvBatch& envs, int env, const Layout& layout,
              std::span<const std::byte> record) override;
  void End(size_t i, bool success) override { rows_[i].success = success; }
  void Write() override;

  std::string path_;
  Overview overview_;
  std::vector<Row> rows_;
};

}  // namespace gripstream
