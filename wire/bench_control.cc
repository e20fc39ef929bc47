#include "wire/bench_control.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "core/clock.h"
#include "core/error.h"
#include "core/process_memory.h"
#include "wire/transport.h"

namespace gripstream {
namespace {

constexpr double kHeartbeat_s = 0.5;
constexpr double kDeadline_s = 30;
constexpr double kJoin_s = 120;
constexpr double kRound_s = 0.1;
constexpr double kStopped_s = 2;
constexpr int kStallEvery = 8, kStopEvery = 16, kLeaveEvery = 10;  // simulators with such numbers do such things
constexpr int kStallRound = 3;

void SleepFor(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(std::max(0.0, seconds)));
}

std::vector<TensorSpec> Specs() {
  return {{"obs", DType::kFloat32, {32}, "", 1.0}};
}

WireConfig ConfigOf(const std::string& transport) {
  static int count = 0;
  WireConfig config;
  const std::string name = "@gripstream_control_" + std::to_string(getpid()) + "_" + std::to_string(++count);
  config.transport = transport;
  config.address = transport == "zmq" ? "ipc://" + name : name;
  config.heartbeat_s = kHeartbeat_s;
  config.deadline_s = kDeadline_s;
  return config;
}

// One simulator's life: answers steps until it is told to stop, some with a stall on the way; some leave at once when
// the learner resets them.
void Live(const WireConfig& config, int index) {
  const Layout layout(Specs(), 1);
  Join join;
  join.env_begin = static_cast<uint32_t>(index);
  join.env_count = 1;
  join.name = "simulator " + std::to_string(index);
  const auto end = ConnectToLearner(config, join, layout, Deadline::After(kJoin_s));
  for (int round = 0;; ++round) {
    const Command command = end->WaitCommand(Deadline::After(kJoin_s));
    if (command.kind == CommandKind::kStop) return;
    if (command.kind == CommandKind::kReset) return end->SendLeave("as told");
    if (round == kStallRound && index % kStallEvery == 1) SleepFor(3 * kHeartbeat_s);
    end->AcquireRecord(Deadline::After(kDeadline_s));
    end->PublishRecord();
  }
}

// Child processes, ended at the latest with this object.
class Herd {
 public:
  Herd(const WireConfig& config, int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t parent = getpid(), pid = fork();
      if (pid < 0) throw RunError("cannot start simulator process " + std::to_string(i));
      if (pid == 0) Become(config, i, parent);
      pids_.push_back(pid);
    }
  }
  ~Herd() {
    for (const pid_t pid : pids_) kill(pid, SIGKILL);
    for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
  }
  Herd(const Herd&) = delete;
  Herd& operator=(const Herd&) = delete;
  pid_t Pid(int index) const { return pids_[static_cast<size_t>(index)]; }

 private:
  [[noreturn]] static void Become(const WireConfig& config, int index, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    try {
      Live(config, index);
      _exit(0);
    } catch (const std::exception&) {
      _exit(1);  // the learner says who is missing
    }
  }
  std::vector<pid_t> pids_;
};

// The learner's view of the whole load.
class Run {
 public:
  Run(const ControlLoad& load) : load_(load) {}

  ControlMeasured Go() {
    const WireConfig config = ConfigOf(load_.transport);
    const double start = SteadySeconds();
    const Herd herd(config, load_.simulators);
    const double before = static_cast<double>(OwnMemory().ResidentBytes());
    learner_ =
        ListenForSimulators(config, {.run_id = "", .specs = Specs(), .config_hash = 0, .total_envs = load_.simulators});
    learner_->WaitForSimulators(load_.simulators, Deadline::After(kJoin_s));
    measured_.join_s = SteadySeconds() - start;
    for (int i = 0; i < load_.simulators; ++i) living_.insert(i);
    StepAll(herd, start + measured_.join_s + load_.seconds);
    ReadLiveness();
    measured_.learner_bytes = std::max(0.0, static_cast<double>(OwnMemory().ResidentBytes()) - before) /
                              static_cast<double>(load_.simulators);
    measured_.simulator_bytes = static_cast<double>(MemoryOf(herd.Pid(1)).private_bytes);
    const std::vector<std::string> unanswered = learner_->Stop("measured", Deadline::After(kDeadline_s));
    if (!unanswered.empty()) throw RunError("did not stop: " + unanswered.front());
    return measured_;
  }

 private:
  void StepAll(const Herd& herd, double until) {
    const double begin = SteadySeconds();
    for (double next = begin; SteadySeconds() < until || measured_.rounds < 2 * kStallRound; next += kRound_s) {
      if (measured_.rounds == kStallRound) StopSome(herd);
      for (const int peer : living_) learner_->Send(peer, CommandKind::kStep, 0, {});
      if (measured_.rounds == kStallRound) {
        WaitForStopped(herd);
        for (const int peer : stopped_) kill(herd.Pid(peer), SIGCONT);
      }
      for (const int peer : living_) {
        learner_->ReleaseRecord(peer, learner_->ReceiveRecord(peer, Deadline::After(kDeadline_s)));
      }
      if (++measured_.rounds == kStallRound) SendSomeAway();
      SleepFor(next + kRound_s - SteadySeconds());
    }
  }

  void StopSome(const Herd& herd) {
    for (const int peer : living_) {
      if (peer % kStopEvery != 2) continue;
      kill(herd.Pid(peer), SIGSTOP);
      stopped_.insert(peer);
    }
    measured_.stopped = static_cast<int>(stopped_.size());
  }

  // Listens to all while one that is stopped is waited for in vain.
  void WaitForStopped(const Herd& herd) {
    if (stopped_.empty()) return;
    try {
      learner_->ReceiveRecord(*stopped_.begin(), Deadline::After(kStopped_s));
      throw InternalError("a record of process " + std::to_string(herd.Pid(*stopped_.begin())) + ", which is stopped");
    } catch (const PeerLost&) {
    }
  }

  void SendSomeAway() {
    for (auto peer = living_.begin(); peer != living_.end();) {
      if (*peer % kLeaveEvery != 3) {
        ++peer;
        continue;
      }
      learner_->Send(*peer, CommandKind::kReset, 0, {});
      try {
        learner_->ReceiveRecord(*peer, Deadline::After(kDeadline_s));
        throw InternalError("a record of somebody who was sent away");
      } catch (const RunError& error) {
        if (std::string(error.what()).find("left: as told") == std::string::npos) throw;
      }
      peer = living_.erase(peer);
      ++measured_.left;
    }
  }

  void ReadLiveness() {
    for (const int peer : living_) {
      if (stopped_.contains(peer)) continue;
      const Liveness liveness = learner_->LivenessOf(peer);
      measured_.longest_silence_s = std::max(measured_.longest_silence_s, liveness.longest_silence_s);
      measured_.late_beats += liveness.late_beats;
    }
  }

  ControlLoad load_;
  std::unique_ptr<LearnerEnd> learner_;
  std::set<int> living_, stopped_;
  ControlMeasured measured_;
};

BenchRow Against(const std::string& name, double ours, double limit, const std::string& limit_name,
                 const std::string& unit) {
  return {name, ours, limit, limit_name, limit / std::max(ours, 1e-9), 1.0, unit, ""};
}

}  // namespace

ControlMeasured MeasureControl(const ControlLoad& load) {
  return Run(load).Go();
}

std::vector<BenchRow> BenchControl(double seconds) {
  std::vector<BenchRow> rows;
  for (const std::string transport : {"shm", "zmq"}) {
    const ControlMeasured m = MeasureControl({transport, 256, seconds});
    const std::string name = "control, 256 simulator processes over " + transport + ", ";
    rows.push_back(Against(name + "all joined after", m.join_s, 10, "limit", "s"));
    rows.push_back(Against(name + "longest silence", m.longest_silence_s, kDeadline_s / 2, "half a deadline", "s"));
    rows.push_back({name + std::to_string(m.rounds) + " steps, late beats", static_cast<double>(m.late_beats), NAN,
                    "none", NAN, NAN, "beats", "a count: beats that came after more than two periods"});
    rows.push_back(Against(name + "learner's memory for each", m.learner_bytes / 1e6, 1, "limit", "MB"));
    rows.push_back(Against(name + "a simulator's own memory", m.simulator_bytes / 1e6, 16, "limit", "MB"));
  }
  return rows;
}

}  // namespace gripstream
