#include "deploy/robot_link.h"

#include <arpa/inet.h>

#include <optional>

#include "core/error.h"
#include "core/network.h"
#include "deploy/shared_link.h"
#include "wire/pub_sub.h"

namespace gripstream {
namespace {

// The numeric IPv4 address in tcp://HOST:PORT, host byte order.
std::optional<uint32_t> HostOf(const std::string& address) {
  constexpr std::string_view kTcp = "tcp://";
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon < kTcp.size()) return std::nullopt;
  const std::string host = address.substr(kTcp.size(), colon - kTcp.size());
  in_addr number{};
  if (inet_pton(AF_INET, host.c_str(), &number) != 1) return std::nullopt;
  return ntohl(number.s_addr);
}

constexpr std::string_view kShared = "shm:";

// Both directions through one file, or neither.
bool IsShared(const RobotAddresses& addresses) {
  const bool states = addresses.states.starts_with(kShared), targets = addresses.targets.starts_with(kShared);
  if (states != targets || (states && addresses.states != addresses.targets))
    throw InputError("robot interface", "targets", addresses.targets, "the same shm: file as states");
  return states;
}

void CheckAddress(const std::string& key, const std::string& address, const std::string& trusted) {
  if (address.starts_with("ipc://")) return;
  const std::optional<uint32_t> host = address.starts_with("tcp://") ? HostOf(address) : std::nullopt;
  if (!host) throw InputError("robot interface", key, address, "tcp://IPV4:PORT, ipc://PATH or shm:FILE");
  if (Network{0x7f000000, 8}.Contains(*host)) return;
  const std::optional<Network> network = ParseNetwork(trusted);
  if (!network || !network->Contains(*host))
    throw InputError("robot interface", key, address,
                     "an address of this machine, or one in trusted_network: nothing is encrypted");
}

class ZmqLink final : public RobotLink {
 public:
  ZmqLink(const std::string& out, const std::string& in, Side side, const std::vector<std::string>& kinds)
      : publisher_(out, side), subscriber_(in, side, kinds) {}

  void Send(std::span<const std::byte> head, std::span<const std::byte> rest) override { publisher_.Send(head, rest); }
  bool Receive(Deadline deadline, std::vector<std::byte>& message) override {
    return subscriber_.Receive(deadline, message);
  }
  bool Lost() override { return subscriber_.Ended() > 0; }

 private:
  Publisher publisher_;
  Subscriber subscriber_;
};

}  // namespace

void CheckAddresses(const RobotAddresses& addresses) {
  CheckAddress("states", addresses.states, addresses.trusted_network);
  CheckAddress("targets", addresses.targets, addresses.trusted_network);
}

std::unique_ptr<RobotLink> RunnerLink(const RobotAddresses& addresses) {
  if (IsShared(addresses)) return SharedRunnerLink(addresses.states.substr(kShared.size()));
  CheckAddresses(addresses);
  return std::make_unique<ZmqLink>(addresses.targets, addresses.states, Side::kConnect,
                                   std::vector<std::string>{kJointStatesKind, kCameraFrameKind});
}

std::unique_ptr<RobotLink> RobotsOwnLink(const RobotAddresses& addresses) {
  if (IsShared(addresses)) return SharedRobotLink(addresses.states.substr(kShared.size()));
  CheckAddresses(addresses);
  return std::make_unique<ZmqLink>(addresses.states, addresses.targets, Side::kBind,
                                   std::vector<std::string>{kJointTargetsKind});
}

}  // namespace gripstream
