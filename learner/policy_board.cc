#include "learner/policy_board.h"

#include <string>

#include "core/error.h"

namespace gripstream {

// A copy that only copies_ holds. Holders let go under the mutex, so whoever was the last has finished reading it.
std::shared_ptr<PublishedPolicy> PolicyBoard::FreeCopy(const Policy& policy) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& copy : copies_) {
      if (copy.use_count() == 1) return copy;
    }
  }
  const auto made = std::make_shared<PublishedPolicy>(PublishedPolicy{policy.Clone(), 0, {}});
  const std::lock_guard lock(mutex_);
  copies_.push_back(made);
  return made;
}

void PolicyBoard::Publish(const Policy& policy, int64_t version) {
  const std::shared_ptr<PublishedPolicy> copy = FreeCopy(policy);
  copy->policy.SetState(policy.State());
  copy->version = version;
  copy->when = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(mutex_);
    GS_CHECK(newest_.empty() || newest_.back()->version < version, "version " + std::to_string(version) + " again");
    newest_.push_back(copy);
    if (newest_.size() > keep_) newest_.pop_front();
  }
  changed_.notify_all();
}

bool PolicyBoard::Take(Handle& held, int64_t version, bool exactly, Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return closed_ || (!newest_.empty() && newest_.back()->version >= version); };
  if (!changed_.wait_until(lock, deadline.When(), ready)) {
    throw RunError("collection timed out waiting for the learner to publish version " + std::to_string(version) +
                   " of the policy");
  }
  if (closed_) return false;
  if (!exactly) {
    held = newest_.back();
    return true;
  }
  for (const auto& published : newest_) {
    if (published->version == version) held = published;
  }
  GS_CHECK(held && held->version == version, "version " + std::to_string(version) + " is not kept any more");
  return true;
}

void PolicyBoard::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace gripstream
