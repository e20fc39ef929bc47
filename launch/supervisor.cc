#include "launch/supervisor.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/rng.h"
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

void StopAll(std::vector<Child>& simulators, double grace_s) {
  const Deadline deadline = Deadline::After(grace_s);
  for (Child& simulator : simulators) simulator.EndBy(deadline);
}

// One run's processes under watch.
class Watch {
 public:
  Watch(Child& learner, std::vector<Child>& simulators, double deadline_s)
      : learner_(learner), simulators_(simulators), deadline_s_(deadline_s) {}

  int UntilTheEnd() {
    for (;;) {
      if (const std::optional<int> code = learner_.Poll()) return AfterLearner(*code);
      if (Interrupted()) return AfterInterrupt();
      for (Child& simulator : simulators_) {
        const std::optional<int> code = simulator.Poll();
        if (code && *code != kExitOk) return AfterLostSimulator(simulator, *code);
        if (simulator.StoppedFor() > deadline_s_ + kPeerSpeaksFirst_s) return AfterStopped(simulator);
      }
      if (learner_.StoppedFor() > deadline_s_ + kPeerSpeaksFirst_s) return AfterStopped(learner_);
      std::this_thread::sleep_for(kPollPeriod);
    }
  }

 private:
  int AfterLearner(int code) {
    StopAll(simulators_, code == kExitOk ? kGraceToEnd_s : 0);
    // The learner reports its own failures; only a signal leaves it without a word.
    if (code >= 128) std::fprintf(stderr, "gripstream: the learner ended: %s\n", learner_.HowItEnded().c_str());
    return code == kExitOk || code == kExitBadInput ? code : kExitFailed;
  }

  // A process that is stopped cannot speak for itself, and one alone (inproc) has no peer to miss it.
  int AfterStopped(Child& child) {
    std::fprintf(stderr, "gripstream: %s (pid %d) has been stopped for %.1f s (SIGSTOP?)\n", child.Name().c_str(),
                 child.Pid(), child.StoppedFor());
    learner_.EndBy(Deadline::After(0));
    StopAll(simulators_, 0);
    return kExitFailed;
  }

  int AfterInterrupt() {
    learner_.Signal(SIGTERM);
    learner_.EndBy(Deadline::After(kGraceToEnd_s));
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
    if (code == kExitBadInput) learner_.Signal(SIGKILL);
    const int learner_code = learner_.EndBy(Deadline::After(deadline_s_ + kGraceToEnd_s));
    StopAll(simulators_, 0);
    if (learner_code >= 128 && code != kExitBadInput) {
      std::fprintf(stderr, "gripstream: the learner ended: %s\n", learner_.HowItEnded().c_str());
    }
    return code == kExitBadInput || learner_code == kExitBadInput ? kExitBadInput : kExitFailed;
  }

  Child& learner_;
  std::vector<Child>& simulators_;
  double deadline_s_;  // wire.deadline_s
};

}  // namespace

int RunRoles(const RunConfig& config, const std::vector<std::string>& learner_arguments,
             const std::vector<std::string>& overrides) {
  CatchInterrupts();
  PrepareRoleEnvironment();
  const bool single = config.wire.transport == "inproc";
  Child learner = StartRole("learner", single ? "gripstream-single" : "gripstream-learner", config.run.dir,
                            learner_arguments, overrides);
  std::vector<Child> simulators;
  for (int i = 0; !single && i < config.sim.processes; ++i) {
    const std::string index = std::to_string(i);
    simulators.push_back(
        StartRole("simulator " + index, "gripstream-sim", config.run.dir, {"--index", index, "--launched"}, overrides));
  }
  return Watch(learner, simulators, config.wire.deadline_s).UntilTheEnd();
}

std::string WireAddress(const RunConfig& config) {
  if (!config.wire.address.empty()) return config.wire.address;
  char name[40];
  const std::string folder = std::filesystem::weakly_canonical(config.run.dir).string();
  std::snprintf(name, sizeof(name), "@gripstream-%016llx", static_cast<unsigned long long>(HashName(folder)));
  const bool zmq = config.wire.transport == "zmq" || config.wire.transport == "nccl";
  return zmq ? std::string("ipc://") + name : name;
}

void PrepareRoleEnvironment() {
  setenv("OMP_WAIT_POLICY", "PASSIVE", 0);
}

std::string RoleProgram(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

}  // namespace gripstream
