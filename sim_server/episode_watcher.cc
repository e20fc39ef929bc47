#include "sim_server/episode_watcher.h"

#include <algorithm>
#include <set>

#include "core/done_kind.h"

namespace gripstream {

EpisodeWatcher::EpisodeWatcher(const std::vector<int>& envs) : open_(envs.size()) {
  for (const int env : envs) watched_.push_back({env});
}

void EpisodeWatcher::Observe(const EnvBatch& envs, const Layout& layout, std::span<const std::byte> record) {
  if (open_ == 0) return;
  const std::span<const uint8_t> done = layout.View<uint8_t>(record, "done");
  const std::span<const uint8_t> success = layout.View<uint8_t>(record, "success");
  for (size_t i = 0; i < watched_.size(); ++i) {
    Watched& watched = watched_[i];
    const auto env = static_cast<size_t>(watched.env);
    if (!begun_) {
      Begin(i, envs, watched.env, layout, record);
    } else if (watched.open && done[env] == static_cast<uint8_t>(DoneKind::kRunning)) {
      Extend(i, envs, watched.env, layout, record);
    } else if (watched.open) {
      watched.open = false;
      --open_;
      End(i, success[env] != 0);
    }
  }
  begun_ = true;
  if (open_ == 0) Write();
}

std::vector<int> ChooseEnvs(const EnvBatch& envs, int candidates, int count) {
  count = std::min(count, candidates);
  std::set<int> chosen;
  std::set<std::string> shown;
  for (int i = 0; i < count; ++i) {
    std::vector<int> order;  // from the i-th part on
    for (int k = 0; k < candidates; ++k) order.push_back((i * candidates / count + k) % candidates);
    const auto is_free = [&](int env) { return !chosen.contains(env); };
    auto found =
        std::ranges::find_if(order, [&](int env) { return is_free(env) && !shown.contains(envs.Object(env).name); });
    if (found == order.end()) found = std::ranges::find_if(order, is_free);  // every object is shown already
    chosen.insert(*found);
    shown.insert(envs.Object(*found).name);
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace gripstream
