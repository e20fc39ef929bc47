// IPv4 networks: which of this machine's addresses lies in one, and whether somebody listens at an address.
//
// A network is "10.0.0.0/24", all machines of a cluster write the same one, and each finds its own address in it.
// Plain functions; no thread rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/deadline.h"

namespace gripstream {

struct Network {
  uint32_t address = 0;  // host byte order; bits behind the prefix are ignored
  int prefix = 32;       // bits
  bool Contains(uint32_t other) const;
  // Whether all of it is this machine's loopback.
  bool IsLoopback() const;
};

// Nothing when the text is no such network.
std::optional<Network> ParseNetwork(const std::string& text);

// This machine's address in the network, "10.0.0.7"; of several, the numerically least. Throws RunError listing what
// addresses there are when none is.
std::string OwnAddressIn(const std::string& network);

// The network of the interface through which `host` (a name or an address) is reached directly, "10.0.0.0/24": that of
// the interface whose network contains it. Nothing when the name is unknown or no interface is in its network.
std::optional<std::string> NetworkOf(const std::string& host);

// Why no TCP connection to "host:port" comes about; empty when it does.
std::string WhyNotReach(const std::string& host, int port, Deadline deadline);

}  // namespace gripstream
