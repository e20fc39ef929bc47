#include "deploy/runner_loop.h"

#include <set>

#include "core/clock.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/log.h"

namespace gripstream {
namespace {

constexpr double kSlice_s = 0.1;  // between looks at interrupts
constexpr int kFlushEvery = 30;   // ticks

class Loop {
 public:
  Loop(Runner& runner, RobotLink& link, const RunnerConfig& config, TickLog& log)
      : runner_(runner), link_(link), config_(config), log_(log), start_s_(SteadySeconds()) {}

  void RealTime() {
    AwaitRobot();
    double next_s = SteadySeconds();
    for (int tick = 1; !Interrupted() && !runner_.Goodbye(); ++tick) {
      next_s += runner_.TickSeconds();
      // What arrives meanwhile is taken at once: an image is ready when its tick begins.
      while (SteadySeconds() < next_s && Take(Deadline::After(next_s - SteadySeconds()), SteadySeconds)) {
      }
      while (Take(Deadline::After(0), SteadySeconds)) {
      }
      if (runner_.Goodbye()) return;
      if (link_.Lost()) runner_.Stop(StopReason::kLostConnection, "the connection to the robot was lost");
      TickAndSend(SteadySeconds());
      Judge(next_s);
      if (tick % kFlushEvery == 0) log_.Flush();
    }
  }

  void LockStep() {
    AwaitRobot();
    double heard_s = SteadySeconds();
    const auto stamp = [this] { return 1e-9 * static_cast<double>(newest_stamp_ns_); };
    uint32_t answered = 0;
    while (!Interrupted() && !runner_.Goodbye()) {
      if (waiting_ == answered && !Take(Deadline::After(kSlice_s), stamp)) {
        if (SteadySeconds() - heard_s < config_.patience_s && !link_.Lost()) continue;
        runner_.Stop(StopReason::kLostConnection, "the robot has fallen silent");
        return;
      }
      heard_s = SteadySeconds();
      if (repeated_ && answered != 0) link_.Send(runner_.Targets());  // our answer was lost
      repeated_ = false;
      if (waiting_ == answered || runner_.Goodbye()) continue;
      answered = waiting_;
      TickAndSend(stamp());
      log_.Flush();
    }
  }

 private:
  // The first joint states.
  void AwaitRobot() {
    const Deadline deadline = Deadline::After(config_.patience_s);
    LogInfo("waiting for the robot at ", config_.states);
    while (!runner_.HasJoints() && !Interrupted()) {
      Take(Deadline::After(kSlice_s), SteadySeconds);
      if (deadline.Passed() && !runner_.HasJoints())
        throw RunError("no joint states came from " + config_.states +
                       " within patience_s = " + std::to_string(config_.patience_s) + " s");
    }
    LogInfo("the robot is there");
  }

  // Takes one message, if one comes; `now` is asked once it is there.
  template <class Now>
  bool Take(Deadline deadline, Now now) {
    if (!link_.Receive(deadline, message_)) return false;
    const double begin_s = SteadySeconds(), begin_cpu_s = ThreadSeconds();
    JointStates states;
    CameraFrame frame;
    if (ReadMessage(message_, kJointStatesKind, states)) {
      repeated_ = states.head.sequence == waiting_;
      waiting_ = states.head.sequence;
      newest_stamp_ns_ = states.head.stamp_ns;
      Complain(runner_.TakeJoints(states, now()));
    } else if (ReadMessage(message_, kCameraFrameKind, frame)) {
      const std::span<const std::byte> pixels = std::span(message_).subspan(sizeof(frame));
      Complain(pixels.size() == frame.bytes ? runner_.TakeFrame(frame, pixels, now())
                                            : "a camera frame of another size than it says");
    } else {
      Complain("a message of " + std::to_string(message_.size()) + " bytes that is none of the robot interface");
    }
    busy_s_ += SteadySeconds() - begin_s;
    busy_cpu_s_ += ThreadSeconds() - begin_cpu_s;
    return true;
  }

  // Once per complaint.
  void Complain(const std::string& why) {
    if (!why.empty() && complaints_.insert(why).second) LogWarning("ignored: ", why);
  }

  void TickAndSend(double now_s) {
    const double begin_s = SteadySeconds(), begin_cpu_s = ThreadSeconds();
    runner_.Tick(now_s);
    link_.Send(runner_.Targets());
    TickRecord record = runner_.Record();
    record.time_s = SteadySeconds() - start_s_;
    record.tick_s = SteadySeconds() - begin_s + busy_s_;
    record.cpu_s = ThreadSeconds() - begin_cpu_s + busy_cpu_s_;
    busy_s_ = busy_cpu_s_ = 0;
    log_.Add(record);
    if (runner_.Phase() != last_phase_) {
      last_phase_ = runner_.Phase();
      if (last_phase_ == RunnerPhase::kStopped)
        LogWarning("safe stop, ", NameOf(runner_.Stopped()), ": ", runner_.Why());
      else if (config_.clock == "real_time")
        LogInfo("phase ", NameOf(last_phase_));
    }
  }

  // Counts ticks that were not done by the time of the next.
  void Judge(double& next_s) {
    const double late_s = SteadySeconds() - next_s - runner_.TickSeconds();
    misses_ = late_s > 0 ? misses_ + 1 : 0;
    if (late_s > 0) next_s = SteadySeconds();  // do not hurry to make up for it
    if (misses_ < config_.watchdog.misses) return;
    runner_.Stop(StopReason::kMissedDeadline, std::to_string(misses_) + " ticks in a row took too long");
    misses_ = 0;
  }

  Runner& runner_;
  RobotLink& link_;
  const RunnerConfig& config_;
  TickLog& log_;
  const double start_s_;
  std::vector<std::byte> message_;
  std::set<std::string> complaints_;
  RunnerPhase last_phase_ = RunnerPhase::kWaiting;
  uint32_t waiting_ = 0;  // sequence of the newest joint states
  bool repeated_ = false;
  int64_t newest_stamp_ns_ = 0;
  double busy_s_ = 0, busy_cpu_s_ = 0;  // on messages since the last tick
  int misses_ = 0;
};

}  // namespace

void ServeRobot(Runner& runner, RobotLink& link, const RunnerConfig& config, TickLog& log) {
  Loop loop(runner, link, config, log);
  if (config.clock == "lockstep")
    loop.LockStep();
  else
    loop.RealTime();
  log.Flush();
}

}  // namespace gripstream
