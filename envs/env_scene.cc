// What a batch does with one environment on a physics thread: fill in a start, pass on joint targets, observe.
#include <algorithm>
#include <array>
#include <numeric>

#include "envs/env_batch.h"

namespace gripstream {
namespace {

Transform PoseOfBody(const SimView& sim, int body) {
  const mjtNum* p = sim.xpos + 3 * body;
  const mjtNum* q = sim.xquat + 4 * body;
  return {{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}};
}

Transform PoseOfSite(const SimView& sim, int site) {
  const mjtNum* p = sim.site_xpos + 3 * site;
  mjtNum q[4];
  mju_mat2Quat(q, sim.site_xmat + 9 * site);
  return {{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}};
}

}  // namespace

// Joint positions and velocities in the robot's order.
struct EnvBatch::JointState {
  std::array<double, kMaxRobotJoints> q, qd;
  size_t count;

  JointState(const RobotBinding& robot, const SimView& sim) : count(robot.qpos.size()) {
    for (size_t j = 0; j < count; ++j) {
      q[j] = sim.qpos[robot.qpos[j]];
      qd[j] = sim.qvel[robot.dofs[j]];
    }
  }
};

// Training draws by environment and its episode, evaluation by the episode's place in the set.
Rng EnvBatch::Draw(int env, const char* purpose) const {
  if (request_.mode == ResetRequest::Mode::kTrain)
    return RandomStream(seed_, purpose).At(env_id_.Of(env), episode_.Of(env));
  return RandomStream(EvaluationSet(), purpose).At(episode_.Of(env), 0);
}

uint64_t EnvBatch::EvaluationSet() const {
  return MixBits(request_.eval_seed) + (request_.held_out ? 2 : 1);
}

EpisodeKey EnvBatch::Episode(int env) const {
  if (request_.mode == ResetRequest::Mode::kTrain) return {env_id_.Of(env), episode_.Of(env)};
  // The highest bit keeps sets apart from the numbers of training episodes.
  return {episode_.Of(env), EvaluationSet() | uint64_t{1} << 63};
}

void EnvBatch::Fill(int env, const SimView& sim) {
  const RobotBinding& robot = models_.Binding();
  std::ranges::copy(robot.home_qpos, sim.qpos);
  Rng start = Draw(env, "start");
  const float noise = static_cast<float>(config_.start_noise_rad);
  for (size_t j = 0; j < robot.qpos.size(); ++j) {
    const JointLimit& limit = robot.tree.limits[j];
    mjtNum& position = sim.qpos[robot.qpos[j]];
    position = std::clamp(position + static_cast<double>(start.Uniform(-noise, noise)), limit.lower, limit.upper);
    sim.ctrl[robot.actuators[j]] = position;
  }
  Rng spawn = Draw(env, "spawn");
  const Transform object = task_->Spawn(models_.Object(object_.Of(env)), spawn);
  const double pose[7] = {object.pos.x,  object.pos.y,  object.pos.z, object.quat.w,
                          object.quat.x, object.quat.y, object.quat.z};
  std::copy_n(pose, 7, sim.qpos + robot.object_qpos);
  const JointState joints(robot, sim);
  action_map_->Begin(std::span(joints.q).first(joints.count), std::span(joints.qd).first(joints.count), {},
                     memory_[env]);
}

void EnvBatch::Control(int env, const SimView& sim) {
  const RobotBinding& robot = models_.Binding();
  std::array<double, kMaxRobotJoints> targets;
  const size_t joints = robot.actuators.size();
  action_map_->Tick(tick_s_, memory_[env], std::span(targets).first(joints));
  for (size_t j = 0; j < joints; ++j) sim.ctrl[robot.actuators[j]] = targets[j];
}

Scene EnvBatch::MakeScene(int env, const SimView& sim, const JointState& joints) const {
  const RobotBinding& robot = models_.Binding();
  return {
      .q = std::span(joints.q).first(joints.count),
      .qd = std::span(joints.qd).first(joints.count),
      .palm = PoseOfSite(sim, robot.palm_site),
      .object = PoseOfBody(sim, robot.object_body),
      .palm_target = action_map_->PalmTarget(memory_[env]),
      .action = action_[env],
      .last_action = last_action_[env],
      .step = static_cast<int>(episode_step_.Of(env)),
      .episode_steps = episode_steps_,
  };
}

void EnvBatch::WriteObservation(int env, const Scene& scene) {
  task_->Observe(scene, proprio_[env], state_[env]);
  const std::span<float> position = object_position_[env];
  position[0] = static_cast<float>(scene.object.pos.x);
  position[1] = static_cast<float>(scene.object.pos.y);
  position[2] = static_cast<float>(scene.object.pos.z);
}

void EnvBatch::WriteOutcome(int env, const Scene& scene) {
  const bool times_out = scene.step >= episode_steps_;
  const Outcome outcome = task_->Evaluate(scene, times_out, terms_[env]);
  reward_.Of(env) = std::accumulate(terms_[env].begin(), terms_[env].end(), 0.0f);
  const DoneKind kind = outcome.terminated ? DoneKind::kTerminated
                        : times_out        ? DoneKind::kTimedOut
                                           : DoneKind::kRunning;
  const bool ended = kind != DoneKind::kRunning;
  done_.Of(env) = static_cast<uint8_t>(kind);
  success_.Of(env) = ended && outcome.success ? 1 : 0;
  if (ended)
    std::ranges::copy(state_[env], final_state_[env].begin());
  else
    final_state_.Clear(env);
}

void EnvBatch::ObserveStart(int env, const SimView& sim) {
  const JointState joints(models_.Binding(), sim);
  WriteObservation(env, MakeScene(env, sim, joints));
}

void EnvBatch::ObserveStep(int env, const SimView& sim) {
  ++episode_step_.Of(env);
  const JointState joints(models_.Binding(), sim);
  const Scene scene = MakeScene(env, sim, joints);
  WriteObservation(env, scene);
  WriteOutcome(env, scene);
}

}  // namespace gripstream
