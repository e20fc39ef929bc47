#include "wire/zmq_socket.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "wire/message.h"

namespace gripstream {
namespace {

constexpr const char* kMonitorAddress = "inproc://monitor";
constexpr int kRefusals = ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;
constexpr int kWatchedEvents = ZMQ_EVENT_DISCONNECTED | kRefusals;
constexpr int kReconnect_ms = 20;  // between attempts while the learner does not listen yet

// Runs a libzmq call; its exceptions become ours.
template <class Call>
auto Checked(const char* what, Call call) {
  try {
    return call();
  } catch (const zmq::error_t& error) {
    throw RunError(std::string("ZeroMQ: ") + what + ": " + error.what());
  }
}

}  // namespace

ZmqSocket::ZmqSocket(zmq::socket_type type, const CurveIdentity& identity) {
  Checked("cannot make a socket", [&] {
    context_ = zmq::context_t(1);
    socket_ = zmq::socket_t(context_, type);
    socket_.set(zmq::sockopt::sndhwm, 0);
    socket_.set(zmq::sockopt::rcvhwm, 0);
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::reconnect_ivl, kReconnect_ms);
    socket_.set(zmq::sockopt::maxmsgsize, static_cast<int64_t>(kMaxPayload_bytes));
    if (type == zmq::socket_type::router) socket_.set(zmq::sockopt::router_mandatory, true);
    if (identity.Encrypts()) Encrypt(type, identity);
    if (zmq_socket_monitor(socket_.handle(), kMonitorAddress, kWatchedEvents) != 0) throw zmq::error_t();
    monitor_ = zmq::socket_t(context_, zmq::socket_type::pair);
    monitor_.connect(kMonitorAddress);
    socket_fd_ = socket_.get(zmq::sockopt::fd);
    return 0;
  });
  wake_fd_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_fd_) throw RunError(ErrnoText("cannot make an event descriptor"));
}

ZmqSocket::~ZmqSocket() {
  zmq_socket_monitor(socket_.handle(), nullptr, 0);
  monitor_.close();
  socket_.close();
  gate_.reset();  // what lingers is still sent by the next line
  context_.close();
}

void ZmqSocket::Encrypt(zmq::socket_type type, const CurveIdentity& identity) {
  socket_.set(zmq::sockopt::curve_secretkey, identity.secret_key);
  if (type == zmq::socket_type::router) {
    gate_ = std::make_unique<CurveGate>(context_, identity.allowed);
    socket_.set(zmq::sockopt::curve_server, true);
    socket_.set(zmq::sockopt::zap_domain, "gripstream");
  } else {
    socket_.set(zmq::sockopt::curve_publickey, PublicKeyOf(identity.secret_key, "wire.curve.keys"));
    socket_.set(zmq::sockopt::curve_serverkey, identity.learner_key);
  }
}

void ZmqSocket::Bind(const std::string& address) {
  try {
    socket_.bind(address);
  } catch (const zmq::error_t& error) {
    const std::string expected = error.num() == EADDRINUSE ? "an address that is not in use" : "a usable address";
    throw InputError("configuration", "wire.address", address, expected + " (" + error.what() + ")");
  }
}

void ZmqSocket::Connect(const std::string& address) {
  try {
    socket_.connect(address);
  } catch (const zmq::error_t& error) {
    throw InputError("configuration", "wire.address", address, std::string("a usable address (") + error.what() + ")");
  }
}

std::string ZmqSocket::LastEndpoint() {
  return socket_.get(zmq::sockopt::last_endpoint);
}

void ZmqSocket::SetLinger(int milliseconds) {
  const std::lock_guard lock(mutex_);
  socket_.set(zmq::sockopt::linger, milliseconds);
}

ZmqSocket::SendStatus ZmqSocket::Send(std::vector<zmq::message_t>& parts) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < parts.size(); ++i) {
    const int flags = ZMQ_DONTWAIT | (i + 1 < parts.size() ? ZMQ_SNDMORE : 0);
    if (zmq_msg_send(parts[i].handle(), socket_.handle(), flags) >= 0) continue;
    const int code = zmq_errno();
    // Only the first part can find nobody; without a high-water mark nothing else makes a send wait.
    if (i == 0 && (code == EHOSTUNREACH || code == EAGAIN)) return SendStatus::kUnroutable;
    throw RunError(std::string("ZeroMQ: cannot send: ") + zmq_strerror(code));
  }
  if (socket_.get(zmq::sockopt::events) & ZMQ_POLLIN) Wake();
  return SendStatus::kSent;
}

void ZmqSocket::Wake() {
  const uint64_t one = 1;
  // A full counter has woken the reader already.
  [[maybe_unused]] const ssize_t written = write(wake_fd_.Get(), &one, sizeof(one));
}

std::optional<ZmqSocket::Incoming> ZmqSocket::Receive(Deadline deadline) {
  Incoming incoming;
  for (;;) {
    const bool received = TryReceive(incoming);
    ReadMonitor(incoming);
    if (received || incoming.refused || incoming.ended > 0) return incoming;
    if (deadline.Passed()) return std::nullopt;
    Wait(deadline);
  }
}

bool ZmqSocket::TryReceive(Incoming& incoming) {
  const std::lock_guard lock(mutex_);
  zmq::message_t part;
  if (!Checked("cannot receive", [&] { return socket_.recv(part, zmq::recv_flags::dontwait); })) return false;
  incoming.parts.push_back(std::move(part));
  while (incoming.parts.back().more()) {
    // The parts of a message arrive together.
    zmq::message_t next;
    if (!Checked("cannot receive", [&] { return socket_.recv(next, zmq::recv_flags::dontwait); })) break;
    incoming.parts.push_back(std::move(next));
  }
  return true;
}

void ZmqSocket::ReadMonitor(Incoming& incoming) {
  zmq::message_t event;
  while (Checked("cannot watch connections", [&] { return monitor_.recv(event, zmq::recv_flags::dontwait); })) {
    // Two parts: event number (16 bits) with its value (32 bits), then the address.
    if (event.more() && event.size() == 6) {
      uint16_t what = 0;
      std::memcpy(&what, event.data<char>(), sizeof(what));
      if (what == ZMQ_EVENT_DISCONNECTED) ++incoming.ended;
      if (what & kRefusals) incoming.refused = true;
    }
  }
}

void ZmqSocket::Wait(Deadline deadline) {
  pollfd waiting[] = {
      {socket_fd_, POLLIN, 0}, {monitor_.get(zmq::sockopt::fd), POLLIN, 0}, {wake_fd_.Get(), POLLIN, 0}};
  {
    // The descriptor signals changes, not states: what is there already must be seen before sleeping.
    const std::lock_guard lock(mutex_);
    if (socket_.get(zmq::sockopt::events) & ZMQ_POLLIN) return;
  }
  if (monitor_.get(zmq::sockopt::events) & ZMQ_POLLIN) return;
  poll(waiting, 3, std::min(deadline.RemainingMilliseconds(), 1'000'000));
  uint64_t count;
  [[maybe_unused]] const ssize_t bytes = read(wake_fd_.Get(), &count, sizeof(count));
}

}  // namespace gripstream
