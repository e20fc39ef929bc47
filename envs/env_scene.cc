// What a batch observes of one environment, on a physics thread.
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

// Everything that a scene refers to.
struct EnvBatch::Senses {
  std::array<double, kMaxRobotJoints> q, qd, q_seen, qd_seen, command_q, command_qd, command_qdd, torque;
  std::array<double, kMaxTouches> touch;
  std::array<FrameMotion, kMaxHandPoints> hand, hand_seen;
  size_t joints, touches;
  Rng noise{0, 0, 0};
};

namespace {

double Uniform(Rng& rng, double width) {
  return width * (2 * static_cast<double>(rng.Uniform()) - 1);
}

Vec3 NoisyPosition(Vec3 p, const NoiseDraw& draw, Rng& rng) {
  const auto noisy = [&](double x) { return x + draw.bias + Uniform(rng, draw.width); };
  const double x = noisy(p.x), y = noisy(p.y);
  return {x, y, noisy(p.z)};
}

Quat NoisyRotation(Quat q, const NoiseDraw& draw, Rng& rng) {
  const auto noisy = [&](double x) { return x + draw.bias + Uniform(rng, draw.width); };
  const double w = noisy(q.w), x = noisy(q.x), y = noisy(q.y);
  return Normalized({w, x, y, noisy(q.z)});
}

}  // namespace

// Joints, what the robot's sensors make of them, commands and forces.
void EnvBatch::Sense(int env, const SimView& sim, Senses& s) const {
  const RobotBinding& robot = models_.Binding();
  const EpisodeSettings& settings = settings_[static_cast<size_t>(env)];
  s.joints = robot.qpos.size();
  const uint64_t step = (uint64_t{episode_.Of(env)} << 32) | episode_step_.Of(env);
  s.noise = request_.mode == ResetRequest::Mode::kTrain
                ? RandomStream(seed_, "observation noise").At(env_id_.Of(env), step)
                : RandomStream(EvaluationSet(), "observation noise").At(0, step);
  const bool noisy = config_.randomise.enabled;
  for (size_t j = 0; j < s.joints; ++j) {
    s.q[j] = s.q_seen[j] = sim.qpos[robot.qpos[j]];
    s.qd[j] = s.qd_seen[j] = sim.qvel[robot.dofs[j]];
    s.torque[j] = sim.qfrc_actuator[robot.dofs[j]];
    if (!noisy) continue;
    s.q_seen[j] += settings.position.bias + Uniform(s.noise, settings.position.width);
    s.qd_seen[j] += settings.velocity.bias + Uniform(s.noise, settings.velocity.width);
  }
  s.touches = robot.touches.size();
  for (size_t i = 0; i < s.touches; ++i) s.touch[i] = sim.sensordata[robot.touches[i]];
  action_map_->Commanded(memory_[env], {std::span(s.command_q).first(s.joints), std::span(s.command_qd).first(s.joints),
                                        std::span(s.command_qdd).first(s.joints)});
}

Scene EnvBatch::MakeScene(int env, const SimView& sim, Senses& s) const {
  const RobotBinding& robot = models_.Binding();
  const EpisodeSettings& settings = settings_[static_cast<size_t>(env)];
  Sense(env, sim, s);
  const auto all = [&](const auto& values) { return std::span<const double>(values).first(s.joints); };
  Scene scene{.q = all(s.q),
              .qd = all(s.qd),
              .palm = PoseOfSite(sim, robot.palm_site),
              .object = PoseOfBody(sim, robot.object_body),
              .palm_target = action_map_->PalmTarget(memory_[env]),
              .action = action_[env],
              .last_action = last_action_[env],
              .step = static_cast<int>(episode_step_.Of(env)),
              .episode_steps = StepsOfEpisode(env),
              .q_seen = all(s.q_seen),
              .qd_seen = all(s.qd_seen)};
  scene.object_seen = scene.object;
  if (config_.randomise.enabled) {
    scene.object_seen.pos = NoisyPosition(scene.object.pos, settings.object_position, s.noise);
    scene.object_seen.quat = NoisyRotation(scene.object.quat, settings.object_rotation, s.noise);
  }
  const size_t points = hand_frames_.size();
  FrameMotions(robot.tree, scene.q, scene.qd, hand_frames_, std::span(s.hand).first(points));
  scene.hand = scene.hand_seen = std::span(s.hand).first(points);
  if (config_.randomise.enabled) {
    FrameMotions(robot.tree, scene.q_seen, scene.qd_seen, hand_frames_, std::span(s.hand_seen).first(points));
    scene.hand_seen = std::span(s.hand_seen).first(points);
  }
  const mjtNum* v = sim.qvel + robot.object_dof;  // linear in the world, angular in the body's frame
  scene.object_linear = {v[0], v[1], v[2]};
  scene.object_angular = Rotate(scene.object.quat, {v[3], v[4], v[5]});
  scene.command_q = all(s.command_q);
  scene.command_qd = all(s.command_qd);
  scene.command_qdd = all(s.command_qdd);
  scene.torque = all(s.torque);
  scene.touch = std::span(s.touch).first(s.touches);
  scene.object_index = object_.Of(env);
  scene.objects = models_.Objects();
  scene.level = settings.level;
  return scene;
}

void EnvBatch::WriteObservation(int env, const Scene& scene) {
  task_->Observe(scene, proprio_[env], state_[env]);
  std::ranges::copy(scene.q_seen, q_seen_[env].begin());
  std::ranges::copy(scene.qd_seen, qd_seen_[env].begin());
  const std::span<float> position = object_position_[env];
  position[0] = static_cast<float>(scene.object.pos.x);
  position[1] = static_cast<float>(scene.object.pos.y);
  position[2] = static_cast<float>(scene.object.pos.z);
  double farthest = Norm(scene.palm.pos - scene.object.pos);
  for (const FrameMotion& point : scene.hand) farthest = std::max(farthest, Norm(point.pos - scene.object.pos));
  hand_distance_.Of(env) = static_cast<float>(farthest);
}

void EnvBatch::WriteOutcome(int env, const Scene& scene) {
  const bool times_out = scene.step >= scene.episode_steps;
  task_->Remember(scene, task_memory_[env]);
  const Outcome outcome = task_->Evaluate(scene, task_memory_[env], times_out, terms_[env]);
  task_->Measure(scene, metrics_[env]);
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
  Senses senses;
  WriteObservation(env, MakeScene(env, sim, senses));
}

void EnvBatch::ObserveStep(int env, const SimView& sim) {
  ++episode_step_.Of(env);
  Senses senses;
  const Scene scene = MakeScene(env, sim, senses);
  WriteObservation(env, scene);
  WriteOutcome(env, scene);
}

}  // namespace gripstream
