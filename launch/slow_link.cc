#include "launch/slow_link.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <vector>

#include "core/error.h"

namespace gripstream {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kTun[] = "/dev/net/tun";
constexpr int kMtu_bytes = 32000;  // few packets: the relay shares its processors with what is measured
constexpr int kLongestWait_ms = 50;

void Control(int fd, unsigned long request, void* argument, const char* what) {
  if (ioctl(fd, request, argument) != 0) throw RunError(ErrnoText(what));
}

sockaddr Address(const std::string& text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  sockaddr generic;
  std::memcpy(&generic, &address, sizeof(generic));
  return generic;
}

void BringUp(int fd, const char* name, const std::string& address) {
  ifreq request{};
  std::snprintf(request.ifr_name, IFNAMSIZ, "%s", name);
  if (!address.empty()) {
    request.ifr_addr = Address(address);
    Control(fd, SIOCSIFADDR, &request, "no address for the link");
    request.ifr_netmask = Address("255.255.255.0");
    Control(fd, SIOCSIFNETMASK, &request, "no network for the link");
    request.ifr_mtu = kMtu_bytes;
    Control(fd, SIOCSIFMTU, &request, "no packet size for the link");
  }
  Control(fd, SIOCGIFFLAGS, &request, "the link does not come up");
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
  Control(fd, SIOCSIFFLAGS, &request, "the link does not come up");
}

struct Packet {
  std::vector<char> bytes;
  Clock::time_point due;
};

Clock::duration Seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// A packet leaves when those before it have, takes its length's time, and arrives after the delay.
void Relay(const std::stop_token& stop, int from, int to, const LinkOptions& options) {
  std::deque<Packet> under_way;
  std::vector<char> buffer(size_t{1} << 16);
  Clock::time_point free = Clock::now();
  while (!stop.stop_requested()) {
    timespec wait{0, kLongestWait_ms * 1000000L};
    if (!under_way.empty()) {
      const auto left = std::max(Clock::duration::zero(), under_way.front().due - Clock::now());
      wait.tv_nsec = std::min<long>(wait.tv_nsec, std::chrono::duration_cast<std::chrono::nanoseconds>(left).count());
    }
    pollfd waiting{from, POLLIN, 0};
    ppoll(&waiting, 1, &wait, nullptr);
    const ssize_t count = read(from, buffer.data(), buffer.size());
    if (count > 0) {
      free = std::max(free, Clock::now()) + Seconds(static_cast<double>(count) * 8 / options.bits_per_s);
      under_way.push_back({{buffer.begin(), buffer.begin() + count}, free + Seconds(options.delay_s)});
    }
    while (!under_way.empty() && under_way.front().due <= Clock::now()) {
      // What the other end's queue has no room for is lost, as on any network.
      [[maybe_unused]] const ssize_t sent = write(to, under_way.front().bytes.data(), under_way.front().bytes.size());
      under_way.pop_front();
    }
  }
}

}  // namespace

std::string WhyNoSlowLink() {
  if (geteuid() != 0) return "network namespaces need root";
  return std::filesystem::exists(kTun) ? "" : std::string("there is no ") + kTun;
}

UniqueFd EnterSlowNetwork(int side) {
  if (unshare(CLONE_NEWNET) != 0) throw RunError(ErrnoText("no network namespace"));
  UniqueFd tun(open(kTun, O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!tun) throw RunError(ErrnoText(kTun));
  ifreq request{};
  std::snprintf(request.ifr_name, IFNAMSIZ, "slow0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  Control(tun.Get(), TUNSETIFF, &request, "no TUN device");
  const UniqueFd socket_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  BringUp(socket_fd.Get(), "lo", "");
  BringUp(socket_fd.Get(), "slow0", "10.78.0." + std::to_string(side + 1));
  return tun;
}

SlowLink::SlowLink(UniqueFd a, UniqueFd b, const LinkOptions& options) : ends_{std::move(a), std::move(b)} {
  for (size_t i = 0; i < 2; ++i) {
    const int from = ends_[i].Get(), to = ends_[1 - i].Get();
    threads_[i] = std::jthread([from, to, options](const std::stop_token& stop) { Relay(stop, from, to, options); });
  }
}

}  // namespace gripstream
