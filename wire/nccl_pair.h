// A simulator and a learner joined by a communicator of their own: transfers in order, on a stream of their own, none
// of which ever waits.
//
// Transfers are queued; Progress starts all that are queued as one group, and notices those that have ended. One
// thread. What NCCL or CUDA report as failed throws RunError from Progress, and the pair is then of no more use;
// nothing here has a deadline, so the owner keeps its own and drops the pair, which aborts whatever is still going on.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>

#include "wire/nccl_api.h"

namespace gripstream {

class NcclPair {
 public:
  enum Rank { kLearner = 0, kSimulator = 1 };
  // Starts to make the communicator.
  NcclPair(std::shared_ptr<NcclApi> api, const NcclId& id, Rank rank);
  ~NcclPair();
  NcclPair(const NcclPair&) = delete;
  NcclPair& operator=(const NcclPair&) = delete;

  // The memory must stay until the transfer has ended.
  void QueueSend(std::span<const std::byte> from);
  void QueueReceive(std::span<std::byte> to);
  void Progress();
  // Whether the communicator has been made.
  bool Made() const { return made_; }
  uint64_t Queued() const { return queued_; }
  uint64_t Ended() const { return ended_; }

 private:
  struct Transfer {
    const std::byte* from;  // of a send
    std::byte* to;          // of a receive
    size_t bytes;
  };
  // Transfers that were started together.
  struct Group {
    uint64_t transfers;
    void* event;  // null until the launch is over
  };
  bool CommIsIdle();
  void Start();

  std::shared_ptr<NcclApi> api_;
  Rank rank_;
  void* stream_;
  void* comm_;
  bool made_ = false;
  std::deque<Transfer> waiting_;
  std::deque<Group> going_;
  uint64_t queued_ = 0;
  uint64_t ended_ = 0;
};

}  // namespace gripstream
