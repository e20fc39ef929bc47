// The learner processes of one run as a group: what they sum, gather and agree on.
//
//   rendezvous (a file in the run folder names learner 0's port) -> LearnerGroup -> collectives in the same order on
//   all
//
// A group of one does nothing and costs nothing, so callers need not ask. Collectives are c10d's over Gloo, on the
// loopback interface or, between machines, in a network that must be trusted: nothing is encrypted. All members must
// call the same collectives in the same order; `what` says in messages what for. One thread per object, heartbeats
// aside. Whoever dies, or is silent for deadline_s, or does not come within patience_s, ends the others' wait with a
// RunError that names it.
#pragma once

#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

namespace gripstream {

struct GroupOptions {
  int rank = 0;
  int size = 1;
  std::string rendezvous;   // file that learner 0 writes and the others read; gone when learner 0 is
  std::string network;      // in which each member has an address (core/network.h); empty: all on one machine
  double join_s = 120;      // longest wait for all to be there
  double deadline_s = 30;   // silence after which a member counts as dead
  double patience_s = 900;  // longest wait for a member that is alive
  double heartbeat_s = 1;
};

class LearnerGroup {
 public:
  // Alone.
  LearnerGroup();
  // Waits until all have come; throws RunError naming who has not.
  explicit LearnerGroup(const GroupOptions& options);
  ~LearnerGroup();
  LearnerGroup(const LearnerGroup&) = delete;
  LearnerGroup& operator=(const LearnerGroup&) = delete;

  int Rank() const { return options_.rank; }
  int Size() const { return options_.size; }
  // Whether this is the one that writes files and speaks to people.
  bool Leads() const { return options_.rank == 0; }

  // A sum over all members that is on its way; the tensor belongs to it until Finish.
  class Sum {
   public:
    Sum(Sum&&) noexcept;
    ~Sum();
    void Finish();

   private:
    friend class LearnerGroup;
    struct Work;
    explicit Sum(std::unique_ptr<Work> work);
    std::unique_ptr<Work> work_;
  };
  // In place; contiguous, of any float type. The same bits on all members. Several may be under way.
  Sum BeginSum(const torch::Tensor& x, const std::string& what) const;
  void SumUp(const torch::Tensor& x, const std::string& what) const { BeginSum(x, what).Finish(); }
  double SumOf(double x, const std::string& what) const;
  // Whether any member says yes.
  bool Any(bool yes, const std::string& what) const { return Size() == 1 ? yes : SumOf(yes ? 1 : 0, what) > 0; }
  // Everybody's tensor, in the order of ranks: on all members, and on the leader alone (empty elsewhere). All tensors
  // have the same type and shape.
  std::vector<torch::Tensor> Gather(const torch::Tensor& own, const std::string& what) const;
  std::vector<torch::Tensor> GatherToLeader(const torch::Tensor& own, const std::string& what) const;

 private:
  struct Connection;
  GroupOptions options_;
  std::unique_ptr<Connection> connection_;  // null: alone
};

}  // namespace gripstream
