// Somebody who follows a few environments through one evaluation episode each and makes pictures of them.
//
// One thread at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "envs/env_batch.h"
#include "wire/episode_request.h"
#include "wire/layout.h"

namespace gripstream {

class EpisodeWatcher {
 public:
  virtual ~EpisodeWatcher() = default;
  EpisodeWatcher(const EpisodeWatcher&) = delete;
  EpisodeWatcher& operator=(const EpisodeWatcher&) = delete;

  // Looks at the environments as they are in `record`, which is complete. When the last of those watched has ended its
  // episode the file is written; RunError when it cannot be.
  void Observe(const EnvBatch& envs, const Layout& layout, std::span<const std::byte> record);

 protected:
  // `envs`: those to watch, just reset.
  explicit EpisodeWatcher(const std::vector<int>& envs);
  size_t Count() const { return watched_.size(); }

 private:
  struct Watched {
    int env;
    bool open = true;
  };

  // Environment `env`, the i-th of those watched: at the start of its episode, after each step, and once that has ended
  // (what the record holds then belongs to the next episode).
  virtual void Begin(size_t i, const EnvBatch& envs, int env, const Layout& layout,
                     std::span<const std::byte> record) = 0;
  virtual void Extend(size_t i, const EnvBatch& envs, int env, const Layout& layout,
                      std::span<const std::byte> record) = 0;
  virtual void End(size_t i, bool success) = 0;
  virtual void Write() = 0;

  std::vector<Watched> watched_;
  size_t open_;
  bool begun_ = false;
};

// Up to `count` of the first `candidates` environments, spread over them, with different objects where there are some.
std::vector<int> ChooseEnvs(const EnvBatch& envs, int candidates, int count);

}  // namespace gripstream
