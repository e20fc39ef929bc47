#include "launch/addresses.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/error.h"
#include "core/files.h"
#include "core/network.h"
#include "core/rng.h"

namespace gripstream {
namespace {

constexpr char kTcp[] = "tcp://";
constexpr double kOneTry_s = 2.0;
constexpr auto kPoll = std::chrono::milliseconds(50);

// What stands behind the last colon; 0 without one.
int PortOf(const std::string& address) {
  const size_t colon = address.rfind(':');
  return colon == std::string::npos ? 0 : std::atoi(address.c_str() + colon + 1);
}

std::string FileOf(const RunConfig& config, int rank) {
  return config.run.dir + "/learner_" + std::to_string(rank) + ".address";
}

std::string NameOfFolder(const RunConfig& config) {
  char name[40];
  const std::string folder = std::filesystem::weakly_canonical(config.run.dir).string();
  std::snprintf(name, sizeof(name), "@gripstream-%016llx", static_cast<unsigned long long>(HashName(folder)));
  const bool zmq = config.wire.transport == "zmq" || config.wire.transport == "nccl";
  return zmq ? std::string("ipc://") + name : name;
}

// Of an address that is no network.
std::string AddressOf(const RunConfig& config, int rank) {
  const std::string address = config.wire.address.empty() ? NameOfFolder(config) : config.wire.address;
  if (rank == 0) return address;
  if (!address.starts_with(kTcp)) return address + "-" + std::to_string(rank);
  return address.substr(0, address.rfind(':') + 1) + std::to_string(PortOf(address) + rank);
}

// Why the learner is not there yet; empty when `address` is where it listens.
std::string WhyNotFound(const std::string& file, std::string& address) {
  std::ifstream in(file);
  if (!std::getline(in, address)) return "there is no " + file;
  const size_t colon = address.rfind(':');
  if (!address.starts_with(kTcp) || colon == std::string::npos) return file + " holds no address";
  const std::string host = address.substr(6, colon - 6);
  const std::string problem = WhyNotReach(host, PortOf(address), Deadline::After(kOneTry_s));
  return problem.empty() ? "" : address + " of " + file + " is not reached: " + problem;
}

}  // namespace

std::optional<std::string> WireNetwork(const WireConfig& wire) {
  if (!wire.address.starts_with(kTcp)) return std::nullopt;
  const std::string network = wire.address.substr(6, wire.address.find(':', 6) - 6);
  return ParseNetwork(network) ? std::optional(network) : std::nullopt;
}

std::vector<std::string> BesideTheRun(const RunConfig& config, std::vector<std::string> overrides) {
  overrides.push_back("wire.address='" + NameOfFolder(config) + "-" + std::to_string(getpid()) + "'");
  return overrides;
}

WireConfig ListeningWire(const RunConfig& config, int rank) {
  WireConfig wire = config.wire;
  const std::optional<std::string> network = WireNetwork(wire);
  if (!network) {
    wire.address = AddressOf(config, rank);
    return wire;
  }
  const int port = PortOf(wire.address.substr(6));
  wire.address = kTcp + OwnAddressIn(*network) + ":" + std::to_string(port == 0 ? 0 : port + rank);
  return wire;
}

WireConfig ConnectingWire(const RunConfig& config, int rank, Deadline deadline) {
  WireConfig wire = config.wire;
  if (!WireNetwork(wire)) {
    wire.address = AddressOf(config, rank);
    return wire;
  }
  for (;;) {
    const std::string problem = WhyNotFound(FileOf(config, rank), wire.address);
    if (problem.empty()) return wire;
    if (deadline.Passed()) {
      throw RunError("learner " + std::to_string(rank) + " was not found within wire.join_s: " + problem);
    }
    std::this_thread::sleep_for(kPoll);
  }
}

AnnouncedAddress::AnnouncedAddress(const RunConfig& config, int rank, const std::string& address) {
  if (!WireNetwork(config.wire)) return;
  path_ = FileOf(config, rank);
  WriteFileAtomically(path_, address + "\n");
}

AnnouncedAddress::~AnnouncedAddress() {
  std::error_code gone;
  if (!path_.empty()) std::filesystem::remove(path_, gone);
}

}  // namespace gripstream
