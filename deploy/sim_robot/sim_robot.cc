#include "deploy/sim_robot/sim_robot.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include "core/clock.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/rng.h"
#include "deploy/sim_robot/episode_rows.h"
#include "deploy/sim_robot/sim_world.h"
#include "deploy/stop_reason.h"

namespace gripstream {
namespace {

constexpr double kAskAgain_s = 0.2;  // states are sent again when no answer has come
constexpr int kGoodbyes = 3;

// Frames on their way to the runner.
class CameraLine {
 public:
  CameraLine(const SimRobotOptions& options, RobotLink& link) : options_(options), link_(link) {}

  void Take(const SimWorld::Picture& picture, int64_t stamp_ns, SimRobotResult& result) {
    Rng rng = RandomStream(options_.seed, "camera line " + picture.camera).At(0, ++taken_);
    const bool lost = static_cast<double>(rng.Uniform()) < options_.frame_loss;
    const double late_s = options_.frame_delay_s + options_.frame_jitter_s * static_cast<double>(rng.Uniform(-1, 1));
    ++result.frames;
    result.frames_lost += lost;
    if (lost) return;
    Frame frame{.due_ns = stamp_ns + static_cast<int64_t>(1e9 * std::max(0.0, late_s)), .head = {}, .pixels = {}};
    frame.head.head = MakeHead(kCameraFrameKind, static_cast<uint32_t>(taken_), 0, stamp_ns);
    std::strncpy(frame.head.camera, picture.camera.c_str(), sizeof(frame.head.camera) - 1);
    frame.head.width = static_cast<uint32_t>(picture.width_px);
    frame.head.height = static_cast<uint32_t>(picture.height_px);
    frame.head.format = static_cast<uint32_t>(picture.format);
    frame.head.bytes = static_cast<uint32_t>(picture.pixels.size());
    frame.head.depth_unit_m = picture.format == PixelFormat::kDepth16 ? kDepthUnit_m : 0;
    frame.pixels = picture.pixels;
    under_way_.push_back(std::move(frame));
  }

  void SendDue(int64_t now_ns) {
    for (auto frame = under_way_.begin(); frame != under_way_.end();) {
      if (frame->due_ns > now_ns) {
        ++frame;
        continue;
      }
      link_.Send(std::as_bytes(std::span(&frame->head, 1)), frame->pixels);
      frame = under_way_.erase(frame);
    }
  }
  // A new episode: what shows the last one is no use.
  void Forget() { under_way_.clear(); }

 private:
  static constexpr double kDepthUnit_m = 1e-4;  // of the renderer's depth images
  struct Frame {
    int64_t due_ns;
    CameraFrame head;
    std::vector<std::byte> pixels;
  };
  const SimRobotOptions& options_;
  RobotLink& link_;
  uint64_t taken_ = 0;
  std::vector<Frame> under_way_;
};

class SimRobot {
 public:
  SimRobot(const SimRobotOptions& options, RobotLink& link)
      : options_(options),
        link_(link),
        world_(options.task, options.render, options.seed),
        line_(options_, link),
        rows_(world_.Envs(), options.sheet, std::min(options.sheet_rows, options.episodes)),
        every_(options.camera_hz <= 0
                   ? 1
                   : std::max(1, static_cast<int>(std::lround(1 / (options.camera_hz * world_.TickSeconds()))))),
        delay_ticks_(static_cast<size_t>(std::lround(options.target_delay_s / world_.TickSeconds()))) {}

  SimRobotResult Play() {
    world_.Reset(options_.episode_seed);
    Meet();
    for (run_ = 1; result_.episodes < options_.episodes && !Interrupted(); ++run_) PlayEpisode();
    states_.flags = kGoodbye;
    for (int i = 0; i < kGoodbyes; ++i) SendStates(true);
    return result_;
  }

 private:
  // What is published before the runner listens is lost: frames and states of run 0, standing still, until it answers.
  void Meet() {
    heard_s_ = SteadySeconds();
    while (!taken_up_ && !Interrupted()) {
      for (const SimWorld::Picture& picture : world_.TakePictures()) line_.Take(picture, Now_ns(), result_);
      line_.SendDue(Now_ns());
      SendStates(true);
      Receive(Deadline::After(kAskAgain_s));
      CheckPatience();
    }
    result_.frames = result_.frames_lost = 0;
  }

  void PlayEpisode() {
    delayed_.clear();
    held_.assign(world_.Q().begin(), world_.Q().end());
    Settle();
    StopReason stop = StopReason::kNone;
    next_s_ = 0;
    for (int tick = 0; !Interrupted(); ++tick) {
      Show(tick);
      AwaitTargets(tick);
      if (static_cast<RunnerPhase>(targets_.phase) == RunnerPhase::kStopped)
        stop = static_cast<StopReason>(targets_.stop);
      ++ticks_;
      ++result_.ticks;
      if (world_.Step(Delayed())) break;
    }
    if (Interrupted()) return;
    ++result_.episodes;
    result_.successes += world_.Succeeded();
    result_.stopped += stop != StopReason::kNone;
    ++result_.stops[std::min(result_.stops.size() - 1, static_cast<size_t>(stop))];
    rows_.End(world_.Succeeded());
  }

  // The world stands still until frames of this episode are where the last one's were.
  void Settle() {
    line_.Forget();
    const double late_s = options_.frame_delay_s + options_.frame_jitter_s;
    const int ticks = static_cast<int>(std::ceil(late_s / world_.TickSeconds()));
    for (int tick = 0; tick < (ticks > 0 ? ticks + every_ : 0); ++tick, ++ticks_) ShowFrames(tick);
  }

  int64_t Now_ns() const {
    return 1 + static_cast<int64_t>(std::llround(1e9 * world_.TickSeconds() * static_cast<double>(ticks_)));
  }

  // What the robot publishes at this tick.
  void Show(int tick) {
    ShowFrames(tick);
    rows_.Look(world_, tick);
    SendStates(true);
  }
  void ShowFrames(int tick) {
    if (tick % every_ == 0) {
      for (const SimWorld::Picture& picture : world_.TakePictures()) line_.Take(picture, Now_ns(), result_);
    }
    line_.SendDue(Now_ns());
  }

  // `fresh`: another message, else the last one again.
  void SendStates(bool fresh) {
    if (fresh) ++sequence_;
    states_.head = MakeHead(kJointStatesKind, sequence_, run_, Now_ns());
    states_.joints = static_cast<uint32_t>(world_.Q().size());
    std::ranges::copy(world_.Q(), states_.q);
    std::ranges::copy(world_.Qd(), states_.qd);
    link_.Send(states_);
    sent_s_ = SteadySeconds();
  }

  void AwaitTargets(int tick) {
    if (options_.real_time && tick > 0) {
      next_s_ += world_.TickSeconds();
      while (SteadySeconds() < next_s_) Receive(Deadline::After(next_s_ - SteadySeconds()));
      CheckPatience();
      return;
    }
    // The answer to these states; the first one of an episode tells that the runner has taken it up.
    const double again_s = options_.real_time ? world_.TickSeconds() : kAskAgain_s;
    heard_s_ = SteadySeconds();
    taken_up_ = false;
    while (!taken_up_ && !Interrupted()) {
      Receive(Deadline::After(again_s));
      if (!taken_up_ && SteadySeconds() - sent_s_ >= again_s) SendStates(options_.real_time);
      CheckPatience();
    }
    next_s_ = SteadySeconds();
  }

  void CheckPatience() const {
    if (SteadySeconds() - heard_s_ > options_.patience_s)
      throw RunError("the runner has not answered for " + std::to_string(options_.patience_s) + " s");
  }

  bool Receive(Deadline deadline) {
    if (!link_.Receive(deadline, message_)) return false;
    JointTargets targets;
    if (!ReadMessage(message_, kJointTargetsKind, targets) || targets.head.version != kRobotInterfaceVersion)
      return true;
    const bool ours = targets.head.run == run_ && (run_ == 0 || targets.joints == world_.Q().size());
    if (!ours || (!options_.real_time && targets.answers != sequence_)) return true;
    targets_ = targets;
    taken_up_ = true;
    heard_s_ = SteadySeconds();
    return true;
  }

  // The targets that act now.
  std::span<const double> Delayed() {
    delayed_.push_back({targets_.q, targets_.q + held_.size()});
    if (delayed_.size() > delay_ticks_) {
      held_ = delayed_.front();
      delayed_.pop_front();
    }
    return held_;
  }

  const SimRobotOptions options_;
  RobotLink& link_;
  SimWorld world_;
  CameraLine line_;
  EpisodeRows rows_;
  const int every_;  // ticks between frames
  const size_t delay_ticks_;
  SimRobotResult result_;
  JointStates states_{};
  JointTargets targets_{};
  std::deque<std::vector<double>> delayed_;
  std::vector<double> held_;
  std::vector<std::byte> message_;
  uint32_t run_ = 0, sequence_ = 0;
  int64_t ticks_ = 0;
  bool taken_up_ = false;
  double next_s_ = 0, heard_s_ = 0, sent_s_ = 0;
};

}  // namespace

SimRobotResult PlayRobot(const SimRobotOptions& options, RobotLink& link) {
  return SimRobot(options, link).Play();
}

}  // namespace gripstream
