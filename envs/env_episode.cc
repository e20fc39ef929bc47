// How a batch begins episodes and what it does to an environment between observations: objects, models, starts, joint
// targets, pushes.
#include <algorithm>
#include <array>
#include <cmath>

#include "envs/env_batch.h"

namespace gripstream {
namespace {

constexpr int kCommandedTogether = 16;  // environments; enough for the widest vector twice

}  // namespace

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

int EnvBatch::ChooseObject(int env) const {
  if (request_.mode == ResetRequest::Mode::kTrain) return train_order_[env_id_.Of(env) % train_order_.size()];
  const std::vector<int>& objects = request_.held_out ? models_.HeldOut() : models_.Train();
  return objects[episode_.Of(env) % objects.size()];
}

// Environments begin together; where wanted, their first episodes end one by one.
int EnvBatch::StepsOfEpisode(int env) const {
  const bool first = request_.mode == ResetRequest::Mode::kTrain && episode_.Of(env) == request_.first_episode;
  if (!config_.stagger || !first) return episode_steps_;
  return 1 + static_cast<int>(Draw(env, "stagger").Below(static_cast<uint32_t>(episode_steps_)));
}

void EnvBatch::DrawEpisode(int env) {
  const double level = static_cast<double>(level_.Of(env)) / config_.curriculum.levels;
  EpisodeSettings& settings = settings_[static_cast<size_t>(env)];
  if (config_.randomise.enabled) {
    settings = DrawSettings(config_.randomise, level, Draw(env, "episode settings"));
  } else {
    settings = {};
    settings.level = level;
    settings.start_position = config_.start_noise_rad;
    settings.tuning.fabric_damping = RampAt(config_.randomise.fabric_damping, level);
  }
}

void EnvBatch::UpdateModels(std::span<const int> ids) {
  if (own_models_) {
    for (const int env : ids) {
      const double level = settings_[static_cast<size_t>(env)].level;
      const Rng rng = Draw(env, "physics");
      own_models_->Set(env, object_.Of(env), DrawPhysics(config_.randomise, models_.Binding(), level, rng));
    }
  }
  std::vector<const mjModel*> models;
  bool changed = false;
  for (int env = 0; env < n_; ++env) {
    models.push_back(own_models_ ? own_models_->Model(env) : Model(env));
    changed |= models.back() != physics_->Model(env);
  }
  if (changed) physics_->SetModels(models);
}

void EnvBatch::BeginEpisodes(std::span<const int> ids) {
  const int eval_level = config_.curriculum.eval_level;
  const bool own_level = request_.mode == ResetRequest::Mode::kEval && eval_level >= 0;
  for (const int env : ids) {
    object_.Of(env) = ChooseObject(env);
    object_id_.Of(env) = models_.Object(object_.Of(env)).catalogue_id;
    level_.Of(env) = own_level ? std::min(eval_level, config_.curriculum.levels) : curriculum_level_;
    episode_step_.Clear(env);
    action_.Clear(env);
    last_action_.Clear(env);
    task_memory_.Clear(env);
    DrawEpisode(env);
  }
  UpdateModels(ids);
  physics_->Reset(
      ids, [this](int env, const SimView& sim) { Fill(env, sim); },
      [this](int env, const SimView& sim) { ObserveStart(env, sim); });
}

void EnvBatch::Fill(int env, const SimView& sim) {
  const RobotBinding& robot = models_.Binding();
  const EpisodeSettings& settings = settings_[static_cast<size_t>(env)];
  std::ranges::copy(robot.home_qpos, sim.qpos);
  Rng start = Draw(env, "start");
  const float noise = static_cast<float>(settings.start_position), speed = static_cast<float>(settings.start_velocity);
  std::array<double, kMaxRobotJoints> q{}, qd{};
  for (size_t j = 0; j < robot.qpos.size(); ++j) {
    const JointLimit& limit = robot.tree.limits[j];
    mjtNum& position = sim.qpos[robot.qpos[j]];
    position = std::clamp(position + static_cast<double>(start.Uniform(-noise, noise)), limit.lower, limit.upper);
    sim.ctrl[robot.actuators[j]] = q[j] = position;
  }
  for (size_t j = 0; speed > 0 && j < robot.dofs.size(); ++j)
    sim.qvel[robot.dofs[j]] = qd[j] = static_cast<double>(start.Uniform(-speed, speed));
  Rng spawn = Draw(env, "spawn");
  const Transform object = task_->Spawn(models_.Object(object_.Of(env)), settings.level, spawn);
  const double pose[7] = {object.pos.x,  object.pos.y,  object.pos.z, object.quat.w,
                          object.quat.x, object.quat.y, object.quat.z};
  std::copy_n(pose, 7, sim.qpos + robot.object_qpos);
  const size_t joints = robot.qpos.size();
  action_map_->Begin(std::span(q).first(joints), std::span(qd).first(joints), settings.tuning, memory_[env]);
}

// The joint targets of every tick of a step. They depend on actions and the action map's memory alone, and several
// environments together cost less than one at a time.
void EnvBatch::CommandTicks() {
  const int groups = (n_ + kCommandedTogether - 1) / kCommandedTogether;
  share_(groups, 1, [this](int begin, int end) {
    for (int group = begin; group < end; ++group)
      CommandTicks(group * kCommandedTogether, std::min(n_, (group + 1) * kCommandedTogether));
  });
}

void EnvBatch::CommandTicks(int begin, int end) {
  const size_t joints = models_.Binding().actuators.size(), count = static_cast<size_t>(end - begin);
  std::array<ActionRow, kCommandedTogether> rows;
  std::array<double, kMaxRobotJoints> q, qdd;
  for (int env = begin; env < end; ++env) action_map_->Accept(action_[env], memory_[env]);
  for (int tick = 0; tick < ticks_; ++tick) {
    const size_t place = static_cast<size_t>(tick) * joints;
    for (size_t i = 0; i < count; ++i) {
      const int env = begin + static_cast<int>(i);
      rows[i] = {memory_[env], command_q_[env].subspan(place, joints)};
    }
    action_map_->TickAll(tick_s_, std::span(rows).first(count));
    for (int env = begin; env < end; ++env) {
      if (settings_[static_cast<size_t>(env)].velocity_target <= 0) continue;
      action_map_->Commanded(memory_[env], {std::span(q).first(joints), command_qd_[env].subspan(place, joints),
                                            std::span(qdd).first(joints)});
    }
  }
}

void EnvBatch::Control(int env, int tick, const SimView& sim) {
  const RobotBinding& robot = models_.Binding();
  const EpisodeSettings& settings = settings_[static_cast<size_t>(env)];
  const size_t joints = robot.actuators.size(), place = static_cast<size_t>(tick) * joints;
  const std::span<const double> q = command_q_[env].subspan(place), qd = command_qd_[env].subspan(place);
  for (size_t j = 0; j < joints; ++j) sim.ctrl[robot.actuators[j]] = q[j];
  // An actuator damps speed against 0; a speed that is wanted moves its position target by damping over stiffness.
  for (size_t j = 0; settings.velocity_target > 0 && j < joints; ++j) {
    const mjtNum* bias = sim.model->actuator_biasprm + mjNBIAS * robot.actuators[j];
    if (bias[1] != 0) sim.ctrl[robot.actuators[j]] += settings.velocity_target * qd[j] * bias[2] / bias[1];
  }
  if (settings.push > 0) Push(env, sim);
}

// A force in a random direction and a torque in another, new every push_period_s, while the hand is near.
void EnvBatch::Push(int env, const SimView& sim) const {
  const RandomiseConfig& config = config_.randomise;
  mjtNum* wrench = sim.xfrc_applied + 6 * models_.Binding().object_body;
  std::fill_n(wrench, 6, 0.0);
  if (static_cast<double>(hand_distance_.Of(env)) > config.push_distance_m) return;
  const double time_s = episode_step_.Of(env) * tick_s_ * ticks_;
  const uint64_t period = static_cast<uint64_t>(time_s / config.push_period_s);
  const uint64_t draw = (uint64_t{episode_.Of(env)} << 32) | period;
  Rng rng = request_.mode == ResetRequest::Mode::kTrain ? RandomStream(seed_, "push").At(env_id_.Of(env), draw)
                                                        : RandomStream(EvaluationSet(), "push").At(0, draw);
  const double mass = sim.model->body_mass[models_.Binding().object_body];
  const double force = mass * settings_[static_cast<size_t>(env)].push * static_cast<double>(rng.Uniform());
  for (int part = 0; part < 2; ++part) {
    const double x = static_cast<double>(rng.Normal()), y = static_cast<double>(rng.Normal());
    Vec3 direction{x, y, static_cast<double>(rng.Normal())};
    direction = (1 / std::max(Norm(direction), 1e-9)) * direction;
    const double size = part == 0 ? force : force * config.push_lever_m;
    wrench[3 * part] = size * direction.x;
    wrench[3 * part + 1] = size * direction.y;
    wrench[3 * part + 2] = size * direction.z;
  }
}

}  // namespace gripstream
