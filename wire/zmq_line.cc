// The ZeroMQ transport, over ipc or tcp, encrypted where keys are given: one ROUTER at the learner, one DEALER per
// simulator. A message is the frame, then the payload as a part of its own; a record is sent straight from its slot,
// without a copy of ours.
#include <sys/socket.h>

#include <deque>
#include <map>
#include <utility>

#include "core/log.h"
#include "wire/line.h"
#include "wire/zmq_socket.h"

namespace gripstream {
namespace {

constexpr size_t kMaxConnections = 4096;
constexpr size_t kPayloadAlignment_bytes = 8;
constexpr const char* kKeysDiffer =
    "does it not allow this simulator's key, or does wire.curve.keys hold another learner.public?";
constexpr const char* kKeysMissing = "does it encrypt (wire.curve.keys)?";
constexpr int kLastWord_ms = 1000;        // how long closing may wait for unsent messages
constexpr double kLastMessages_s = 0.02;  // how long a simulator reads on once its connection has ended
constexpr double kFirstProbe_s = 0.001;   // after news of an end; doubled from one probe to the next
constexpr int kProbes = 13;

// Throws InputError unless the address is ipc, or tcp; beyond this machine only with keys.
void CheckAddress(const WireConfig& config) {
  const std::string& address = config.address;
  if (address.starts_with("ipc://") && address.size() > 6) return;
  const bool tcp = address.starts_with("tcp://") && address.rfind(':') > 6;
  const bool loopback = address.starts_with("tcp://127.") || address.starts_with("tcp://localhost:");
  if (tcp && (loopback || !config.curve.keys.empty())) return;
  throw InputError("configuration", "wire.address", address,
                   tcp ? "ipc:///path or tcp://127.0.0.1:port; other machines need wire.curve.keys (gripstream keygen)"
                       : "ipc:///path or tcp://host:port");
}

zmq::message_t ToMessage(std::span<const std::byte> bytes) {
  return zmq::message_t(bytes.data(), bytes.size());
}

// The payload part as it lies, unless libzmq put a small one at an odd address.
Bulk ToBulk(zmq::message_t&& part) {
  const std::span bytes(part.data<std::byte>(), part.size());
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kPayloadAlignment_bytes != 0) return CopyBulk(bytes);
  const auto hold = std::make_shared<zmq::message_t>(std::move(part));
  return {{hold->data<std::byte>(), hold->size()}, hold};
}

// Reads parts[first] as the frame and what follows as its payload.
Event ToEvent(int connection, std::vector<zmq::message_t>& parts, size_t first) {
  try {
    if (parts.size() < first + 1 || parts.size() > first + 2) throw FrameError("a message of a wrong number of parts");
    Event event = MakeEvent(Event::Kind::kMessage, connection);
    event.frame = ParseFrame({parts[first].data<std::byte>(), parts[first].size()});
    const size_t payload_bytes = parts.size() > first + 1 ? parts[first + 1].size() : 0;
    if (payload_bytes != event.frame.header.payload_bytes) {
      throw FrameError("a payload of " + std::to_string(payload_bytes) + " bytes where " +
                       std::to_string(event.frame.header.payload_bytes) + " were announced");
    }
    if (payload_bytes > 0) event.bulk = ToBulk(std::move(parts[first + 1]));
    return event;
  } catch (const FrameError& error) {
    return MakeEvent(Event::Kind::kBroken, connection, error.what());
  }
}

class ZmqLine : public SimulatorLine {
 public:
  ZmqLine(const WireConfig& config, const LineShape& shape)
      : address_(config.address),
        encrypts_(!config.curve.keys.empty()),
        ring_(std::make_shared<RecordRing>(shape)),
        socket_(zmq::socket_type::dealer, SimulatorIdentity(config.curve.keys)) {
    CheckAddress(config);
  }

  std::span<std::byte> Slot(uint32_t slot) override { return ring_->Slot(slot); }

  void Open(const std::vector<std::byte>& join_frame, Deadline deadline) override {
    socket_.Connect(address_);
    Send(join_frame, {}, deadline);
  }

  SendResult SendRecord(const std::vector<std::byte>& frame, uint32_t slot, Deadline) override {
    const std::span<std::byte> record = ring_->Slot(slot);
    // libzmq reads the slot until the record is on its way; the ring outlives that.
    auto* hold = new std::shared_ptr<RecordRing>(ring_);
    const auto release = [](void*, void* hint) { delete static_cast<std::shared_ptr<RecordRing>*>(hint); };
    std::vector<zmq::message_t> parts;
    parts.push_back(ToMessage(frame));
    parts.emplace_back(record.data(), record.size(), release, hold);
    return Post(parts);
  }
  SendResult Send(const std::vector<std::byte>& frame, std::span<const std::byte> payload, Deadline) override {
    std::vector<zmq::message_t> parts;
    parts.push_back(ToMessage(frame));
    if (!payload.empty()) parts.push_back(ToMessage(payload));
    return Post(parts);
  }
  SendResult TrySend(const std::vector<std::byte>& frame) override { return Send(frame, {}, Deadline::After(0)); }

  std::optional<Event> Receive(Deadline deadline) override {
    for (;;) {
      const Deadline until = closing_ ? Earlier(deadline, *closing_) : deadline;
      std::optional<ZmqSocket::Incoming> incoming = socket_.Receive(until);
      if (incoming && incoming->refused && !answered_) {
        return MakeEvent(Event::Kind::kClosed, 0, encrypts_ ? kKeysDiffer : kKeysMissing);
      }
      if (incoming && incoming->ended > 0 && !closing_) closing_ = Deadline::After(kLastMessages_s);
      if (incoming && !incoming->parts.empty()) {
        // Somebody is there to read a last word; before that, closing need not wait.
        if (!std::exchange(answered_, true)) socket_.SetLinger(kLastWord_ms);
        return ToEvent(0, incoming->parts, 0);
      }
      if (closing_ && closing_->Passed()) {
        socket_.SetLinger(0);
        return MakeEvent(Event::Kind::kClosed, 0, answered_ ? "" : encrypts_ ? kKeysDiffer : kKeysMissing);
      }
      if (!incoming && deadline.Passed()) return std::nullopt;
    }
  }

 private:
  SendResult Post(std::vector<zmq::message_t>& parts) {
    return socket_.Send(parts) == ZmqSocket::SendStatus::kSent ? SendResult::kSent : SendResult::kGone;
  }

  std::string address_;
  bool encrypts_;
  std::shared_ptr<RecordRing> ring_;
  ZmqSocket socket_;
  bool answered_ = false;
  std::optional<Deadline> closing_;  // the connection has ended; until when its last messages are read
};

class ZmqHub : public LearnerHub {
 public:
  explicit ZmqHub(const WireConfig& config) : socket_(zmq::socket_type::router, LearnerIdentity(config.curve.keys)) {
    CheckAddress(config);
    socket_.SetLinger(kLastWord_ms);
    // libzmq would take the address over from a living listener, and delete any file that lies there.
    if (config.address.starts_with("ipc://")) CheckUnixAddressIsFree(config.address.substr(6), SOCK_STREAM);
    socket_.Bind(config.address);
    address_ = socket_.LastEndpoint();
  }
  ~ZmqHub() override {
    if (address_.starts_with("ipc://")) UnlinkUnix(address_.substr(6));
  }

  std::string Address() const override { return address_; }

  std::optional<Event> Receive(Deadline deadline) override {
    for (;;) {
      std::optional<ZmqSocket::Incoming> incoming = socket_.Receive(Until(deadline));
      if (incoming && incoming->ended > 0) StartProbing(incoming->ended);
      if (incoming && !incoming->parts.empty()) {
        const int id = IdOf(incoming->parts[0]);
        if (id != 0) return ToEvent(id, incoming->parts, 1);
      }
      if (incoming) continue;
      // Nothing is left to read: what has ended has been heard out.
      if (!ended_.empty()) {
        if (std::optional<Event> event = Forget(ended_.front())) return event;
      } else if (next_probe_ && next_probe_->Passed()) {
        Probe();
      } else if (deadline.Passed()) {
        return std::nullopt;
      }
    }
  }

  SendResult Send(int id, std::vector<std::byte> frame, std::span<const std::byte> payload, Deadline) override {
    const auto found = connections_.find(id);
    if (found == connections_.end() || found->second.closed) return SendResult::kGone;
    return Post(found->second, frame, payload);
  }

  void TrySendAll(const std::vector<std::byte>& frame) override {
    const std::lock_guard lock(mutex_);
    beat_ = frame;
    for (const auto& [id, connection] : connections_) {
      if (!connection.closed) Post(connection, frame, {});
    }
  }

  void Close(int id) override {
    const std::lock_guard lock(mutex_);
    const auto found = connections_.find(id);
    // libzmq keeps the connection itself until the other side closes it; nothing more is taken from it.
    if (found != connections_.end()) found->second.closed = true;
  }

 private:
  struct Connection {
    std::string routing_id;
    bool closed = false;
  };

  SendResult Post(const Connection& to, const std::vector<std::byte>& frame, std::span<const std::byte> payload) {
    std::vector<zmq::message_t> parts;
    parts.emplace_back(to.routing_id.data(), to.routing_id.size());
    parts.push_back(ToMessage(frame));
    if (!payload.empty()) parts.push_back(ToMessage(payload));
    return socket_.Send(parts) == ZmqSocket::SendStatus::kSent ? SendResult::kSent : SendResult::kGone;
  }

  // The connection's number; a new one when it has not been heard before, 0 when it is not wanted.
  int IdOf(const zmq::message_t& routing_part) {
    const std::string routing_id = routing_part.to_string();
    const auto known = ids_.find(routing_id);
    if (known != ids_.end()) return connections_.at(known->second).closed ? 0 : known->second;
    if (connections_.size() >= kMaxConnections) return 0;
    const std::lock_guard lock(mutex_);
    connections_[++last_id_] = {routing_id};
    ids_[routing_id] = last_id_;
    return last_id_;
  }

  Deadline Until(Deadline deadline) const {
    if (!ended_.empty()) return Deadline::After(0);
    return next_probe_ ? Earlier(deadline, *next_probe_) : deadline;
  }

  void StartProbing(int ends) {
    unexplained_ends_ += ends;
    probes_ = 0;
    next_probe_ = Deadline::After(kFirstProbe_s);
  }

  // Whose end was it? Nothing can be routed to it any more, from shortly after libzmq's news on; so a heartbeat is sent
  // to all. Connections end that never said a word, too: the search is given up in the end.
  void Probe() {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, connection] : connections_) {
      if (Post(connection, beat_, {}) == SendResult::kGone) ended_.push_back(id);
    }
    unexplained_ends_ -= static_cast<int>(ended_.size());
    if (unexplained_ends_ <= 0 || ++probes_ == kProbes) {
      unexplained_ends_ = 0;
      next_probe_.reset();
    } else {
      next_probe_ = Deadline::After(kFirstProbe_s * (1 << probes_));
    }
  }

  // Removes the connection at the head of ended_; the event that says so unless it was closed from this side.
  std::optional<Event> Forget(int id) {
    ended_.pop_front();
    const std::lock_guard lock(mutex_);
    const Connection connection = connections_.at(id);
    ids_.erase(connection.routing_id);
    connections_.erase(id);
    if (connection.closed) return std::nullopt;
    return MakeEvent(Event::Kind::kClosed, id);
  }

  ZmqSocket socket_;
  std::string address_;
  std::mutex mutex_;  // connections_ changes on the owner's thread under it; the heartbeat thread reads under it
  std::map<int, Connection> connections_;
  std::map<std::string, int> ids_;
  std::vector<std::byte> beat_ = Encode(Heartbeat{});  // the last heartbeat; guarded by mutex_
  std::deque<int> ended_;                              // found by the probe, not yet told
  std::optional<Deadline> next_probe_;
  int probes_ = 0;
  int unexplained_ends_ = 0;
  int last_id_ = 0;
};

}  // namespace

std::unique_ptr<SimulatorLine> MakeZmqLine(const WireConfig& config, const LineShape& shape) {
  return std::make_unique<ZmqLine>(config, shape);
}

std::unique_ptr<LearnerHub> MakeZmqHub(const WireConfig& config) {
  return std::make_unique<ZmqHub>(config);
}

}  // namespace gripstream
