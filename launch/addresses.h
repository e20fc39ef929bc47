// Where the learners of a run listen, and how their simulators find out.
//
//   wire.address empty               a name of the run's folder, on one machine
//   tcp://host:port                  learner 0 there, each further learner at the next port of the same host
//   tcp://10.0.0.0/24[:port]         each learner at its own machine's address in that network, at the port, or one of
//                                    the system's choice; it writes RUN/learner_0.address, which its simulators read
//
// Plain functions; no thread rule.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/deadline.h"
#include "launch/run_config.h"

namespace gripstream {

// The network of a wire.address of the last kind, "10.0.0.0/24".
std::optional<std::string> WireNetwork(const WireConfig& wire);

// The wire of learner `rank` as configured, with the address at which it is to listen filled in. Throws RunError when
// this machine has no address in the network.
WireConfig ListeningWire(const RunConfig& config, int rank);

// The same with the address at which learner `rank` is found. Waits for its file until `deadline`, and until somebody
// listens there, so that a file left behind leads nowhere; throws RunError naming the learner.
WireConfig ConnectingWire(const RunConfig& config, int rank, Deadline deadline);

// The overrides with a wire.address of this process on this machine: for roles that look at a run which may be under way
// and hold its own.
std::vector<std::string> BesideTheRun(const RunConfig& config, std::vector<std::string> overrides);

// The file that tells where learner `rank` listens, as long as this object lives. Does nothing where simulators know
// already.
class AnnouncedAddress {
 public:
  AnnouncedAddress(const RunConfig& config, int rank, const std::string& address);
  ~AnnouncedAddress();
  AnnouncedAddress(const AnnouncedAddress&) = delete;
  AnnouncedAddress& operator=(const AnnouncedAddress&) = delete;

 private:
  std::string path_;  // empty: none
};

}  // namespace gripstream
