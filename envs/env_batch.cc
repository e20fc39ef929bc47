#include "envs/env_batch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/error.h"
#include "core/log.h"

namespace gripstream {
namespace {

constexpr int kMaxJoints = 64;

template <class T>
std::span<T> Row(std::vector<T>& data, int env, size_t width) {
  return std::span<T>(data).subspan(static_cast<size_t>(env) * width, width);
}

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

void CheckConfig(const TaskConfig& config, const PhysicsConfig& physics) {
  if (physics.backend != "mujoco")
    throw InputError("physics", "physics.backend", physics.backend, "mujoco: this build has no other backend");
  if (config.decimation % config.control_decimation != 0)
    throw InputError("task", "task.control_decimation", std::to_string(config.control_decimation),
                     "a divisor of task.decimation, " + std::to_string(config.decimation));
}

}  // namespace

std::unique_ptr<EnvBatch> EnvBatch::Make(const TaskConfig& task, const PhysicsConfig& physics, uint64_t seed,
                                         uint32_t first_env, int n) {
  CheckConfig(task, physics);
  GS_CHECK(n > 0, "a batch of at least one environment");
  return std::unique_ptr<EnvBatch>(new EnvBatch(task, physics, seed, first_env, n));
}

EnvBatch::EnvBatch(const TaskConfig& task, const PhysicsConfig& physics, uint64_t seed, uint32_t first_env, int n)
    : config_(task),
      seed_(seed),
      first_env_(first_env),
      n_(n),
      models_(task),
      action_map_(MakeActionMap(task.action, models_.Binding())),
      task_(MakeTask(task)),
      physics_(MakeMujocoPhysics(models_.Model(0), n, physics.threads)),
      train_order_(models_.Train()),
      episode_steps_(static_cast<int>(std::lround(task.episode_s * task.physics_hz / task.decimation))),
      ticks_(task.decimation / task.control_decimation),
      tick_s_(static_cast<double>(task.control_decimation) / task.physics_hz) {
  if (episode_steps_ < 1)
    throw InputError("task", "task.episode_s", std::to_string(task.episode_s), "at least one policy step");
  GS_CHECK(models_.Binding().tree.Joints() <= kMaxJoints, "at most 64 actuated joints");
  Rng rng = RandomStream(seed, "object order").At(0, 0);
  for (size_t i = train_order_.size(); i > 1; --i)
    std::swap(train_order_[i - 1], train_order_[rng.Below(static_cast<uint32_t>(i))]);
  BuildSpecs();
  Allocate();
}

void EnvBatch::BuildSpecs() {
  const int joints = models_.Binding().tree.Joints(), actions = action_map_->Size();
  const int proprio = task_->ProprioSize(joints, actions), state = task_->StateSize(joints, actions);
  const int terms = static_cast<int>(task_->RewardTerms().size());
  action_spec_ = {"action", DType::kFloat32, {actions}, "", 1.0};
  specs_ = {
      {"obs.proprio", DType::kFloat32, {proprio}, "", 1.0},
      {"state", DType::kFloat32, {state}, "", 1.0},
      {"final_state", DType::kFloat32, {state}, "", 1.0},
      {"aux.object_position", DType::kFloat32, {3}, "m", 1.0},
      {"reward", DType::kFloat32, {}, "", 1.0},
      {"reward_terms", DType::kFloat32, {terms}, "", 1.0},
      {"done", DType::kUint8, {}, "", 1.0},
      {"success", DType::kUint8, {}, "", 1.0},
      {"episode_step", DType::kUint32, {}, "", 1.0},
      {"episode", DType::kUint32, {}, "", 1.0},
      {"env_id", DType::kUint32, {}, "", 1.0},
      {"object_id", DType::kInt32, {}, "", 1.0},
  };
}

void EnvBatch::Allocate() {
  const size_t n = static_cast<size_t>(n_);
  proprio_.resize(n * specs_[0].Elements());
  state_.resize(n * specs_[1].Elements());
  final_state_.resize(n * specs_[2].Elements());
  object_position_.resize(n * 3);
  reward_.resize(n);
  terms_.resize(n * specs_[5].Elements());
  done_.resize(n);
  success_.resize(n);
  episode_step_.resize(n);
  episode_.resize(n);
  env_id_.resize(n);
  object_id_.resize(n);
  object_.assign(n, 0);
  action_.resize(n * action_spec_.Elements());
  last_action_.resize(n * action_spec_.Elements());
  memory_.resize(n * static_cast<size_t>(action_map_->MemorySize()));
  loaded_.resize(static_cast<size_t>(physics_->StateSize()));
  for (int env = 0; env < n_; ++env) env_id_[static_cast<size_t>(env)] = first_env_ + static_cast<uint32_t>(env);
}

void EnvBatch::Reset(const ResetRequest& request) {
  GS_CHECK(request.total_envs > 0, "total_envs");
  if (request.held_out && models_.HeldOut().empty())
    throw InputError("task", "task.held_out_objects", "none", "held-out objects for a held-out evaluation");
  request_ = request;
  for (int env = 0; env < n_; ++env) {
    const size_t e = static_cast<size_t>(env);
    const bool eval = request.mode == ResetRequest::Mode::kEval;
    episode_[e] = request.first_episode + (eval ? env_id_[e] : 0);
  }
  std::fill(done_.begin(), done_.end(), uint8_t{0});
  std::fill(success_.begin(), success_.end(), uint8_t{0});
  std::fill(reward_.begin(), reward_.end(), 0.0f);
  std::fill(terms_.begin(), terms_.end(), 0.0f);
  std::fill(final_state_.begin(), final_state_.end(), 0.0f);
  std::vector<int> all(static_cast<size_t>(n_));
  std::iota(all.begin(), all.end(), 0);
  BeginEpisodes(all);
}

void EnvBatch::Step(const float* actions) {
  const size_t width = action_spec_.Elements();
  last_action_.swap(action_);
  for (size_t i = 0; i < action_.size(); ++i) action_[i] = std::clamp(actions[i], -1.0f, 1.0f);
  const size_t memory = static_cast<size_t>(action_map_->MemorySize());
  physics_->Step(
      ticks_, config_.control_decimation,
      [&](int env, int tick, const SimView& sim) {
        if (tick == 0) action_map_->Accept(Row(action_, env, width), Row(memory_, env, memory));
        Control(env, sim);
      },
      [&](int env, const SimView& sim) { ObserveStep(env, sim); });
  std::vector<int> ended;
  for (int env = 0; env < n_; ++env) {
    const size_t e = static_cast<size_t>(env);
    if (physics_->Health(env) != SimHealth::kOk) Quarantine(env);
    if (done_[e] == 0) continue;
    const bool eval = request_.mode == ResetRequest::Mode::kEval;
    episode_[e] += eval ? request_.total_envs : 1;
    ended.push_back(env);
  }
  if (!ended.empty()) BeginEpisodes(ended);
}

void EnvBatch::Write(std::span<std::byte* const> tensors) const {
  const void* sources[] = {proprio_.data(),      state_.data(),   final_state_.data(), object_position_.data(),
                           reward_.data(),       terms_.data(),   done_.data(),        success_.data(),
                           episode_step_.data(), episode_.data(), env_id_.data(),      object_id_.data()};
  GS_CHECK(tensors.size() == specs_.size() && std::size(sources) == specs_.size(), "one pointer per tensor");
  for (size_t i = 0; i < tensors.size(); ++i)
    std::memcpy(tensors[i], sources[i], specs_[i].Bytes() * static_cast<size_t>(n_));
}

std::vector<const mjModel*> EnvBatch::DistinctModels() const {
  std::vector<const mjModel*> models;
  for (int i = 0; i < models_.Objects(); ++i) models.push_back(models_.Model(i));
  return models;
}

int EnvBatch::ChooseObject(int env) const {
  const size_t e = static_cast<size_t>(env);
  if (request_.mode == ResetRequest::Mode::kTrain) return train_order_[env_id_[e] % train_order_.size()];
  const std::vector<int>& objects = request_.held_out ? models_.HeldOut() : models_.Train();
  return objects[episode_[e] % objects.size()];
}

void EnvBatch::UpdateModels() {
  std::vector<const mjModel*> models(static_cast<size_t>(n_));
  bool changed = false;
  for (int env = 0; env < n_; ++env) {
    const size_t e = static_cast<size_t>(env);
    models[e] = models_.Model(object_[e]);
    changed |= models[e] != physics_->Model(env);
  }
  if (changed) physics_->SetModels(models);
}

void EnvBatch::BeginEpisodes(std::span<const int> ids) {
  const size_t width = action_spec_.Elements();
  for (const int env : ids) {
    const size_t e = static_cast<size_t>(env);
    object_[e] = ChooseObject(env);
    object_id_[e] = models_.Object(object_[e]).catalogue_id;
    episode_step_[e] = 0;
    std::ranges::fill(Row(action_, env, width), 0.0f);
    std::ranges::fill(Row(last_action_, env, width), 0.0f);
  }
  UpdateModels();
  physics_->Reset(
      ids, [this](int env, const SimView& sim) { Fill(env, sim); },
      [this](int env, const SimView& sim) { ObserveStart(env, sim); });
}

// Training draws by environment and its episode, evaluation by the episode's place in the set.
Rng EnvBatch::Draw(int env, const char* purpose) const {
  const size_t e = static_cast<size_t>(env);
  if (request_.mode == ResetRequest::Mode::kTrain) return RandomStream(seed_, purpose).At(env_id_[e], episode_[e]);
  const uint64_t kind = request_.held_out ? 2 : 1;
  return RandomStream(MixBits(request_.eval_seed ^ MixBits(kind)), purpose).At(episode_[e], 0);
}

void EnvBatch::Fill(int env, const SimView& sim) {
  const RobotBinding& robot = models_.Binding();
  std::copy(robot.home_qpos.begin(), robot.home_qpos.end(), sim.qpos);
  Rng start = Draw(env, "start");
  const float noise = static_cast<float>(config_.start_noise_rad);
  std::array<double, kMaxJoints> q;
  const size_t joints = static_cast<size_t>(robot.tree.Joints());
  for (size_t j = 0; j < joints; ++j) {
    const JointLimit& limit = robot.tree.limits[j];
    mjtNum& position = sim.qpos[robot.qpos[j]];
    position = std::clamp(position + static_cast<double>(start.Uniform(-noise, noise)), limit.lower, limit.upper);
    sim.ctrl[robot.actuators[j]] = q[j] = position;
  }
  Rng spawn = Draw(env, "spawn");
  const Transform object = task_->Spawn(models_.Object(object_[static_cast<size_t>(env)]), spawn);
  const double pose[7] = {object.pos.x,  object.pos.y,  object.pos.z, object.quat.w,
                          object.quat.x, object.quat.y, object.quat.z};
  std::copy_n(pose, 7, sim.qpos + robot.object_qpos);
  action_map_->Begin(std::span(q).first(joints), Row(memory_, env, static_cast<size_t>(action_map_->MemorySize())));
}

void EnvBatch::Control(int env, const SimView& sim) {
  const RobotBinding& robot = models_.Binding();
  const size_t joints = static_cast<size_t>(robot.tree.Joints());
  std::array<double, kMaxJoints> targets;
  action_map_->Tick(tick_s_, Row(memory_, env, static_cast<size_t>(action_map_->MemorySize())),
                    std::span(targets).first(joints));
  for (size_t j = 0; j < joints; ++j) sim.ctrl[robot.actuators[j]] = targets[j];
}

namespace {

// Joint positions and velocities in the robot's order.
struct JointState {
  std::array<double, kMaxJoints> q, qd;
  JointState(const RobotBinding& robot, const SimView& sim) {
    for (size_t j = 0; j < robot.qpos.size(); ++j) {
      q[j] = sim.qpos[robot.qpos[j]];
      qd[j] = sim.qvel[robot.dofs[j]];
    }
  }
};

}  // namespace

void EnvBatch::ObserveStart(int env, const SimView& sim) {
  const RobotBinding& robot = models_.Binding();
  const size_t e = static_cast<size_t>(env), joints = robot.qpos.size(), width = action_spec_.Elements();
  const JointState now(robot, sim);
  const Scene scene{
      .q = std::span(now.q).first(joints),
      .qd = std::span(now.qd).first(joints),
      .palm = PoseOfSite(sim, robot.palm_site),
      .object = PoseOfBody(sim, robot.object_body),
      .palm_target = action_map_->PalmTarget(Row(memory_, env, static_cast<size_t>(action_map_->MemorySize()))),
      .action = Row(action_, env, width),
      .last_action = Row(last_action_, env, width),
      .step = static_cast<int>(episode_step_[e]),
      .episode_steps = episode_steps_,
  };
  task_->Observe(scene, Row(proprio_, env, specs_[0].Elements()), Row(state_, env, specs_[1].Elements()));
  const std::span<float> position = Row(object_position_, env, 3);
  position[0] = static_cast<float>(scene.object.pos.x);
  position[1] = static_cast<float>(scene.object.pos.y);
  position[2] = static_cast<float>(scene.object.pos.z);
  if (episode_step_[e] == 0) return;
  const bool ends = scene.step == episode_steps_;
  const std::span<float> terms = Row(terms_, env, specs_[5].Elements());
  const Outcome outcome = task_->Evaluate(scene, ends, terms);
  reward_[e] = std::accumulate(terms.begin(), terms.end(), 0.0f);
  const DoneKind kind = outcome.terminated ? DoneKind::kTerminated : ends ? DoneKind::kTimedOut : DoneKind::kRunning;
  done_[e] = static_cast<uint8_t>(kind);
  success_[e] = kind != DoneKind::kRunning && outcome.success ? 1 : 0;
  const std::span<float> final_state = Row(final_state_, env, specs_[2].Elements());
  if (kind == DoneKind::kRunning)
    std::ranges::fill(final_state, 0.0f);
  else
    std::ranges::copy(Row(state_, env, specs_[1].Elements()), final_state.begin());
}

void EnvBatch::ObserveStep(int env, const SimView& sim) {
  ++episode_step_[static_cast<size_t>(env)];
  ObserveStart(env, sim);
}

void EnvBatch::Quarantine(int env) {
  const size_t e = static_cast<size_t>(env);
  ++faults_;
  LogWarning("environment ", env_id_[e], " quarantined at step ", episode_step_[e], " of episode ", episode_[e],
             " (kind ", static_cast<int>(physics_->Health(env)), ")");
  done_[e] = static_cast<uint8_t>(DoneKind::kFaulted);
  success_[e] = 0;
  reward_[e] = 0;
  std::ranges::fill(Row(terms_, env, specs_[5].Elements()), 0.0f);
  std::ranges::fill(Row(final_state_, env, specs_[2].Elements()), 0.0f);
}

}  // namespace gripstream
