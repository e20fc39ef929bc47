#include "learner/rollout_source.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "core/clock.h"
#include "core/done_kind.h"
#include "core/error.h"
#include "core/trace.h"

namespace gripstream {
namespace {

using Clock = std::chrono::steady_clock;

uint64_t FirstStep(int64_t iteration, const RolloutStore& store) {
  return static_cast<uint64_t>(iteration) * static_cast<uint64_t>(store.Horizon());
}

}  // namespace

Staleness StalenessOf(const RolloutStore& store, int64_t version) {
  const torch::Tensor counts = store.AfterAction("done").lt(static_cast<int>(DoneKind::kLost));
  const torch::Tensor age = (version - store.Versions()).masked_select(counts);
  if (age.numel() == 0) return {};
  return {age.to(torch::kFloat64).mean().item<double>(), age.max().item<int64_t>()};
}

SynchronousSource::SynchronousSource(Fleet& fleet, const Policy& policy, RolloutStore store)
    : fleet_(fleet), policy_(policy), store_(std::move(store)) {}

const Rollout* SynchronousSource::Next() {
  const Clock::time_point start = Clock::now();
  rollout_ = {.store = &store_};
  const auto acting = [this](int) { return Acting{&policy_, iteration_}; };
  if (!CollectRollout(fleet_, store_, acting, FirstStep(iteration_, store_), rollout_.times)) return nullptr;
  rollout_.learner_wait_s = SecondsSince(start);
  return &rollout_;
}

void SynchronousSource::Learned() {
  store_.BeginAfter(store_);
  ++iteration_;
}

AsynchronousSource::AsynchronousSource(Fleet& fleet, const Policy& policy, std::vector<RolloutStore> stores,
                                       const AsynchronousOptions& options)
    : fleet_(fleet), policy_(policy), stores_(std::move(stores)), options_(options), board_(options.max_staleness + 1) {
  GS_CHECK(static_cast<int>(stores_.size()) == options.max_staleness + 1, "one store more than max_staleness");
  if (options.close_fraction < 1) {
    const RolloutStore& like = stores_.front();
    open_ = std::make_unique<OpenCollection>(
        fleet, RolloutStore(like.Specs(), like.Horizon(), like.Envs(), like.ActionSize(), like.ShapeOfMemory()),
        OpenOptions{options.close_fraction, options.max_staleness});
  }
}

AsynchronousSource::~AsynchronousSource() {
  Stop();
}

void AsynchronousSource::Begin(int64_t iteration) {
  GS_CHECK(!thread_.joinable() && !stop_, "a source is begun once");
  first_ = learned_ = window_ = limit_ = iteration;
  board_.Publish(policy_, iteration);
  thread_ = std::thread([this] { Run(); });
}

void AsynchronousSource::AllowUpTo(int64_t limit) {
  {
    const std::lock_guard lock(mutex_);
    if (limit <= limit_) return;
    window_ = limit_;
    limit_ = limit;
  }
  changed_.notify_all();
}

const Rollout* AsynchronousSource::Next() {
  const TraceSpan span("wait for a rollout");
  const Clock::time_point start = Clock::now();
  std::unique_lock lock(mutex_);
  while (ready_.empty() && !ended_) {
    const uint64_t seen = steps_;
    const auto moved = [&] { return !ready_.empty() || ended_ || steps_ != seen; };
    if (!changed_.wait_until(lock, Deadline::After(options_.patience_s).When(), moved)) {
      throw RunError("the learner timed out waiting for collection to go on with rollout " + std::to_string(learned_));
    }
  }
  if (ready_.empty()) {
    if (failure_) std::rethrow_exception(failure_);
    return nullptr;
  }
  current_ = ready_.front();
  ready_.pop_front();
  current_.learner_wait_s = SecondsSince(start);
  return &current_;
}

void AsynchronousSource::Learned() {
  const TraceSpan span("publish");
  board_.Publish(policy_, ++learned_);
}

int AsynchronousSource::Stop() {
  if (!thread_.joinable()) return 0;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  board_.Close();
  thread_.join();
  return static_cast<int>(ready_.size());
}

void AsynchronousSource::Run() {
  NameTraceThread("collection");
  std::exception_ptr failure;
  try {
    PolicyBoard::Handle acting;
    int64_t iteration = first_;
    while (WaitUntilAllowed(iteration) && Collect(iteration, acting)) ++iteration;
    if (open_) open_->Stop();
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    ended_ = true;
  }
  changed_.notify_all();
}

bool AsynchronousSource::WaitUntilAllowed(int64_t iteration) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stop_ || iteration < limit_; });
  return !stop_;
}

// Collects one rollout and hands it over. False when stopped or interrupted before its end.
bool AsynchronousSource::Collect(int64_t iteration, PolicyBoard::Handle& acting) {
  const Clock::time_point start = Clock::now();
  int64_t window = 0, limit = 0;
  {
    const std::lock_guard lock(mutex_);
    window = window_;
    limit = limit_;
  }
  const int64_t least = std::max(iteration - options_.max_staleness, window);
  const int64_t held = acting ? acting->version : first_ - 1;
  if (!board_.Take(acting, least, options_.deterministic, Deadline::After(options_.patience_s))) return false;
  // That version was published after the last update that could still read this store.
  RolloutStore& store = StoreOf(iteration);
  if (open_) {
    open_->Begin(store, iteration > first_ ? &StoreOf(iteration - 1) : nullptr);
  } else if (iteration > first_) {
    store.BeginAfter(StoreOf(iteration - 1));
  }
  Rollout rollout{.store = &store, .pace_wait_s = SecondsSince(start)};
  int adopted = 0;
  int64_t used = held;
  const auto act = [&](int) {
    if (!options_.deterministic && !board_.Take(acting, least, false, Deadline::After(options_.patience_s))) {
      return Acting{};
    }
    if (acting->version != std::exchange(used, acting->version)) {
      rollout.publish_lag_s += SecondsSince(acting->when);
      ++adopted;
    }
    const std::lock_guard lock(mutex_);
    ++steps_;
    changed_.notify_all();
    return stop_ ? Acting{} : Acting{&acting->policy, acting->version};
  };
  if (open_) {
    const OpenCollection::Turn turn{iteration, FirstStep(iteration, store), iteration + 1 < limit};
    if (!open_->Collect(store, act, turn, rollout.times)) return false;
    rollout.carried_envs = open_->CarriedEnvs();
  } else if (!CollectRollout(fleet_, store, act, FirstStep(iteration, store), rollout.times)) {
    return false;
  }
  if (adopted > 0) rollout.publish_lag_s /= adopted;
  {
    const std::lock_guard lock(mutex_);
    ready_.push_back(rollout);
  }
  changed_.notify_all();
  return true;
}

}  // namespace gripstream
