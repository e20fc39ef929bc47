#include "launch/supervisor.h"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/trace.h"
#include "launch/child.h"

namespace gripstream {
namespace {

constexpr double kGraceToEnd_s = 4.0;       // Ctrl-C is answered within 5 s
constexpr double kPeerSpeaksFirst_s = 1.0;  // who misses a stopped process knows more than its parent
constexpr auto kPollPeriod = std::chrono::milliseconds(10);

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

std::vector<Child> StartAll(std::vector<RoleCommand>& roles, TraceParts& parts) {
  std::vector<Child> children;
  for (RoleCommand& role : roles) {
    parts.AddTo(role.argv);
    children.emplace_back(role.name, role.argv, role.environment);
  }
  return children;
}

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

int RunPlan(const RunConfig& config, RolePlan plan, const std::string& trace) {
  CatchInterrupts();
  PrepareRoleEnvironment();
  TraceParts parts(config.run.dir, trace);
  for (RoleCommand& simulator : plan.simulators) simulator.argv.push_back("--launched");
  std::vector<Child> learners = StartAll(plan.learners, parts);
  std::vector<Child> simulators = StartAll(plan.simulators, parts);
  const int code = Watch(learners, simulators, config.wire.deadline_s).UntilTheEnd();
  parts.Merge();
  return code;
}

}  // namespace

int RunRoles(const RunConfig& config, const std::vector<std::string>& learner_arguments,
             const std::vector<std::string>& overrides, const std::string& trace) {
  const RolePlan plan = PlanRoles(config, config.run.dir, learner_arguments, overrides, VisibleGpus());
  for (const std::vector<RoleCommand>* roles : {&plan.learners, &plan.simulators}) {
    for (const RoleCommand& role : *roles) {
      if (!role.gpu.empty()) std::printf("%s: %s\n", role.name.c_str(), role.gpu.c_str());
    }
  }
  std::fflush(stdout);
  return RunPlan(config, plan, trace);
}

}  // namespace gripstream
