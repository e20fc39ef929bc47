// One ZeroMQ socket with what both ends of the zmq transport need around it: use from two threads, waits with a
// deadline, and news of connections that ended. Wire's door to libzmq.
//
// Thread rule: Send may be called from any thread (a mutex guards the socket); Receive from the owner's only.
// High-water marks are off: credits bound what is in flight, so libzmq has nothing to drop. libzmq failing throws
// RunError.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "core/deadline.h"
#include "wire/curve_gate.h"
#include "wire/curve_keys.h"
#include "wire/unix_socket.h"

namespace gripstream {

class ZmqSocket {
 public:
  enum class SendStatus { kSent, kUnroutable };

  // News of connections, and a multi-part message unless there is only news. libzmq reports an end before it hands
  // over the last messages that came through the connection, and does not say whose end it was: descriptors are used
  // again.
  struct Incoming {
    int ended = 0;         // connections that ended
    bool refused = false;  // our key is unknown to the peer, or encryption fits only one side
    std::vector<zmq::message_t> parts;
  };

  // A router listens and lets in whom its identity allows; a dealer connects. Without an identity nothing is encrypted.
  ZmqSocket(zmq::socket_type type, const CurveIdentity& identity);
  ~ZmqSocket();
  ZmqSocket(const ZmqSocket&) = delete;
  ZmqSocket& operator=(const ZmqSocket&) = delete;

  void Bind(const std::string& address);     // InputError when it cannot be had
  void Connect(const std::string& address);  // returns at once; libzmq goes on trying
  std::string LastEndpoint();
  SendStatus Send(std::vector<zmq::message_t>& parts);
  std::optional<Incoming> Receive(Deadline deadline);
  // How long closing may wait for unsent messages; 0 until set.
  void SetLinger(int milliseconds);

 private:
  void Encrypt(zmq::socket_type type, const CurveIdentity& identity);
  bool TryReceive(Incoming& incoming);
  void ReadMonitor(Incoming& incoming);
  void Wait(Deadline deadline);
  void Wake();

  zmq::context_t context_;
  std::unique_ptr<CurveGate> gate_;  // of a router that encrypts
  zmq::socket_t monitor_;
  std::mutex mutex_;
  zmq::socket_t socket_;  // guarded by mutex_
  int socket_fd_;
  UniqueFd wake_fd_;  // the other thread's send may have swallowed the socket's signal: it passes it on here
};

}  // namespace gripstream
