// The ZeroMQ transport, over ipc or loopback tcp: one ROUTER at the learner, one DEALER per simulator. A message is the
// frame, then the payload as a part of its own; a record is sent straight from its slot, without a copy of ours.
#include <sys/socket.h>

#include <map>
#include <set>
#include <utility>

#include "core/log.h"
#include "wire/line.h"
#include "wire/zmq_socket.h"

namespace gripstream {
namespace {

constexpr size_t kMaxConnections = 4096;
constexpr size_t kPayloadAlignment_bytes = 8;

// Throws InputError unless the address is ipc, or tcp on this machine.
void CheckAddress(const std::string& address) {
  if (address.starts_with("ipc://") && address.size() > 6) return;
  const bool loopback = address.starts_with("tcp://127.") || address.starts_with("tcp://localhost:");
  if (loopback && address.rfind(':') > 5) return;
  throw InputError("configuration", "wire.address", address,
                   "ipc:///path or tcp://127.0.0.1:port (other machines need encryption keys, which this build lacks)");
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

Event MakeEvent(Event::Kind kind, int connection, const std::string& problem = "") {
  Event event;
  event.kind = kind;
  event.connection = connection;
  event.problem = problem;
  return event;
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
      : address_(config.address), ring_(std::make_shared<RecordRing>(shape)), socket_(zmq::socket_type::dealer) {
    CheckAddress(address_);
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
    std::optional<ZmqSocket::Incoming> incoming = socket_.Receive(deadline);
    if (!incoming) return std::nullopt;
    if (incoming->parts.empty()) {
      socket_.SetLinger(0);
      return MakeEvent(Event::Kind::kClosed, 0);
    }
    return ToEvent(0, incoming->parts, 0);
  }

 private:
  SendResult Post(std::vector<zmq::message_t>& parts) {
    return socket_.Send(parts) == ZmqSocket::SendStatus::kSent ? SendResult::kSent : SendResult::kGone;
  }

  std::string address_;
  std::shared_ptr<RecordRing> ring_;
  ZmqSocket socket_;
};

class ZmqHub : public LearnerHub {
 public:
  explicit ZmqHub(const WireConfig& config) : socket_(zmq::socket_type::router) {
    CheckAddress(config.address);
    // libzmq would take the address over from a living listener.
    if (config.address.starts_with("ipc://") && UnixAddressIsLive(config.address.substr(6), SOCK_STREAM)) {
      throw InputError("configuration", "wire.address", config.address, "an address that is not in use");
    }
    socket_.Bind(config.address);
    address_ = socket_.LastEndpoint();
  }
  ~ZmqHub() override {
    if (address_.starts_with("ipc://")) UnlinkUnix(address_.substr(6));
  }

  std::string Address() const override { return address_; }

  std::optional<Event> Receive(Deadline deadline) override {
    while (std::optional<ZmqSocket::Incoming> incoming = socket_.Receive(deadline)) {
      if (incoming->parts.empty()) {
        if (std::optional<Event> event = CloseByFd(incoming->closed_fd)) return event;
        continue;
      }
      const int id = IdOf(incoming->parts[0]);
      if (id == 0) continue;
      return ToEvent(id, incoming->parts, 1);
    }
    return std::nullopt;
  }

  SendResult Send(int id, std::vector<std::byte> frame, std::span<const std::byte> payload, Deadline) override {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return SendResult::kGone;
    std::vector<zmq::message_t> parts;
    parts.emplace_back(found->second.routing_id.data(), found->second.routing_id.size());
    parts.push_back(ToMessage(frame));
    if (!payload.empty()) parts.push_back(ToMessage(payload));
    return socket_.Send(parts) == ZmqSocket::SendStatus::kSent ? SendResult::kSent : SendResult::kGone;
  }

  void TrySendAll(const std::vector<std::byte>& frame) override {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, connection] : connections_) {
      std::vector<zmq::message_t> parts;
      parts.emplace_back(connection.routing_id.data(), connection.routing_id.size());
      parts.push_back(ToMessage(frame));
      socket_.Send(parts);
    }
  }

  void Close(int id) override {
    const std::lock_guard lock(mutex_);
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    // libzmq keeps the connection itself until the other side closes it; nothing more is taken from it.
    closed_.insert(found->second.routing_id);
    ids_.erase(found->second.routing_id);
    connections_.erase(found);
  }

 private:
  struct Connection {
    std::string routing_id;
    int fd = -1;
  };

  // The connection's number; a new one when it has not been heard before, 0 when it is not wanted.
  int IdOf(zmq::message_t& routing_part) {
    const std::string routing_id = routing_part.to_string();
    const auto known = ids_.find(routing_id);
    if (known != ids_.end()) return known->second;
    if (closed_.contains(routing_id) || connections_.size() >= kMaxConnections) return 0;
    const std::lock_guard lock(mutex_);
    connections_[++last_id_] = {routing_id, ConnectionFd(routing_part)};
    ids_[routing_id] = last_id_;
    return last_id_;
  }

  std::optional<Event> CloseByFd(int fd) {
    for (const auto& [id, connection] : connections_) {
      if (connection.fd != fd) continue;
      const int closed_id = id;
      Close(closed_id);
      return MakeEvent(Event::Kind::kClosed, closed_id);
    }
    return std::nullopt;
  }

  ZmqSocket socket_;
  std::string address_;
  std::mutex mutex_;  // connections_ changes on the owner's thread under it; the heartbeat thread reads under it
  std::map<int, Connection> connections_;
  std::map<std::string, int> ids_;
  std::set<std::string> closed_;
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
