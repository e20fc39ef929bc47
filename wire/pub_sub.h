// ZeroMQ publish and subscribe for data of which only the newest counts: a slow or absent receiver loses messages,
// never time. For the robot interface; experience goes through wire/transport.h, which loses nothing.
//
// A message is one part: a head and what follows it. One thread at a time. libzmq failing throws RunError, an address
// that cannot be had InputError.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/deadline.h"

namespace gripstream {

// The end that offers an address binds; others connect, and go on trying for as long as nobody is there.
enum class Side { kBind, kConnect };

class Publisher {
 public:
  Publisher(const std::string& address, Side side);
  ~Publisher();
  void Send(std::span<const std::byte> head, std::span<const std::byte> rest = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class Subscriber {
 public:
  // Takes messages that begin with one of `kinds`.
  Subscriber(const std::string& address, Side side, const std::vector<std::string>& kinds);
  ~Subscriber();
  // The next message; false when none has come by the deadline.
  bool Receive(Deadline deadline, std::vector<std::byte>& message);
  // Connections that have ended since it was last asked.
  int Ended();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gripstream
