// The in-process transport: both ends are threads of one process and share the record slots; queues carry the frames.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "wire/line.h"

namespace gripstream {
namespace {

constexpr size_t kMaxWaitingHeartbeats = 1024;  // a reader that is away for long need not find every one

// Events for one reader, filled by others.
class Mailbox {
 public:
  void Push(Event event) {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
    }
    changed_.notify_one();
  }
  bool TryPush(Event event) {
    {
      const std::lock_guard lock(mutex_);
      if (events_.size() >= kMaxWaitingHeartbeats) return false;
    }
    Push(std::move(event));
    return true;
  }
  std::optional<Event> Pop(Deadline deadline) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, deadline.When(), [this] { return !events_.empty(); })) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
};

// What both ends of one connection share.
struct Connection {
  Mailbox to_simulator;
  std::shared_ptr<RecordRing> ring;
};

// The learner's side. Outlives its hub while a simulator still holds it.
struct Switchboard {
  Mailbox to_learner;
  std::mutex mutex;
  int last_connection = 0;  // guarded by mutex, as the map
  std::map<int, std::shared_ptr<Connection>> connections;

  std::shared_ptr<Connection> Find(int id) {
    const std::lock_guard lock(mutex);
    const auto found = connections.find(id);
    return found == connections.end() ? nullptr : found->second;
  }
};

// Listening addresses of this process.
struct Registry {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::shared_ptr<Switchboard>> listening;
};

Registry& Listeners() {
  static Registry registry;
  return registry;
}

Event ToEvent(int connection, const std::vector<std::byte>& frame, Bulk bulk = {}) {
  Event event;
  event.connection = connection;
  event.bulk = std::move(bulk);
  try {
    event.frame = ParseFrame(frame);
  } catch (const FrameError& error) {
    event.kind = Event::Kind::kBroken;
    event.problem = error.what();
  }
  return event;
}

Event Closed(int connection) {
  Event event;
  event.kind = Event::Kind::kClosed;
  event.connection = connection;
  return event;
}

class InprocLine : public SimulatorLine {
 public:
  InprocLine(const WireConfig& config, const LineShape& shape)
      : address_(config.address), ring_(std::make_shared<RecordRing>(shape)) {}

  ~InprocLine() override {
    if (!board_) return;
    {
      const std::lock_guard lock(board_->mutex);
      board_->connections.erase(id_);
    }
    board_->to_learner.Push(Closed(id_));
  }

  std::span<std::byte> Slot(uint32_t slot) override { return ring_->Slot(slot); }

  void Open(const std::vector<std::byte>& join_frame, Deadline deadline) override {
    Registry& registry = Listeners();
    std::unique_lock lock(registry.mutex);
    if (!registry.changed.wait_until(lock, deadline.When(), [&] { return registry.listening.contains(address_); })) {
      throw RunError("no learner listens at inproc address '" + address_ + "' in this process");
    }
    const std::shared_ptr<Switchboard> board = registry.listening.at(address_);
    connection_ = std::make_shared<Connection>();
    connection_->ring = ring_;
    {
      const std::lock_guard board_lock(board->mutex);
      id_ = ++board->last_connection;
      board->connections[id_] = connection_;
    }
    board_ = board;
    board_->to_learner.Push(ToEvent(id_, join_frame));
  }

  SendResult SendRecord(const std::vector<std::byte>& frame, uint32_t slot, Deadline) override {
    return Deliver(ToEvent(id_, frame, {ring_->Slot(slot), ring_}));
  }
  SendResult Send(const std::vector<std::byte>& frame, std::span<const std::byte> payload, Deadline) override {
    return Deliver(ToEvent(id_, frame, payload.empty() ? Bulk{} : CopyBulk(payload)));
  }
  SendResult TrySend(const std::vector<std::byte>& frame) override {
    if (!board_->Find(id_)) return SendResult::kGone;
    return board_->to_learner.TryPush(ToEvent(id_, frame)) ? SendResult::kSent : SendResult::kFull;
  }
  std::optional<Event> Receive(Deadline deadline) override { return connection_->to_simulator.Pop(deadline); }

 private:
  SendResult Deliver(Event event) {
    if (!board_->Find(id_)) return SendResult::kGone;
    board_->to_learner.Push(std::move(event));
    return SendResult::kSent;
  }

  std::string address_;
  std::shared_ptr<RecordRing> ring_;
  std::shared_ptr<Switchboard> board_;
  std::shared_ptr<Connection> connection_;
  int id_ = 0;
};

class InprocHub : public LearnerHub {
 public:
  explicit InprocHub(const WireConfig& config) : address_(config.address), board_(std::make_shared<Switchboard>()) {
    Registry& registry = Listeners();
    {
      const std::lock_guard lock(registry.mutex);
      if (!registry.listening.emplace(address_, board_).second) {
        throw InputError("configuration", "wire.address", address_, "an inproc address that is not in use");
      }
    }
    registry.changed.notify_all();
  }

  ~InprocHub() override {
    {
      const std::lock_guard lock(Listeners().mutex);
      Listeners().listening.erase(address_);
    }
    std::map<int, std::shared_ptr<Connection>> connections;
    {
      const std::lock_guard lock(board_->mutex);
      connections.swap(board_->connections);
    }
    for (const auto& [id, connection] : connections) connection->to_simulator.Push(Closed(id));
  }

  std::string Address() const override { return address_; }
  std::optional<Event> Receive(Deadline deadline) override { return board_->to_learner.Pop(deadline); }

  SendResult Send(int id, std::vector<std::byte> frame, std::span<const std::byte> payload, Deadline) override {
    const std::shared_ptr<Connection> connection = board_->Find(id);
    if (!connection) return SendResult::kGone;
    connection->to_simulator.Push(ToEvent(id, frame, payload.empty() ? Bulk{} : CopyBulk(payload)));
    return SendResult::kSent;
  }

  void TrySendAll(const std::vector<std::byte>& frame) override {
    const std::lock_guard lock(board_->mutex);
    for (const auto& [id, connection] : board_->connections) connection->to_simulator.TryPush(ToEvent(id, frame));
  }

  void Close(int id) override {
    std::shared_ptr<Connection> connection;
    {
      const std::lock_guard lock(board_->mutex);
      const auto found = board_->connections.find(id);
      if (found == board_->connections.end()) return;
      connection = found->second;
      board_->connections.erase(found);
    }
    connection->to_simulator.Push(Closed(id));
  }

 private:
  std::string address_;
  std::shared_ptr<Switchboard> board_;
};

}  // namespace

std::unique_ptr<SimulatorLine> MakeInprocLine(const WireConfig& config, const LineShape& shape) {
  return std::make_unique<InprocLine>(config, shape);
}

std::unique_ptr<LearnerHub> MakeInprocHub(const WireConfig& config) {
  return std::make_unique<InprocHub>(config);
}

}  // namespace gripstream
