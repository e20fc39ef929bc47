// One end of the robot interface: messages of deploy/robot_messages.h out and in.
//
//   tcp://HOST:PORT, ipc://PATH   ZeroMQ: the robot binds both addresses, the runner connects
//   shm:FILE, the same for both   a file that both map (deploy/shared_link.h)
//
// The newest message counts, so none is waited for by its sender. One thread at a time. Throws InputError for addresses
// that cannot be used, RunError when the transport fails.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/deadline.h"
#include "deploy/robot_messages.h"

namespace gripstream {

class RobotLink {
 public:
  virtual ~RobotLink() = default;
  virtual void Send(std::span<const std::byte> head, std::span<const std::byte> rest) = 0;
  // The next message; false when none has come by the deadline.
  virtual bool Receive(Deadline deadline, std::vector<std::byte>& message) = 0;
  // Whether the other end went away since this was last asked.
  virtual bool Lost() = 0;

  // A message without anything behind its structure.
  template <class Message>
  void Send(const Message& message) {
    Send(std::as_bytes(std::span(&message, 1)), {});
  }
};

// Where to meet. Beyond this machine addresses must be in the trusted network: nothing is encrypted.
struct RobotAddresses {
  std::string states, targets, trusted_network;
};

// Throws InputError for what is no address of ZeroMQ, and for one beyond this machine that is not trusted.
void CheckAddresses(const RobotAddresses& addresses);

std::unique_ptr<RobotLink> RunnerLink(const RobotAddresses& addresses);
std::unique_ptr<RobotLink> RobotsOwnLink(const RobotAddresses& addresses);

// A message's structure, when it is of that kind, version and size; a frame's pixels follow it.
template <class Message>
bool ReadMessage(std::span<const std::byte> bytes, const char* kind, Message& message) {
  if (bytes.size() < sizeof(Message)) return false;
  std::memcpy(&message, bytes.data(), sizeof(Message));
  return IsKind(message.head, kind);
}

}  // namespace gripstream
