// Unix-domain packet sockets (SOCK_SEQPACKET): whole messages in order, an open file passed beside a message, and the
// end of a peer's process seen at once.
//
// An address is a path, or "@name" in the abstract namespace, which vanishes with its owner. Functions are thread-safe
// for different descriptors; sending and receiving on one descriptor from two threads is safe too. A malformed address
// or one in use throws InputError, a failure of the machine RunError.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "core/deadline.h"

namespace gripstream {

// Owns an open file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() { Reset(); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int Get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void Reset();

 private:
  int fd_ = -1;
};

// "description: reason" for the current errno.
std::string ErrnoText(const std::string& description);

// Waits until `fd` can be read; false when the deadline passes first.
bool WaitReadable(int fd, Deadline deadline);

// A non-blocking listening socket. The file a dead listener left at the path is replaced; a live one is "in use".
UniqueFd ListenUnix(const std::string& address, int type);
// Throws InputError when somebody listens at the address now, or a file that is no socket lies there.
void CheckUnixAddressIsFree(const std::string& address, int type);
// Tries until somebody listens; RunError at the deadline.
UniqueFd ConnectUnix(const std::string& address, Deadline deadline);
// The next waiting connection of our own user, or an invalid descriptor when there is none.
UniqueFd AcceptUnix(int listener);
// Removes the socket's file, if it has one.
void UnlinkUnix(const std::string& address);

enum class PacketResult { kDone, kWouldBlock, kClosed, kTooLong };

// Sends one packet without blocking; `passed_fd` travels with it when it is valid (>= 0).
PacketResult SendPacket(int fd, std::span<const std::byte> packet, int passed_fd);
// Whether the reader is far behind: then heartbeats are better left out, so that what matters always finds room.
bool HasBacklog(int fd);
// Receives one packet into `buffer`; `bytes` is its length. A descriptor that came with it lands in `passed`.
PacketResult ReceivePacket(int fd, std::span<std::byte> buffer, size_t& bytes, UniqueFd& passed);

}  // namespace gripstream
