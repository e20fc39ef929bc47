// A contact sheet of evaluation episodes: what the policy's camera saw, and what the arm then did, one episode a row.
//
// Frames are taken while the first `rows` environments play their first episode; when the last of those has ended the
// sheet is written. One thread at a time. Throws RunError when the file cannot be written.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim_server/render/config.h"
#include "wire/layout.h"

namespace gripstream {

class EnvBatch;

class EpisodeSheet {
 public:
  EpisodeSheet(const EnvBatch& envs, const RenderConfig& camera_config, const std::string& camera, int rows,
               const std::string& path);
  ~EpisodeSheet();
  // Looks at the environments as they are in `record` (already written); depth is its [N, H, W] image.
  void Observe(const EnvBatch& envs, const uint16_t* depth, const Layout& layout, std::span<const std::byte> record);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gripstream
