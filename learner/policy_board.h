// Where the learner puts finished versions of the policy for collection to act by while it makes the next one.
//
//   update (learner thread) -> Publish: a copy -> Take (collection thread): the same copy, until the next Take
//
// A published policy is const and shares no memory with the one in training, so inference can never see half an update.
// Copies that nobody holds any more are used again. Publish and Close are for the learner's thread, Take for one other.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "core/deadline.h"
#include "policies/inference.h"

namespace gripstream {

struct PublishedPolicy {
  Policy policy;
  int64_t version;
  std::chrono::steady_clock::time_point when;  // the moment of publication
};

class PolicyBoard {
 public:
  using Handle = std::shared_ptr<const PublishedPolicy>;

  // Keeps the newest `keep` >= 1 versions for those who want an older one.
  explicit PolicyBoard(int keep) : keep_(static_cast<size_t>(keep)) {}

  // Versions are published in order, each once (GS_CHECK).
  void Publish(const Policy& policy, int64_t version);
  // Replaces `held` by the newest version once that is at least `version`; with `exactly`, by that very version, which
  // must be among those kept. False when the board was closed before. Throws RunError when the deadline passes.
  bool Take(Handle& held, int64_t version, bool exactly, Deadline deadline);
  // Ends all waiting.
  void Close();

 private:
  std::shared_ptr<PublishedPolicy> FreeCopy(const Policy& policy);

  const size_t keep_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;                                  // guarded by mutex_, as all below
  std::deque<std::shared_ptr<PublishedPolicy>> newest_;  // the last one is the newest
  std::vector<std::shared_ptr<PublishedPolicy>> copies_;
};

}  // namespace gripstream
