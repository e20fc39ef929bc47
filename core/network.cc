#include "core/network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <vector>

#include "core/error.h"

namespace gripstream {
namespace {

struct Own {
  uint32_t address, mask;  // host byte order
};

std::vector<Own> OwnAddresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) throw RunError(std::string("no list of network interfaces: ") + std::strerror(errno));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> guard(first, &freeifaddrs);
  const auto number = [](const sockaddr* address) {
    return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
  };
  std::vector<Own> own;
  for (const ifaddrs* i = first; i; i = i->ifa_next) {
    if (i->ifa_addr && i->ifa_netmask && i->ifa_addr->sa_family == AF_INET) {
      own.push_back({number(i->ifa_addr), number(i->ifa_netmask)});
    }
  }
  return own;
}

std::string ToText(uint32_t address) {
  const in_addr network_order{htonl(address)};
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &network_order, text, sizeof(text));
  return text;
}

uint32_t Mask(int prefix) {
  return prefix == 0 ? 0 : ~uint32_t{0} << (32 - prefix);
}

std::optional<uint32_t> Resolve(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return std::nullopt;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> guard(found, &freeaddrinfo);
  return ntohl(reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr.s_addr);
}

}  // namespace

bool Network::Contains(uint32_t other) const {
  return ((address ^ other) & Mask(prefix)) == 0;
}

bool Network::IsLoopback() const {
  return prefix >= 8 && address >> 24 == 127;
}

std::optional<Network> ParseNetwork(const std::string& text) {
  const size_t slash = text.find('/');
  in_addr address{};
  if (slash == std::string::npos || inet_pton(AF_INET, text.substr(0, slash).c_str(), &address) != 1)
    return std::nullopt;
  Network network{ntohl(address.s_addr), 0};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + slash + 1, end, network.prefix);
  if (error != std::errc() || rest != end || network.prefix < 1 || network.prefix > 32) return std::nullopt;
  return network;
}

std::string OwnAddressIn(const std::string& text) {
  const std::optional<Network> network = ParseNetwork(text);
  GS_CHECK(network.has_value(), text + " is no network");
  std::vector<Own> own = OwnAddresses();
  std::sort(own.begin(), own.end(), [](const Own& a, const Own& b) { return a.address < b.address; });
  std::string all;
  for (const Own& o : own) {
    if (network->Contains(o.address)) return ToText(o.address);
    all += (all.empty() ? "" : ", ") + ToText(o.address);
  }
  throw RunError("this machine has no address in " + text + "; it has " + (all.empty() ? "none" : all));
}

std::optional<std::string> NetworkOf(const std::string& host) {
  const std::optional<uint32_t> address = Resolve(host);
  if (!address) return std::nullopt;
  for (const Own& own : OwnAddresses()) {
    if (((own.address ^ *address) & own.mask) != 0) continue;
    return ToText(own.address & own.mask) + "/" + std::to_string(std::popcount(own.mask));
  }
  return std::nullopt;
}

std::string WhyNotReach(const std::string& host, int port, Deadline deadline) {
  const std::optional<uint32_t> number = Resolve(host);
  if (!number) return "the name is unknown";
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return std::strerror(errno);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(*number);
  address.sin_port = htons(static_cast<uint16_t>(port));
  int error = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd waiting{fd, POLLOUT, 0};
    error = ETIMEDOUT;
    socklen_t size = sizeof(error);
    if (poll(&waiting, 1, deadline.RemainingMilliseconds()) == 1) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  close(fd);
  return error == 0 ? "" : std::strerror(error);
}

}  // namespace gripstream
