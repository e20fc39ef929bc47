// Where rollouts come from: the one difference between the runtime's modes that training sees.
//
//   Begin -> { AllowUpTo -> { Next -> (learn from it) -> Learned } ... } ... -> Stop
//
// A source is begun once. Rollout k is what update k learns from; version k of the policy is what k updates have
// made. SynchronousSource collects rollout k by version k when it is asked for it. AsynchronousSource collects ahead
// on a thread of its own, while the learner updates: rollout k is begun once version k - max_staleness is there, so
// that nothing is ever staler than that and nothing has to be thrown away. At an allowed limit collection stands
// still: there the environments belong to exactly the limit's version, and the caller may use the fleet
// (checkpoints).
//
// All calls from one thread. Next throws what collection throws.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "learner/collector.h"
#include "learner/open_collection.h"
#include "learner/policy_board.h"

namespace gripstream {

struct Rollout {
  RolloutStore* store = nullptr;
  CollectTimes times{};
  double publish_lag_s = 0;   // from a version's publication to its first action, mean over those first used in here
  double pace_wait_s = 0;     // collection waited for the learner
  double learner_wait_s = 0;  // the learner waited for this rollout
  int carried_envs = 0;       // whose trajectories go on in the next rollout
};

// By how many versions the samples are older than the policy they are to train. A sample is an action and what came
// after it in its rollout; versions never fall along a rollout, so its oldest step is its own. What is lost or carried
// is no sample.
struct Staleness {
  double mean = 0;
  int64_t max = 0;
};
Staleness StalenessOf(const RolloutStore& store, int64_t version);

class RolloutSource {
 public:
  virtual ~RolloutSource() = default;
  // The store of the first rollout, whose row 0 the caller fills before Begin.
  virtual RolloutStore& First(int64_t iteration) = 0;
  // Rollouts are counted from `iteration`, which is also the policy's version.
  virtual void Begin(int64_t iteration) = 0;
  // Rollouts before `limit` may be collected.
  virtual void AllowUpTo(int64_t limit) = 0;
  // The next rollout, valid until Learned; null when the run was interrupted before its end.
  virtual const Rollout* Next() = 0;
  // The policy has learned from the rollout of the last Next.
  virtual void Learned() = 0;
  // No collection is under way afterwards. Returns how many rollouts were collected that Next has not given out.
  virtual int Stop() = 0;
};

class SynchronousSource : public RolloutSource {
 public:
  // `fleet` and `policy` must outlive this object, here and below.
  SynchronousSource(Fleet& fleet, const Policy& policy, RolloutStore store);
  RolloutStore& First(int64_t) override { return store_; }
  void Begin(int64_t iteration) override { iteration_ = iteration; }
  void AllowUpTo(int64_t) override {}
  const Rollout* Next() override;
  void Learned() override;
  int Stop() override { return 0; }

 private:
  Fleet& fleet_;
  const Policy& policy_;
  RolloutStore store_;
  Rollout rollout_;
  int64_t iteration_ = 0;
};

struct AsynchronousOptions {
  int max_staleness = 0;
  // Act throughout a rollout by the oldest version allowed, however fast the learner was: the same bits in every run.
  // Otherwise each step is acted for by the newest version there is.
  bool deterministic = false;
  double patience_s = 900;  // longest wait for the other side
  // A rollout is closed once this fraction of the environments has delivered its steps; see learner/open_collection.h.
  double close_fraction = 1;
};

class AsynchronousSource : public RolloutSource {
 public:
  // One store more than max_staleness.
  AsynchronousSource(Fleet& fleet, const Policy& policy, std::vector<RolloutStore> stores,
                     const AsynchronousOptions& options);
  ~AsynchronousSource() override;
  RolloutStore& First(int64_t iteration) override { return StoreOf(iteration); }
  void Begin(int64_t iteration) override;
  void AllowUpTo(int64_t limit) override;
  const Rollout* Next() override;
  void Learned() override;
  int Stop() override;

 private:
  void Run();
  bool Collect(int64_t iteration, PolicyBoard::Handle& acting);
  bool WaitUntilAllowed(int64_t iteration);
  RolloutStore& StoreOf(int64_t iteration) { return stores_[static_cast<size_t>(iteration) % stores_.size()]; }

  Fleet& fleet_;
  const Policy& policy_;
  std::vector<RolloutStore> stores_;
  AsynchronousOptions options_;
  PolicyBoard board_;
  std::unique_ptr<OpenCollection> open_;  // with close_fraction below 1
  Rollout current_;
  int64_t first_ = 0;    // constant while the thread runs
  int64_t learned_ = 0;  // the learner's thread only

  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t window_ = 0, limit_ = 0;  // guarded by mutex_, as all below: rollouts [window_, limit_) are allowed
  bool stop_ = false, ended_ = false;
  uint64_t steps_ = 0;  // progress of collection
  std::deque<Rollout> ready_;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace gripstream
