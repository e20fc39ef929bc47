#include "wire/pub_sub.h"

#include <poll.h>

#include <cerrno>
#include <cstring>
#include <zmq.hpp>

#include "core/error.h"

namespace gripstream {
namespace {

constexpr int kMostWaiting = 256;  // messages in either direction; older ones make way
constexpr int kReconnect_ms = 20;
constexpr int kLinger_ms = 500;  // a last message may still leave
constexpr const char* kMonitorAddress = "inproc://subscriber-monitor";

template <class Call>
auto Checked(const char* what, Call call) {
  try {
    return call();
  } catch (const zmq::error_t& error) {
    throw RunError(std::string("ZeroMQ: ") + what + ": " + error.what());
  }
}

void Attach(zmq::socket_t& socket, const std::string& address, Side side) {
  try {
    socket.set(zmq::sockopt::sndhwm, kMostWaiting);
    socket.set(zmq::sockopt::rcvhwm, kMostWaiting);
    socket.set(zmq::sockopt::linger, kLinger_ms);
    socket.set(zmq::sockopt::reconnect_ivl, kReconnect_ms);
    if (side == Side::kBind)
      socket.bind(address);
    else
      socket.connect(address);
  } catch (const zmq::error_t& error) {
    throw InputError(
        "robot interface", "address", address,
        std::string("one that can be ") + (side == Side::kBind ? "bound" : "connected to") + " (" + error.what() + ")");
  }
}

}  // namespace

struct Publisher::State {
  zmq::context_t context{1};
  zmq::socket_t socket{context, zmq::socket_type::pub};
};

Publisher::Publisher(const std::string& address, Side side)
    : state_(Checked("cannot make a socket", [] { return std::make_unique<State>(); })) {
  Attach(state_->socket, address, side);
}

Publisher::~Publisher() = default;

void Publisher::Send(std::span<const std::byte> head, std::span<const std::byte> rest) {
  Checked("cannot send", [&] {
    zmq::message_t message(head.size() + rest.size());
    std::memcpy(message.data(), head.data(), head.size());
    if (!rest.empty()) std::memcpy(static_cast<std::byte*>(message.data()) + head.size(), rest.data(), rest.size());
    state_->socket.send(message, zmq::send_flags::dontwait);
    return 0;
  });
}

struct Subscriber::State {
  zmq::context_t context{1};
  zmq::socket_t socket{context, zmq::socket_type::sub};
  zmq::socket_t monitor{context, zmq::socket_type::pair};
};

Subscriber::Subscriber(const std::string& address, Side side, const std::vector<std::string>& kinds)
    : state_(Checked("cannot make a socket", [] { return std::make_unique<State>(); })) {
  Checked("cannot subscribe", [&] {
    for (const std::string& kind : kinds) state_->socket.set(zmq::sockopt::subscribe, kind);
    if (zmq_socket_monitor(state_->socket.handle(), kMonitorAddress, ZMQ_EVENT_DISCONNECTED) != 0) throw zmq::error_t();
    state_->monitor.connect(kMonitorAddress);
    return 0;
  });
  Attach(state_->socket, address, side);
}

Subscriber::~Subscriber() {
  zmq_socket_monitor(state_->socket.handle(), nullptr, 0);
}

bool Subscriber::Receive(Deadline deadline, std::vector<std::byte>& message) {
  return Checked("cannot receive", [&] {
    for (;;) {
      zmq::message_t part;
      if (state_->socket.recv(part, zmq::recv_flags::dontwait)) {
        const auto* data = static_cast<const std::byte*>(part.data());
        message.assign(data, data + part.size());
        return true;
      }
      if (deadline.Passed()) return false;
      zmq_pollitem_t item{state_->socket.handle(), 0, ZMQ_POLLIN, 0};
      if (zmq_poll(&item, 1, deadline.RemainingMilliseconds()) < 0 && errno == EINTR) return false;
    }
  });
}

int Subscriber::Ended() {
  return Checked("cannot watch connections", [&] {
    int ended = 0;
    for (zmq::message_t event; state_->monitor.recv(event, zmq::recv_flags::dontwait);) {
      ended += !event.more();  // the address is the second and last part
    }
    return ended;
  });
}

}  // namespace gripstream
