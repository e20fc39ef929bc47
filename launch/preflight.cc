#include "launch/preflight.h"

#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>

#include "core/error.h"
#include "core/network.h"
#include "launch/addresses.h"
#include "launch/program_output.h"
#include "launch/version.h"
#include "wire/curve_keys.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;
using Verdict = Finding::Verdict;

constexpr double kProgram_s = 60;
constexpr double kHost_s = 5;

Finding Good(const std::string& what, const std::string& found) {
  return {what, Verdict::kGood, found, ""};
}
Finding Failed(const std::string& what, const std::string& found, const std::string& mend) {
  return {what, Verdict::kFailed, found, mend};
}

// All programs of a run come from one build.
Finding CheckVersions(const RolePlan& plan) {
  const std::string own = std::string("gripstream ") + kVersion + " (" + kGitRevision + ")";
  std::set<std::string> programs;
  for (const auto* roles : {&plan.learners, &plan.simulators}) {
    for (const RoleCommand& role : *roles) programs.insert(role.argv[0]);
  }
  for (const std::string& program : programs) {
    const ProgramOutput output = RunProgram({program, "--version"}, Deadline::After(kProgram_s));
    if (output.code == 0 && output.LastLine() == own) continue;
    return Failed("versions", program + " says: " + output.LastLine(), "build all programs from one revision: " + own);
  }
  return Good("versions", own);
}

// The nearest folder above that is there.
fs::path Existing(fs::path path) {
  while (!path.empty() && !fs::exists(path) && path != path.parent_path()) path = path.parent_path();
  return path;
}

bool IsShared(const std::string& folder) {
  constexpr long kNfs = 0x6969, kLustre = 0x0BD00BD0, kGpfs = 0x47504653, kBeegfs = 0x19830326, kCeph = 0x00C36400,
                 kFuse = 0x65735546, kSmb2 = static_cast<long>(0xFE534D42), kAfs = 0x5346414F,
                 kPanfs = static_cast<long>(0xAAD7AAEA), kGfs2 = 0x01161970, kOcfs2 = 0x7461636F;
  struct statfs status {};
  if (statfs(folder.c_str(), &status) != 0) return false;
  const long type = static_cast<long>(status.f_type);
  const auto shared = {kNfs, kLustre, kGpfs, kBeegfs, kCeph, kFuse, kSmb2, kAfs, kPanfs, kGfs2, kOcfs2};
  return std::find(shared.begin(), shared.end(), type) != shared.end();
}

Finding CheckRunFolder(LaunchEngine engine, const std::string& run_dir) {
  const std::string folder = Existing(fs::absolute(run_dir)).string();
  if (access(folder.c_str(), W_OK) != 0)
    return Failed("run folder", folder + " cannot be written", "choose another run.dir");
  if (engine == LaunchEngine::kLocal || IsShared(folder)) return Good("run folder", run_dir);
  return {"run folder", Verdict::kAbsent, run_dir + " is on no file system that machines share: good for one node only",
          ""};
}

struct HostPort {
  std::string host;
  int port;
};

HostPort Split(const std::string& address) {
  const size_t colon = address.rfind(':');
  return {address.substr(6, colon - 6), std::atoi(address.c_str() + colon + 1)};
}

// A host that refuses the connection is there, and nobody holds the port.
Finding CheckPort(const std::string& name, const std::string& address) {
  const auto [host, port] = Split(address);
  const std::string problem = WhyNotReach(host, port, Deadline::After(kHost_s));
  if (problem.empty()) {
    return Failed(name, address + " is in use", "end who listens there (ss -ltnp), or choose another wire.address");
  }
  if (problem.find("refused") != std::string::npos) return Good(name, address + " is reachable and free");
  return Failed(name, address + ": " + problem,
                "check the name, the route and the firewall, or choose another wire.address");
}

// One of ours is wanted where this machine takes part; a login node need not have one.
Finding CheckNetwork(const std::string& name, const std::string& network, bool takes_part) {
  try {
    return Good(name, OwnAddressIn(network) + " of " + network + " on this machine");
  } catch (const RunError& error) {
    if (takes_part) return Failed(name, error.what(), "name the network of the interface to use (ip -4 addr)");
    return {name, Verdict::kAbsent, std::string(error.what()) + "; the machines of the job need one", ""};
  }
}

void CheckAddresses(const RunConfig& config, LaunchEngine engine, std::vector<Finding>& findings) {
  const bool takes_part = engine != LaunchEngine::kSlurm;
  if (const std::optional<std::string> network = WireNetwork(config.wire)) {
    findings.push_back(CheckNetwork("wire.address", *network, takes_part));
  } else if (config.wire.address.starts_with("tcp://")) {
    for (int rank = 0; rank < config.learner.processes; ++rank) {
      findings.push_back(CheckPort("learner " + std::to_string(rank), ListeningWire(config, rank).address));
    }
  } else {
    findings.push_back(Good("wire.address", "on one machine (" + config.wire.transport + ")"));
  }
  const std::string& trusted = config.learner.trusted_network;
  if (!trusted.empty()) findings.push_back(CheckNetwork("trusted_network", trusted, takes_part));
}

Finding CheckKeys(const RunConfig& config) {
  const std::string& keys = config.wire.curve.keys;
  const std::string& address = config.wire.address;
  const std::optional<std::string> network = WireNetwork(config.wire);
  const bool loopback = !address.starts_with("tcp://") || address.starts_with("tcp://127.") ||
                        address.starts_with("tcp://localhost:") || (network && ParseNetwork(*network)->IsLoopback());
  if (keys.empty() && loopback) return Good("keys", "none needed on one machine");
  if (keys.empty())
    return Failed("keys", address + " leads beyond this machine", "gripstream keygen KEYS, then wire.curve.keys: KEYS");
  try {
    const CurveIdentity learner = LearnerIdentity(keys), simulator = SimulatorIdentity(keys);
    const std::string own = PublicKeyOf(simulator.secret_key, keys);
    const auto& allowed = learner.allowed;
    if (std::find(allowed.begin(), allowed.end(), own) == allowed.end()) {
      return Failed("keys", keys + "/allowed does not hold the key of " + keys + "/simulator.secret",
                    "copy it there, see gripstream keygen");
    }
    return Good("keys", keys);
  } catch (const InputError& error) {
    return Failed("keys", error.what(),
                  "gripstream keygen makes them; learner and simulators read them on their machines");
  }
}

Finding CheckSlurm() {
  const ProgramOutput version = RunProgram({"sbatch", "--version"}, Deadline::After(kHost_s));
  if (version.code != 0) return Failed("Slurm", "no sbatch in PATH", "launch from a machine that submits Slurm jobs");
  const ProgramOutput nodes = RunProgram({"sinfo", "--noheader", "--format=%P %D %t"}, Deadline::After(kHost_s));
  if (nodes.code == 0) return Good("Slurm", version.LastLine() + ", " + nodes.LastLine());
  return Failed("Slurm", nodes.code == kNeverEnded ? "the controller does not answer" : nodes.LastLine(),
                "check slurmctld and munge (scontrol ping)");
}

}  // namespace

std::vector<Finding> Preflight(const RunConfig& config, const RolePlan& plan, LaunchEngine engine,
                               const std::string& run_dir) {
  std::vector<Finding> findings = {CheckVersions(plan), CheckRunFolder(engine, run_dir)};
  CheckAddresses(config, engine, findings);
  findings.push_back(CheckKeys(config));
  if (engine == LaunchEngine::kSlurm) findings.push_back(CheckSlurm());
  return findings;
}

}  // namespace gripstream
