#include "launch/supervisor.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>

#include "core/error.h"
#include "core/interrupt.h"
#include "launch/role_process.h"
#include "policies/checkpoint_names.h"

namespace gripstream {
namespace {

constexpr double kGraceToEnd_s = 4.0;       // Ctrl-C is answered within 5 s
constexpr double kPeerSpeaksFirst_s = 1.0;  // who misses a stopped process knows more than its parent
constexpr auto kPollPeriod = std::chrono::milliseconds(10);

using Roles = std::vector<RoleProcess>;

Roles StartAll(const std::vector<RoleCommand>& commands, TraceParts& parts) {
  Roles roles;
  for (const RoleCommand& command : commands) roles.emplace_back(command, parts);
  return roles;
}

void StopAll(Roles& roles, double grace_s) {
  const Deadline deadline = Deadline::After(grace_s);
  for (RoleProcess& role : roles) role.Process().EndBy(deadline);
}

// What goes behind a learner's arguments when it is started again: the newest checkpoint, once there is one.
std::vector<std::string> ToGoOn(const std::string& run_dir, bool trains) {
  const auto files = CheckpointsNewestFirst(run_dir + "/checkpoints");
  if (!trains || files.empty()) return {};
  return {"--resume", files.front().string()};
}

// One run's processes under watch. The first learner leads.
class Watch {
 public:
  // `trains`: the learners do, and so leave checkpoints to go on from.
  Watch(Roles& learners, Roles& simulators, const RunConfig& config, bool trains)
      : learners_(learners),
        simulators_(simulators),
        run_dir_(config.run.dir),
        deadline_s_(config.wire.deadline_s),
        respawns_(config.runtime.respawns),
        replaces_(config.runtime.on_loss == "replace"),
        trains_(trains) {}

  int UntilTheEnd() {
    for (;; std::this_thread::sleep_for(kPollPeriod)) {
      if (const std::optional<int> code = LookAtLearners()) return *code;
      if (Interrupted()) return AfterInterrupt();
      if (const std::optional<int> code = LookAtSimulators()) return *code;
    }
  }

 private:
  std::optional<int> LookAtLearners() {
    for (RoleProcess& role : learners_) {
      Child& learner = role.Process();
      const std::optional<int> code = learner.Poll();
      if (code && *code != kExitOk && StartLearnersAgain()) return std::nullopt;
      if (code && (*code != kExitOk || &role == &learners_.front())) return AfterLearner(learner, *code);
      if (learner.StoppedFor() <= deadline_s_ + kPeerSpeaksFirst_s) continue;
      if (!replaces_) return AfterStopped(learner);
      KillStopped(learner);
    }
    return std::nullopt;
  }

  std::optional<int> LookAtSimulators() {
    for (RoleProcess& role : simulators_) {
      Child& simulator = role.Process();
      const std::optional<int> code = simulator.Poll();
      if (code && *code != kExitOk) {
        if (!replaces_ || *code == kExitBadInput) return AfterLostSimulator(simulator, *code);
        if (respawns_ == 0) {
          SayOnce(simulator);
        } else if (!StartSimulatorAgain(role)) {
          return GiveUp(role);
        }
      }
      if (simulator.StoppedFor() <= deadline_s_ + kPeerSpeaksFirst_s) continue;
      if (!replaces_) return AfterStopped(simulator);
      KillStopped(simulator);
    }
    return std::nullopt;
  }

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

  // A learner that a signal ended is started again, and with it all others, which cannot go on without it: the first of
  // them to end may be one of those.
  bool StartLearnersAgain() {
    if (!replaces_ || Interrupted()) return false;
    RoleProcess* killed = nullptr;
    for (const Deadline brief = Deadline::After(kPeerSpeaksFirst_s); killed == nullptr;) {
      bool more = false;
      for (RoleProcess& role : learners_) {
        const std::optional<int> code = role.Process().Poll();
        if (code && *code >= 128) killed = &role;
        more |= !code;
      }
      if (!more || brief.Passed()) break;
      std::this_thread::sleep_for(kPollPeriod);
    }
    if (killed == nullptr || !killed->MayStartAgain(respawns_)) return false;
    SayHowItEnded(killed->Process());
    StopAll(learners_, 0);
    const std::vector<std::string> more = ToGoOn(run_dir_, trains_);
    std::fprintf(stderr,
                 "gripstream: going on from %s (start %d of at most %d more within an hour, runtime.respawns)\n",
                 more.empty() ? "the beginning" : std::filesystem::path(more.back()).filename().c_str(),
                 killed->StartedAgain(), respawns_);
    for (RoleProcess& role : learners_) role.StartAgain(more);
    return true;
  }

  // Its place may be a spare's by now: then the new process is the next spare.
  bool StartSimulatorAgain(RoleProcess& role) {
    if (!role.MayStartAgain(respawns_)) return false;
    const Child& old = role.Process();
    std::fprintf(stderr, "gripstream: %s (pid %d) ended: %s; started again (%d of at most %d times within an hour)\n",
                 old.Name().c_str(), old.Pid(), old.HowItEnded().c_str(), role.StartedAgain(), respawns_);
    role.StartAgain({"--spare"});
    return true;
  }

  // Nobody is to start it again here: a spare or somebody else may.
  void SayOnce(const Child& lost) {
    if (!said_.insert(lost.Pid()).second) return;
    std::fprintf(stderr, "gripstream: %s (pid %d) ended: %s; the run goes on without it (runtime.respawns is 0)\n",
                 lost.Name().c_str(), lost.Pid(), lost.HowItEnded().c_str());
  }

  // The learner writes a checkpoint, as after an interrupt.
  int GiveUp(RoleProcess& role) {
    const Child& last = role.Process();
    std::fprintf(stderr,
                 "gripstream: %s (pid %d) ended: %s; it was started again %d times within an hour already "
                 "(runtime.respawns): giving up\n",
                 last.Name().c_str(), last.Pid(), last.HowItEnded().c_str(), respawns_);
    return AfterInterrupt();
  }

  void KillStopped(Child& child) {
    SayStopped(child);
    child.Signal(SIGKILL);
    child.EndBy(Deadline::After(0));
  }

  void SayStopped(const Child& child) {
    std::fprintf(stderr, "gripstream: %s (pid %d) has been stopped for %.1f s (SIGSTOP?)\n", child.Name().c_str(),
                 child.Pid(), child.StoppedFor());
  }

  // A process that is stopped cannot speak for itself, and one alone (inproc) has no peer to miss it.
  int AfterStopped(Child& child) {
    SayStopped(child);
    StopEverybody(0);
    return kExitFailed;
  }

  int AfterInterrupt() {
    for (RoleProcess& learner : learners_) learner.Process().Signal(SIGTERM);
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
      for (RoleProcess& learner : learners_) {
        if (learner.Process().Poll()) return &learner.Process();
      }
    }
    return nullptr;
  }

  Roles& learners_;
  Roles& simulators_;
  std::string run_dir_;
  double deadline_s_;  // wire.deadline_s
  int respawns_;
  bool replaces_, trains_;
  std::set<pid_t> said_;
};

int RunPlan(const RunConfig& config, RolePlan plan, const std::string& trace, const std::string& planned) {
  CatchInterrupts();
  PrepareRoleEnvironment();
  TraceParts parts(config.run.dir, trace);
  for (RoleCommand& simulator : plan.simulators) simulator.argv.push_back("--launched");
  for (std::vector<RoleCommand>* roles : {&plan.learners, &plan.simulators}) {
    for (RoleCommand& role : *roles) {
      if (!planned.empty()) role.argv.insert(role.argv.end(), {"--planned", planned});
    }
  }
  Roles learners = StartAll(plan.learners, parts), simulators = StartAll(plan.simulators, parts);
  const std::vector<std::string>& leader = plan.learners.front().argv;
  const bool trains = std::find(leader.begin(), leader.end(), "--evaluate") == leader.end();
  const int code = Watch(learners, simulators, config, trains).UntilTheEnd();
  parts.Merge();
  return code;
}

}  // namespace

int RunRoles(const RunConfig& config, const std::vector<std::string>& learner_arguments,
             const std::vector<std::string>& overrides, const std::string& trace, const std::string& planned) {
  const RolePlan plan = PlanRoles(config, config.run.dir, learner_arguments, overrides, VisibleGpus());
  for (const std::vector<RoleCommand>* roles : {&plan.learners, &plan.simulators}) {
    for (const RoleCommand& role : *roles) {
      if (!role.gpu.empty()) std::printf("%s: %s\n", role.name.c_str(), role.gpu.c_str());
    }
  }
  std::fflush(stdout);
  return RunPlan(config, plan, trace, planned);
}

}  // namespace gripstream
