// A slow network link on one machine: two network namespaces, each behind a TUN device, and a relay that lets packets
// through at a rate and after a delay of our choice.
//
//   process 0 (10.78.0.1) -- TUN -- SlowLink in a third process -- TUN -- process 1 (10.78.0.2)
//
// Both ends and their network vanish with their processes. Needs root and /dev/net/tun. Throws RunError.
#pragma once

#include <array>
#include <string>
#include <thread>

#include "wire/unix_socket.h"

namespace gripstream {

inline constexpr char kSlowNetwork[] = "10.78.0.0/24";

// Empty, or why there can be no such link here.
std::string WhyNoSlowLink();

// Moves the calling process, which must have one thread only, into a network of its own with the address of `side` (0
// or 1). Returns the other end of its wire, which belongs into a SlowLink.
UniqueFd EnterSlowNetwork(int side);

struct LinkOptions {
  double bits_per_s = 1e9;
  double delay_s = 1e-3;  // each way
};

// Relays both ways on threads of its own, as long as it lives.
class SlowLink {
 public:
  SlowLink(UniqueFd a, UniqueFd b, const LinkOptions& options);

 private:
  std::array<UniqueFd, 2> ends_;
  std::array<std::jthread, 2> threads_;  // last: they use the ends
};

}  // namespace gripstream
