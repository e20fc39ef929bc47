// Decides who gets past a CURVE handshake: the handler that libzmq asks (ZAP, RFC 27) before it takes a connection.
//
// One thread of its own, as long as the gate lives. Make it before the listening socket binds; its end shuts the
// context down, so the context's other sockets are closed before. libzmq failing throws zmq::error_t.
#pragma once

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <zmq.hpp>

namespace gripstream {

class CurveGate {
 public:
  // `allowed`: public keys in their 40-character text form.
  CurveGate(zmq::context_t& context, const std::vector<std::string>& allowed);
  ~CurveGate();
  CurveGate(const CurveGate&) = delete;
  CurveGate& operator=(const CurveGate&) = delete;

 private:
  void Run();
  void Answer();

  zmq::context_t& context_;
  std::set<std::string> allowed_;  // 32 bytes each
  zmq::socket_t socket_;           // of the thread, once it runs
  int warnings_ = 0;
  std::thread thread_;
};

}  // namespace gripstream
