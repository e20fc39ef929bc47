#include "learner/group_roll.h"

#include <arpa/inet.h>
#include <c10/util/Logging.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/files.h"
#include "core/host.h"
#include "core/network.h"

namespace gripstream {
namespace {

constexpr char kTokenKey[] = "token";
constexpr char kAllHereKey[] = "all here";
constexpr double kOneTry_s = 2.0;             // for a store that may not be there
constexpr double kLeaderSpeaksFirst_s = 0.5;  // per rank: who is silent is said once
constexpr auto kPoll = std::chrono::milliseconds(20);

std::string MemberKey(int rank) {
  return "member " + std::to_string(rank);
}
std::string BeatKey(int rank) {
  return "beat " + std::to_string(rank);
}

std::string ThisProcess() {
  return "pid " + std::to_string(getpid()) + " on " + HostName();
}

// A socket bound to a port of the system's choice, and that port.
std::pair<int, uint16_t> BindTo(const std::string& host) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (fd < 0 || bind(fd, generic, size) != 0 || getsockname(fd, generic, &size) != 0) {
    throw RunError("learner 0 gets no port on " + host + ": " + std::strerror(errno));
  }
  return {fd, ntohs(address.sin_port)};
}

c10::intrusive_ptr<c10d::Store> Connect(const std::string& host, uint16_t port, double timeout_s) {
  c10d::TCPStoreOptions options;
  options.port = port;
  options.waitWorkers = false;
  options.timeout = std::chrono::milliseconds(static_cast<int64_t>(timeout_s * 1000));
  return c10::make_intrusive<c10d::TCPStore>(host, options);
}

}  // namespace

std::string OwnAddress(const GroupOptions& options) {
  return options.network.empty() ? "127.0.0.1" : OwnAddressIn(options.network);
}

GroupRoll::GroupRoll(const GroupOptions& options) : options_(options), seen_(static_cast<size_t>(options.size)) {
  FLAGS_caffe2_log_level = 3;  // c10d prints stack traces of what we catch and put into a line
  const Deadline deadline = Deadline::After(options.join_s);
  if (options_.rank == 0) {
    Keep(deadline);
  } else {
    LookUp(deadline);
  }
  for (int rank = 0; rank < options_.size; ++rank) members_.push_back(store_->get_to_str(MemberKey(rank)));
  for (Seen& seen : seen_) seen = {};
  thread_ = std::thread([this] { Beat(); });
}

GroupRoll::~GroupRoll() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stop_changed_.notify_all();
  thread_.join();
  std::error_code gone;
  if (options_.rank == 0) std::filesystem::remove(options_.rendezvous, gone);
}

void GroupRoll::Keep(Deadline deadline) {
  const std::string host = OwnAddress(options_);
  const auto [fd, port] = BindTo(host);
  c10d::TCPStoreOptions options;
  options.port = port;
  options.isServer = true;
  options.waitWorkers = false;
  options.masterListenFd = fd;
  options.timeout = std::chrono::milliseconds(static_cast<int64_t>(options_.deadline_s * 1000));
  store_ = c10::make_intrusive<c10d::TCPStore>(host, options);
  const std::string token =
      std::to_string(getpid()) + "-" + std::to_string(Deadline::Clock::now().time_since_epoch().count());
  store_->set(kTokenKey, token);
  store_->set(MemberKey(0), ThisProcess());
  store_->set(BeatKey(0), "0");
  WriteFileAtomically(options_.rendezvous, host + " " + std::to_string(port) + " " + token + "\n");
  WaitForAll(deadline);
  store_->set(kAllHereKey, "yes");
}

std::vector<int> GroupRoll::Missing() {
  std::vector<int> missing;
  for (int rank = 0; rank < options_.size; ++rank) {
    if (!store_->check({MemberKey(rank)})) missing.push_back(rank);
  }
  return missing;
}

void GroupRoll::WaitForAll(Deadline deadline) {
  for (std::vector<int> missing = Missing(); !missing.empty(); missing = Missing()) {
    if (deadline.Passed()) {
      throw RunError(Names(missing) + " of " + std::to_string(options_.size) +
                     " did not come within wire.join_s, waited for by learner " + std::to_string(options_.rank));
    }
    std::this_thread::sleep_for(kPoll);
  }
}

void GroupRoll::LookUp(Deadline deadline) {
  while (!TryJoin()) {
    if (deadline.Passed()) {
      throw RunError("learner 0 did not come within wire.join_s: no rendezvous at " + options_.rendezvous +
                     ", waited for by learner " + std::to_string(options_.rank));
    }
    std::this_thread::sleep_for(kPoll);
  }
  try {
    WaitForAll(deadline);
    while (!store_->check({kAllHereKey}) && !deadline.Passed()) std::this_thread::sleep_for(kPoll);
  } catch (const RunError&) {
    throw;
  } catch (const std::exception&) {
    throw RunError("learner 0 is gone while the learners find each other, says learner " +
                   std::to_string(options_.rank));
  }
}

// False when the file, or what it leads to, is not (yet) that of a living learner 0.
bool GroupRoll::TryJoin() {
  std::ifstream file(options_.rendezvous);
  uint16_t port = 0;
  std::string host, token;
  if (!(file >> host >> port >> token) || !WhyNotReach(host, port, Deadline::After(kOneTry_s)).empty()) return false;
  try {
    if (Connect(host, port, kOneTry_s)->get_to_str(kTokenKey) != token) return false;
    store_ = Connect(host, port, options_.deadline_s);
    store_->set(BeatKey(options_.rank), "0");
    store_->set(MemberKey(options_.rank), ThisProcess());
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

std::string GroupRoll::Name(int rank) const {
  const std::string name = "learner " + std::to_string(rank);
  const auto index = static_cast<size_t>(rank);
  return index < members_.size() ? name + " (" + members_[index] + ")" : name;
}

std::string GroupRoll::Names(const std::vector<int>& ranks) const {
  std::string names;
  for (const int rank : ranks) names += (names.empty() ? "" : ", ") + Name(rank);
  return names;
}

bool GroupRoll::Look() {
  try {
    for (int rank = 0; rank < options_.size; ++rank) {
      const uint64_t beat = std::stoull(store_->get_to_str(BeatKey(rank)));
      Seen& seen = seen_[static_cast<size_t>(rank)];
      if (beat != seen.beat) seen = {beat, Deadline::Clock::now()};
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void GroupRoll::RequireEverybodyAlive(const std::string& what) {
  if (!Look()) throw RunError(Name(0) + " is gone (" + what + "), says learner " + std::to_string(options_.rank));
  const double limit_s = options_.deadline_s + kLeaderSpeaksFirst_s * options_.rank;
  for (int rank = 0; rank < options_.size; ++rank) {
    const auto silent = Deadline::Clock::now() - seen_[static_cast<size_t>(rank)].when;
    if (rank == options_.rank || std::chrono::duration<double>(silent).count() < limit_s) continue;
    throw RunError(Name(rank) + " is silent (wire.deadline_s) while learner " + std::to_string(options_.rank) +
                   " waits for it: " + what);
  }
}

std::string GroupRoll::WhoIsLost(const std::string& what) {
  const std::string suffix = " is gone (" + what + "), says learner " + std::to_string(options_.rank);
  if (!Look()) return Name(0) + suffix;
  const auto start = Deadline::Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(2 * options_.heartbeat_s + kLeaderSpeaksFirst_s));
  if (!Look()) return Name(0) + suffix;
  std::vector<int> lost;
  for (int rank = 0; rank < options_.size; ++rank) {
    if (rank != options_.rank && seen_[static_cast<size_t>(rank)].when <= start) lost.push_back(rank);
  }
  return lost.empty() ? "a connection between learners broke (" + what + "), says " + Name(options_.rank)
                      : Names(lost) + suffix;
}

std::string GroupRoll::WhoIsLate(const std::string& what, double waited_s) const {
  std::vector<int> others;
  for (int rank = 0; rank < options_.size; ++rank) {
    if (rank != options_.rank) others.push_back(rank);
  }
  return "learner " + std::to_string(options_.rank) + " waited " + std::to_string(waited_s) +
         " s (wire.patience_s) in vain for " + Names(others) + ": " + what;
}

// A store client of its own: a client serves one request after another.
void GroupRoll::Beat() {
  try {
    const auto store = store_->clone();
    std::unique_lock lock(mutex_);
    const auto period = std::chrono::duration<double>(options_.heartbeat_s);
    for (uint64_t beat = 1; !stop_changed_.wait_for(lock, period, [this] { return stop_; }); ++beat) {
      lock.unlock();
      store->set(BeatKey(options_.rank), std::to_string(beat));
      lock.lock();
    }
  } catch (const std::exception&) {
    // Learner 0 has gone; whoever waits for a collective finds out and says so.
  }
}

}  // namespace gripstream
