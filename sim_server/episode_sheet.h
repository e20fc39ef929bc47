// A contact sheet of evaluation episodes: what the policy's camera saw, and what the arm then did, one episode a row.
//
// Frames are taken while a few environments, with different objects where there are some, play their first episode;
// when the last of those has ended the sheet is written. One thread at a time. Throws RunError when the file cannot be
// written.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "wire/layout.h"

namespace gripstream {

class EnvBatch;

class EpisodeSheet {
 public:
  // `rows` of the first `candidates` environments of `envs`, which have just been reset.
  EpisodeSheet(const EnvBatch& envs, int candidates, int rows, const std::string& path);
  ~EpisodeSheet();
  // Looks at the environments as they are in `record`, which is complete.
  void Observe(const EnvBatch& envs, const Layout& layout, std::span<const std::byte> record);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gripstream
