// One ZeroMQ socket with what both ends of the zmq transport need around it: use from two threads, waits with a
// deadline, and news of connections that ended. Wire's door to libzmq.
//
// Thread rule: Send may be called from any thread (a mutex guards the socket); Receive from the owner's only.
// High-water marks are off: credits bound what is in flight, so libzmq has nothing to drop. libzmq failing throws
// RunError.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "core/deadline.h"
#include "wire/unix_socket.h"

namespace gripstream {

class ZmqSocket {
 public:
  enum class SendStatus { kSent, kUnroutable };

  // A multi-part message, or the end of the connection with descriptor `closed_fd` (when parts is empty).
  struct Incoming {
    std::vector<zmq::message_t> parts;
    int closed_fd = -1;
  };

  explicit ZmqSocket(zmq::socket_type type);
  ~ZmqSocket();
  ZmqSocket(const ZmqSocket&) = delete;
  ZmqSocket& operator=(const ZmqSocket&) = delete;

  void Bind(const std::string& address);     // InputError when it cannot be had
  void Connect(const std::string& address);  // returns at once; libzmq goes on trying
  std::string LastEndpoint();
  SendStatus Send(std::vector<zmq::message_t>& parts);
  std::optional<Incoming> Receive(Deadline deadline);
  // Whether closing may wait for unsent messages.
  void SetLinger(int milliseconds);

 private:
  using Clock = std::chrono::steady_clock;
  struct EndedConnection {
    int fd;
    Clock::time_point report_at;
  };
  bool TryReceive(Incoming& incoming);
  void ReadMonitor();
  void Wait(Deadline deadline);
  void Wake();

  zmq::context_t context_;
  zmq::socket_t monitor_;
  std::mutex mutex_;
  zmq::socket_t socket_;  // guarded by mutex_
  int socket_fd_;
  UniqueFd wake_fd_;  // the other thread's send may have swallowed the socket's signal: it passes it on here
  std::deque<EndedConnection> ended_;
};

// The descriptor of the connection that a message came over; -1 when libzmq does not say.
int ConnectionFd(zmq::message_t& message);

}  // namespace gripstream
