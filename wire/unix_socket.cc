#include "wire/unix_socket.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/error.h"
#include "core/log.h"

namespace gripstream {
namespace {

constexpr int kBacklog = 256;
constexpr int kBacklog_bytes = 65536;  // below a third of the usual socket buffer, as the kernel counts
constexpr auto kConnectRetry = std::chrono::milliseconds(10);

struct UnixAddress {
  sockaddr_un address{};
  socklen_t bytes = 0;
  const sockaddr* Get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

UnixAddress ToSockaddr(const std::string& text) {
  UnixAddress out;
  out.address.sun_family = AF_UNIX;
  const bool abstract = !text.empty() && text[0] == '@';
  // One byte stays for the terminating zero of a path.
  if (text.size() < (abstract ? 2 : 1) || text.size() >= sizeof(out.address.sun_path)) {
    throw InputError(
        "configuration", "wire.address", text,
        "a socket path or @name of at most " + std::to_string(sizeof(out.address.sun_path) - 1) + " characters");
  }
  std::memcpy(out.address.sun_path, text.data(), text.size());
  if (abstract) out.address.sun_path[0] = '\0';
  out.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size() + (abstract ? 0 : 1));
  return out;
}

UniqueFd MakeSocket(int type) {
  UniqueFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) throw RunError(ErrnoText("cannot make a Unix socket"));
  return fd;
}

bool SameUser(int fd) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

}  // namespace

void UniqueFd::Reset() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

std::string ErrnoText(const std::string& description) {
  return description + ": " + std::strerror(errno);
}

bool WaitReadable(int fd, Deadline deadline) {
  for (;;) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, std::min(deadline.RemainingMilliseconds(), 1'000'000));
    if (ready > 0) return true;
    if (deadline.Passed()) return false;
  }
}

void CheckUnixAddressIsFree(const std::string& address, int type) {
  const UnixAddress where = ToSockaddr(address);
  struct stat status {};
  if (address[0] != '@' && lstat(address.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode)) {
    throw InputError("configuration", "wire.address", address, "a path where no other file lies");
  }
  const UniqueFd probe = MakeSocket(type);
  // A full backlog (EAGAIN) has a listener too, and so has a socket of another type (EPROTOTYPE).
  if (connect(probe.Get(), where.Get(), where.bytes) == 0 || errno == EAGAIN || errno == EPROTOTYPE) {
    throw InputError("configuration", "wire.address", address, "an address that is not in use");
  }
}

UniqueFd ListenUnix(const std::string& address, int type) {
  const UnixAddress where = ToSockaddr(address);
  UniqueFd fd = MakeSocket(type);
  int bound = bind(fd.Get(), where.Get(), where.bytes);
  if (bound != 0 && errno == EADDRINUSE) {
    CheckUnixAddressIsFree(address, type);
    UnlinkUnix(address);
    bound = bind(fd.Get(), where.Get(), where.bytes);
  }
  if (bound != 0) {
    throw InputError("configuration", "wire.address", address, "a usable address (" + ErrnoText("bind") + ")");
  }
  if (listen(fd.Get(), kBacklog) != 0) throw RunError(ErrnoText("cannot listen at " + address));
  return fd;
}

UniqueFd ConnectUnix(const std::string& address, Deadline deadline) {
  const UnixAddress where = ToSockaddr(address);
  for (;;) {
    UniqueFd fd = MakeSocket(SOCK_SEQPACKET);
    if (connect(fd.Get(), where.Get(), where.bytes) == 0) return fd;
    if (errno != ENOENT && errno != ECONNREFUSED && errno != EAGAIN) {
      throw RunError(ErrnoText("cannot connect to the learner at " + address));
    }
    if (deadline.Passed()) throw RunError(ErrnoText("no learner listens at " + address));
    std::this_thread::sleep_for(kConnectRetry);
  }
}

UniqueFd AcceptUnix(int listener) {
  UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd) {
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
      throw RunError(ErrnoText("cannot accept a connection"));
    return fd;
  }
  if (SameUser(fd.Get())) return fd;
  LogWarning("closed a connection of another user");
  return {};
}

void UnlinkUnix(const std::string& address) {
  if (!address.empty() && address[0] != '@') unlink(address.c_str());
}

PacketResult SendPacket(int fd, std::span<const std::byte> packet, int passed_fd) {
  iovec data{const_cast<std::byte*>(packet.data()), packet.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (passed_fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &passed_fd, sizeof(int));
  }
  for (;;) {
    if (sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return PacketResult::kDone;
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == ENOBUFS) return PacketResult::kWouldBlock;
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) return PacketResult::kClosed;
    throw RunError(ErrnoText("cannot send to a peer"));
  }
}

bool HasBacklog(int fd) {
  int unread_bytes = 0;
  return ioctl(fd, SIOCOUTQ, &unread_bytes) == 0 && unread_bytes > kBacklog_bytes;
}

PacketResult ReceivePacket(int fd, std::span<std::byte> buffer, size_t& bytes, UniqueFd& passed) {
  iovec data{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t received;
  // A peer that closed with messages of ours unread resets the connection; what it had sent before is still there after
  // the reset has been reported once.
  bool was_reset = false;
  do {
    received = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (received < 0 && (errno == EINTR || (errno == ECONNRESET && !std::exchange(was_reset, true))));
  if (received < 0) return errno == EAGAIN && !was_reset ? PacketResult::kWouldBlock : PacketResult::kClosed;
  const cmsghdr* rights = CMSG_FIRSTHDR(&message);
  if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
    int fd_received = -1;
    std::memcpy(&fd_received, CMSG_DATA(rights), sizeof(int));
    passed = UniqueFd(fd_received);
  }
  if (received == 0) return PacketResult::kClosed;
  bytes = static_cast<size_t>(received);
  return (message.msg_flags & MSG_TRUNC) ? PacketResult::kTooLong : PacketResult::kDone;
}

}  // namespace gripstream
