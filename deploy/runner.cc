#include "deploy/runner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "core/clock.h"
#include "core/error.h"

namespace gripstream {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kPlaceNear_m = 0.02;
constexpr double kSameMotion_rad = 0.2;

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f s", seconds);
  return text;
}

std::string Radians(double radians) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f rad", radians);
  return text;
}

std::string WhyNot(const MessageHead& head, const char* kind) {
  if (!IsKind(head, kind)) return "a message of another kind than " + std::string(kind);
  if (head.version != kRobotInterfaceVersion)
    return "messages of version " + std::to_string(head.version) + " of the robot interface, expected " +
           std::to_string(kRobotInterfaceVersion);
  return {};
}

int PolicySteps(const Manifest& manifest, const RunnerConfig& config) {
  const double s = config.policy_s > 0 ? config.policy_s : manifest.control.episode_s;
  return std::max(1, static_cast<int>(std::lround(s * manifest.control.policy_hz)));
}

PoseServoParams CarryParams(const RobotModel& robot, const HomeConfig& home) {
  PoseServoParams params;
  params.max_joint_speed = home.speed;
  for (int joint = 0; joint < robot.arm_joints; ++joint) params.joints.push_back(joint);
  params.rest.assign(robot.home.begin(), robot.home.begin() + robot.arm_joints);
  return params;
}

std::vector<double> OpenHand(const RobotModel& robot, const PlaceConfig& place) {
  const std::vector<double> home(robot.home.begin() + robot.arm_joints, robot.home.end());
  if (place.open_hand.empty()) return home;
  if (place.open_hand.size() != home.size())
    throw InputError("runner", "place.open_hand", std::to_string(place.open_hand.size()) + " numbers",
                     std::to_string(home.size()) + ", one per hand joint");
  return place.open_hand;
}

}  // namespace

Runner::Runner(const Manifest& manifest, const std::string& file, const RunnerConfig& config, PolicyEngine& engine)
    : config_(config),
      driver_(manifest, file, engine),
      policy_steps_(PolicySteps(manifest, config)),
      limiter_(driver_.Robot().tree.limits, {config.limits.velocity, config.limits.acceleration}, "runner"),
      wanted_(driver_.Robot().home),
      carry_(CarryParams(driver_.Robot(), config.home)),
      open_hand_(OpenHand(driver_.Robot(), config.place)) {
  if (wanted_.size() > kMaxMessageJoints)
    throw InputError(file, "joints.names", std::to_string(wanted_.size()),
                     "at most " + std::to_string(kMaxMessageJoints) + " joints");
  if (config.place.above_z_m > 0 && manifest.policy.aux != 3)
    throw InputError("runner", "place.above_z_m", std::to_string(config.place.above_z_m),
                     "0: this policy does not estimate where the object is");
  const std::vector<double>& p = config.place.palm;
  place_ = {{p[0], p[1], p[2]}, EulerZyx(p[3], p[4], p[5])};
  AddCameras(manifest);
}

void Runner::AddCameras(const Manifest& manifest) {
  const std::vector<std::string>& inputs = manifest.policy.inputs;
  const auto wants = [&](const char* name) { return std::ranges::find(inputs, name) != inputs.end(); };
  sees_depth_ = wants("depth");
  if (!sees_depth_ && !wants("rgb")) return;
  const PixelFormat format = sees_depth_ ? PixelFormat::kDepth16 : PixelFormat::kRgb8;
  size_t size = 0;
  for (const auto& [camera, calibration] :
       {std::pair(&manifest.camera, &config_.calibration), {&manifest.second_camera, &config_.second_calibration}}) {
    if (camera->name.empty()) continue;
    cameras_.push_back({CameraInput(*camera, format, *calibration), size});
    size += cameras_.back().input.Size();
  }
  image_.resize(size);
}

std::string Runner::TakeJoints(const JointStates& states, double now_s) {
  if (std::string why = WhyNot(states.head, kJointStatesKind); !why.empty()) return why;
  if (states.joints != wanted_.size())
    return "joint states of " + std::to_string(states.joints) + " joints, expected " + std::to_string(wanted_.size());
  joints_ = states;
  joints_arrived_s_ = now_s;
  return {};
}

std::string Runner::TakeFrame(const CameraFrame& frame, std::span<const std::byte> pixels, double now_s) {
  if (std::string why = WhyNot(frame.head, kCameraFrameKind); !why.empty()) return why;
  const std::string name(frame.camera, strnlen(frame.camera, sizeof(frame.camera)));
  const auto camera = std::ranges::find_if(cameras_, [&](const Camera& c) { return c.input.Name() == name; });
  if (camera == cameras_.end()) return "frames of camera '" + name + "', which the policy does not use";
  if (std::string why = camera->input.WhyNot(frame); !why.empty()) return why;
  // A frame that was overtaken on the way is of no use.
  if (camera->last && camera->last->head.stamp_ns > frame.head.stamp_ns && frame.head.stamp_ns != 0) return {};
  camera->input.Convert(frame, pixels, std::span(image_).subspan(camera->place, camera->input.Size()));
  camera->last = frame;
  camera->arrived_s = now_s;
  return {};
}

void Runner::Stop(StopReason reason, const std::string& why) {
  if (phase_ == RunnerPhase::kStopped) return;
  phase_ = RunnerPhase::kStopped;
  stop_ = reason;
  why_ = why;
}

double Runner::JointsAge(double now_s) const {
  return joints_ ? now_s - joints_arrived_s_ : kNever;
}

// By the stamps of the robot's clock where it gives them: what the frame waited on its way counts too.
double Runner::FrameAge(const Camera& camera, double now_s) const {
  if (!camera.last) return kNever;
  const int64_t frame_ns = camera.last->head.stamp_ns, joints_ns = joints_ ? joints_->head.stamp_ns : 0;
  if (frame_ns == 0 || joints_ns == 0) return now_s - camera.arrived_s;
  return 1e-9 * static_cast<double>(joints_ns - frame_ns) + JointsAge(now_s);
}

std::optional<std::pair<StopReason, std::string>> Runner::CameraTrouble(double now_s) const {
  for (const Camera& camera : cameras_) {
    const double age = FrameAge(camera, now_s);
    if (age <= config_.watchdog.camera_s) continue;
    return std::pair(StopReason::kStaleCamera,
                     camera.last ? "the newest frame of camera " + camera.input.Name() + " is " + Seconds(age) + " old"
                                 : "no frame of camera " + camera.input.Name() + " has come");
  }
  return std::nullopt;
}

std::optional<std::pair<StopReason, std::string>> Runner::JointTrouble() const {
  const RobotModel& robot = driver_.Robot();
  const std::span<const double> q = Q(), qd = Qd();
  for (size_t j = 0; j < q.size(); ++j) {
    const std::string& name = robot.tree.joint_names[j];
    if (!std::isfinite(q[j]) || !std::isfinite(qd[j]))
      return std::pair(StopReason::kBadNumber, "the state of joint " + name + " is no number");
    const JointLimit& limit = robot.tree.limits[j];
    const double beyond = std::max(limit.lower - q[j], q[j] - limit.upper);
    if (beyond > config_.watchdog.beyond_limits_rad)
      return std::pair(StopReason::kOutOfLimits, "joint " + name + " is " + Radians(beyond) + " beyond its limits");
    const bool arm = static_cast<int>(j) < robot.arm_joints;
    const double off = std::abs(q[j] - limiter_.Q()[j]);
    if (arm && started_ && config_.watchdog.following_rad > 0 && off > config_.watchdog.following_rad)
      return std::pair(StopReason::kNotFollowing, "joint " + name + " is " + Radians(off) + " from its target");
  }
  return std::nullopt;
}

std::optional<std::pair<StopReason, std::string>> Runner::Trouble(double now_s) const {
  if (const double age = JointsAge(now_s); age > config_.watchdog.joints_s)
    return std::pair(StopReason::kStaleJoints, "the newest joint states are " + Seconds(age) + " old");
  if (auto trouble = JointTrouble()) return trouble;
  return phase_ == RunnerPhase::kPolicy ? CameraTrouble(now_s) : std::nullopt;
}

// Obeys the operator's counter.
void Runner::TakeRun() {
  if (!joints_ || joints_->head.run == run_) return;
  run_ = joints_->head.run;
  home_since_s_ = -1;
  stop_ = StopReason::kNone;
  why_.clear();
  phase_ = run_ == 0 ? RunnerPhase::kWaiting : RunnerPhase::kHome;
  if (started_ && (run_ == 0 || InMotion())) return;
  limiter_.Start(Q(), Qd());
  started_ = true;
}

// Whether the joints are on the way that the targets are on: then these go on from where they are, without a jump.
bool Runner::InMotion() const {
  bool moves = false;
  for (size_t j = 0; j < wanted_.size(); ++j) {
    if (!(std::abs(Q()[j] - limiter_.Q()[j]) <= kSameMotion_rad)) return false;
    moves |= limiter_.Qd()[j] != 0;
  }
  return moves;
}

void Runner::Enter(RunnerPhase phase, double now_s) {
  phase_ = phase;
  since_s_ = now_s;
  high_since_s_ = open_since_s_ = home_since_s_ = -1;
  if (phase == RunnerPhase::kPolicy) {
    driver_.Begin(Q(), Qd());
    limiter_.Retarget(Q());
  }
  if (phase == RunnerPhase::kPlace) std::ranges::copy(limiter_.Q(), wanted_.begin());
}

bool Runner::AtHome() const {
  for (size_t j = 0; j < wanted_.size(); ++j)
    if (std::abs(Q()[j] - driver_.Robot().home[j]) > config_.home.tolerance_rad) return false;
  return true;
}

// At home the policy begins once its cameras see; they are waited for as long as they may be silent.
void Runner::EndHome(double now_s) {
  if (JointsAge(now_s) > config_.watchdog.joints_s || !AtHome()) {
    home_since_s_ = -1;
    return;
  }
  if (home_since_s_ < 0) home_since_s_ = now_s;
  if (!CameraTrouble(now_s) || now_s - home_since_s_ > config_.watchdog.camera_s) Enter(RunnerPhase::kPolicy, now_s);
}

void Runner::Tick(double now_s) {
  record_ = {};
  TakeRun();
  const bool active = phase_ != RunnerPhase::kWaiting && phase_ != RunnerPhase::kStopped;
  if (phase_ == RunnerPhase::kHome) EndHome(now_s);
  if (active) {
    if (const auto trouble = Trouble(now_s)) Stop(trouble->first, trouble->second);
  }
  Act(now_s);
  Publish(now_s);
}

void Runner::Act(double now_s) {
  if (!started_) return;
  const double dt = driver_.TickSeconds();
  const HomeConfig& slow = config_.home;
  switch (phase_) {
    case RunnerPhase::kHome:
      return limiter_.FollowSlowly(driver_.Robot().home, dt, slow.speed, slow.acceleration);
    case RunnerPhase::kPolicy:
      return ActByPolicy(now_s);
    case RunnerPhase::kGrasped:
      limiter_.FollowSlowly(wanted_, dt, slow.speed, config_.limits.stop_acceleration);
      if (now_s - since_s_ >= config_.place.slow_s) Enter(RunnerPhase::kPlace, now_s);
      return;
    case RunnerPhase::kPlace:
      return CarryToPlace(now_s);
    case RunnerPhase::kWaiting:
    case RunnerPhase::kDone:
    case RunnerPhase::kStopped:
      limiter_.Brake(dt, config_.limits.stop_acceleration);
      return;
  }
}

bool Runner::LooksGrasped(double now_s) {
  const std::vector<float>& object = driver_.Aux();
  if (config_.place.above_z_m <= 0 || object.size() != 3) return false;
  if (static_cast<double>(object[2]) < config_.place.above_z_m) {
    high_since_s_ = -1;
    return false;
  }
  if (high_since_s_ < 0) high_since_s_ = now_s;
  return now_s - high_since_s_ >= config_.place.for_s;
}

void Runner::ActByPolicy(double now_s) {
  const double dt = driver_.TickSeconds();
  if (driver_.Decides()) {
    if (driver_.Steps() >= policy_steps_) {
      Enter(RunnerPhase::kDone, now_s);
      limiter_.Brake(dt, config_.limits.stop_acceleration);
      return;
    }
    const std::span<const float> image = image_;
    const double begin_s = SteadySeconds();
    const bool sound =
        driver_.Decide(Q(), Qd(), sees_depth_ ? image : image.first(0), sees_depth_ ? image.first(0) : image);
    record_.decided = true;
    record_.policy_s = SteadySeconds() - begin_s;
    if (!sound) {
      Stop(StopReason::kBadNumber, "the policy's output is no number");
      limiter_.Brake(dt, config_.limits.stop_acceleration);
      return;
    }
    if (LooksGrasped(now_s)) {
      Enter(RunnerPhase::kGrasped, now_s);
      limiter_.FollowSlowly(wanted_, dt, config_.home.speed, config_.limits.stop_acceleration);
      return;
    }
  }
  driver_.Tick(wanted_);
  if (!std::ranges::all_of(wanted_, [](double x) { return std::isfinite(x); })) {
    Stop(StopReason::kBadNumber, "a joint target is no number");
    std::ranges::copy(limiter_.Q(), wanted_.begin());
    limiter_.Brake(dt, config_.limits.stop_acceleration);
    return;
  }
  limiter_.Follow(wanted_, dt);
}

bool Runner::AtPlace() const {
  return Norm(FramePose(driver_.Robot().tree, Q(), driver_.Robot().palm).pos - place_.pos) <= kPlaceNear_m;
}

// The hand holds what it was told last until the palm is there, or takes too long.
void Runner::CarryToPlace(double now_s) {
  const RobotModel& robot = driver_.Robot();
  StepPoseServo(robot.tree, carry_, robot.palm, place_, driver_.TickSeconds(), wanted_);
  if (open_since_s_ < 0 && (AtPlace() || now_s - since_s_ > config_.place.timeout_s)) open_since_s_ = now_s;
  if (open_since_s_ >= 0) std::ranges::copy(open_hand_, wanted_.begin() + robot.arm_joints);
  limiter_.FollowSlowly(wanted_, driver_.TickSeconds(), config_.home.speed, config_.home.acceleration);
  if (open_since_s_ >= 0 && now_s - open_since_s_ > config_.place.open_s)
    Enter(config_.place.again ? RunnerPhase::kHome : RunnerPhase::kDone, now_s);
}

void Runner::Publish(double now_s) {
  const size_t joints = wanted_.size();
  const int64_t stamp_ns = static_cast<int64_t>(now_s * 1e9);
  targets_ = {};
  targets_.head = MakeHead(kJointTargetsKind, ++sequence_, run_, stamp_ns);
  targets_.joints = started_ ? static_cast<uint32_t>(joints) : 0;
  targets_.phase = static_cast<uint32_t>(phase_);
  targets_.answers = joints_ ? joints_->head.sequence : 0;
  targets_.stop = static_cast<uint32_t>(stop_);
  const std::vector<float>& object = driver_.Aux();
  for (size_t i = 0; i < 3; ++i)
    targets_.object[i] = object.size() == 3 ? static_cast<double>(object[i]) : std::nan("");
  std::ranges::copy(limiter_.Q(), targets_.q);
  std::ranges::copy(limiter_.Qd(), targets_.qd);
  record_.tick = ticks_++;
  record_.phase = phase_;
  record_.stop = stop_;
  record_.run = run_;
  record_.joints_sequence = targets_.answers;
  record_.joints_age_s = JointsAge(now_s);
  record_.frame_age_s = 0;
  for (const Camera& camera : cameras_) {
    record_.frame_sequence = camera.last ? camera.last->head.sequence : 0;
    record_.frame_age_s = std::max(record_.frame_age_s, FrameAge(camera, now_s));
  }
  record_.action = driver_.Action();
  std::ranges::copy(targets_.object, record_.object);
  if (joints_) record_.q = Q();
  record_.target = std::span(targets_.q).first(joints);
}

}  // namespace gripstream
