// Who belongs to a group of learners and who is still there: the rendezvous, and signs of life in a shared store.
//
// Learner 0 keeps the store, at an address of its own with a port that the system chooses, written into the rendezvous
// file; the others look it up there, a file left behind by an earlier run included, until it leads them to a store that
// knows the file's token. Each member's beats come from a thread of its own. One thread otherwise. Throws RunError.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/deadline.h"
#include "learner/group.h"

namespace gripstream {

// Where this member is reached by the others: loopback, or its address in options.network.
std::string OwnAddress(const GroupOptions& options);

class GroupRoll {
 public:
  // Returns once all have come.
  explicit GroupRoll(const GroupOptions& options);
  ~GroupRoll();
  GroupRoll(const GroupRoll&) = delete;
  GroupRoll& operator=(const GroupRoll&) = delete;

  const c10::intrusive_ptr<c10d::Store>& Store() const { return store_; }
  // Throws when a member has been silent for deadline_s; `what` is what is being waited for.
  void RequireEverybodyAlive(const std::string& what);
  // After a connection broke: waits a moment to see whose beats have stopped and says so in one line.
  std::string WhoIsLost(const std::string& what);
  std::string WhoIsLate(const std::string& what, double waited_s) const;

 private:
  struct Seen {
    uint64_t beat = 0;
    Deadline::Clock::time_point when = Deadline::Clock::now();
  };
  void Keep(Deadline deadline);
  void LookUp(Deadline deadline);
  bool TryJoin();
  void WaitForAll(Deadline deadline);
  std::vector<int> Missing();
  std::string Name(int rank) const;
  std::string Names(const std::vector<int>& ranks) const;
  // Notes everybody's beats; false when the store does not answer.
  bool Look();
  void Beat();

  const GroupOptions options_;
  c10::intrusive_ptr<c10d::Store> store_;
  std::vector<std::string> members_;  // "pid 12 on host", by rank
  std::vector<Seen> seen_;
  std::mutex mutex_;
  std::condition_variable stop_changed_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace gripstream
