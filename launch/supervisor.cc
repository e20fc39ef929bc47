#include "launch/supervisor.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/rng.h"
#include "core/trace.h"
#include "launch/child.h"

namespace gripstream {
namespace {

constexpr double kGraceToEnd_s = 4.0;       // Ctrl-C is answered within 5 s
constexpr double kPeerSpeaksFirst_s = 1.0;  // who misses a stopped process knows more than its parent
constexpr auto kPollPeriod = std::chrono::milliseconds(10);

Child StartRole(const std::string& name, const std::string& program, const std::string& run_dir,
                const std::vector<std::string>& arguments, const std::vector<std::string>& overrides) {
  std::vector<std::string> argv = {RoleProgram(program), run_dir};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  for (const std::string& assignment : overrides) argv.insert(argv.end(), {"--set", assignment});
  return Child(name, argv);
}

// Each role's part of a trace, on its way into one file.
class TraceParts {
 public:
  // No `trace`: none is wanted.
  TraceParts(const std::string& run_dir, std::string trace) : folder_(run_dir + "/trace"), trace_(std::move(trace)) {
    if (!trace_.empty()) std::filesystem::create_directories(folder_);
  }
  // One more role writes a part.
  void AddTo(std::vector<std::string>& arguments) {
    if (trace_.empty()) return;
    parts_.push_back(folder_ + "/" + std::to_string(parts_.size()));
    arguments.insert(arguments.end(), {"--trace", parts_.back()});
  }
  void Merge() const {
    if (trace_.empty()) return;
    MergeTraces(parts_, trace_);
    std::filesystem::remove_all(folder_);
    std::printf("trace: %s\n", trace_.c_str());
  }

 private:
  std::string folder_, trace_;
  std::vector<std::string> parts_;
};

void StopAll(std::vector<Child>& children, double grace_s) {
  const Deadline deadline = Deadline::After(grace_s);
  for (Child& child : children) child.EndBy(deadline);
}

// One run's processes under watch. The first learner leads.
class Watch {
 public:
  Watch(std::vector<Child>& learners, std::vector<Child>& simulators, double deadline_s)
      : learners_(learners), simulators_(simulators), deadline_s_(deadline_s) {}

  int UntilTheEnd() {
    for (;;) {
      for (Child& learner : learners_) {
        const std::optional<int> code = learner.Poll();
        if (code && (*code != kExitOk || &learner == &learners_.front())) return AfterLearner(learner, *code);
      }
      if (Interrupted()) return AfterInterrupt();
      for (Child& simulator : simulators_) {
        const std::optional<int> code = simulator.Poll();
        if (code && *code != kExitOk) return AfterLostSimulator(simulator, *code);
        if (simulator.StoppedFor() > deadline_s_ + kPeerSpeaksFirst_s) return AfterStopped(simulator);
      }
      for (Child& learner : learners_) {
        if (learner.StoppedFor() > deadline_s_ + kPeerSpeaksFirst_s) return AfterStopped(learner);
      }
      std::this_thread::sleep_for(kPollPeriod);
    }
  }

 private:
  void StopEverybody(double grace_s) {
    StopAll(learners_, grace_s);
    StopAll(simulators_, grace_s);
  }

  // A learner that reports its own failure was the first to know; only a signal leaves it without a word.
  int AfterLearner(Child& learner, int code) {
    if (code >= 128) SayHowItEnded(learner);
    StopEverybody(code == kExitOk ? kGraceToEnd_s : 0);
    return code == kExitOk || code == kExitBadInput ? code : kExitFailed;
  }

  void SayHowItEnded(const Child& learner) const {
    const std::string who =
        learners_.size() == 1 ? "the learner" : learner.Name() + " (pid " + std::to_string(learner.Pid()) + ")";
    std::fprintf(stderr, "gripstream: %s ended: %s\n", who.c_str(), learner.HowItEnded().c_str());
  }

  // A process that is stopped cannot speak for itself, and one alone (inproc) has no peer to miss it.
  int AfterStopped(Child& child) {
    std::fprintf(stderr, "gripstream: %s (pid %d) has been stopped for %.1f s (SIGSTOP?)\n", child.Name().c_str(),
                 child.Pid(), child.StoppedFor());
    StopEverybody(0);
    return kExitFailed;
  }

  int AfterInterrupt() {
    for (Child& learner : learners_) learner.Signal(SIGTERM);
    StopAll(learners_, kGraceToEnd_s);
    StopAll(simulators_, 0);
    return kExitFailed;
  }

  // The learner names a peer that dies, or is what the simulator lost; it is given the time to say so.
  int AfterLostSimulator(Child& simulator, int code) {
    // What was wrong with its input, the simulator has said itself; what else it had to say, it has told the learner.
    if (code >= 128) {
      std::fprintf(stderr, "gripstream: %s (pid %d) ended: %s\n", simulator.Name().c_str(), simulator.Pid(),
                   simulator.HowItEnded().c_str());
    }
    if (code == kExitBadInput) StopAll(learners_, 0);
    const Child* ended = FirstLearnerToEnd(Deadline::After(deadline_s_ + kGraceToEnd_s));
    const bool bad_input = code == kExitBadInput || (ended && ended->Code() == kExitBadInput);
    if (ended && ended->Code() >= 128 && code != kExitBadInput) SayHowItEnded(*ended);
    StopEverybody(0);
    return bad_input ? kExitBadInput : kExitFailed;
  }

  // Null when none has ended by then.
  const Child* FirstLearnerToEnd(Deadline deadline) {
    for (; !deadline.Passed(); std::this_thread::sleep_for(kPollPeriod)) {
      for (Child& learner : learners_) {
        if (learner.Poll()) return &learner;
      }
    }
    return nullptr;
  }

  std::vector<Child>& learners_;
  std::vector<Child>& simulators_;
  double deadline_s_;  // wire.deadline_s
};

}  // namespace

int RunRoles(const RunConfig& config, const std::vector<std::string>& learner_arguments,
             const std::vector<std::string>& overrides, const std::string& trace) {
  CatchInterrupts();
  PrepareRoleEnvironment();
  TraceParts parts(config.run.dir, trace);
  const bool single = config.wire.transport == "inproc";
  const int count = config.learner.processes;
  std::vector<Child> learners, simulators;
  for (int rank = 0; rank < count; ++rank) {
    std::vector<std::string> arguments = learner_arguments;
    if (rank > 0) arguments.insert(arguments.end(), {"--rank", std::to_string(rank)});
    parts.AddTo(arguments);
    learners.push_back(StartRole(count == 1 ? "learner" : "learner " + std::to_string(rank),
                                 single ? "gripstream-single" : "gripstream-learner", config.run.dir, arguments,
                                 overrides));
  }
  for (int i = 0; !single && i < config.sim.processes; ++i) {
    const std::string index = std::to_string(i);
    std::vector<std::string> arguments = {"--index", index, "--launched"};
    parts.AddTo(arguments);
    simulators.push_back(
        StartRole("simulator " + index, SimulatorProgram(config), config.run.dir, arguments, overrides));
  }
  const int code = Watch(learners, simulators, config.wire.deadline_s).UntilTheEnd();
  parts.Merge();
  return code;
}

std::string WireAddress(const RunConfig& config, int rank) {
  std::string address = config.wire.address;
  if (address.empty()) {
    char name[40];
    const std::string folder = std::filesystem::weakly_canonical(config.run.dir).string();
    std::snprintf(name, sizeof(name), "@gripstream-%016llx", static_cast<unsigned long long>(HashName(folder)));
    const bool zmq = config.wire.transport == "zmq" || config.wire.transport == "nccl";
    address = zmq ? std::string("ipc://") + name : name;
  }
  if (rank == 0) return address;
  if (!address.starts_with("tcp://")) return address + "-" + std::to_string(rank);
  const size_t colon = address.rfind(':');
  return address.substr(0, colon + 1) + std::to_string(std::atoi(address.c_str() + colon + 1) + rank);
}

void PrepareRoleEnvironment() {
  setenv("OMP_WAIT_POLICY", "PASSIVE", 0);
}

std::string SimulatorProgram(const RunConfig& config) {
  return config.SimulatorsAct() ? "gripstream-sim-acting" : "gripstream-sim";
}

std::string RoleProgram(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

}  // namespace gripstream
