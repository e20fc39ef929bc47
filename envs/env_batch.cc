#include "envs/env_batch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>

#include "core/error.h"
#include "core/log.h"
#include "envs/action_files.h"

namespace gripstream {
namespace {

int EpisodeSteps(const TaskConfig& config) {
  const double steps = config.episode_s * config.physics_hz / config.decimation;
  if (steps < 0.5)
    throw InputError("task", "task.episode_s", std::to_string(config.episode_s),
                     "at least one policy step, " +
                         std::to_string(static_cast<double>(config.decimation) / config.physics_hz) + " s");
  return static_cast<int>(std::lround(steps));
}

void CheckConfig(const TaskConfig& config, const PhysicsConfig& physics) {
  if (physics.backend != "mujoco")
    throw InputError("physics", "physics.backend", physics.backend, "mujoco: this build has no other backend");
  if (config.decimation % config.control_decimation != 0)
    throw InputError("task", "task.control_decimation", std::to_string(config.control_decimation),
                     "a divisor of task.decimation, " + std::to_string(config.decimation));
}

const char* NameOf(SimHealth health) {
  switch (health) {
    case SimHealth::kOk:
      return "sound";
    case SimHealth::kBadNumber:
      return "a bad number in its state or control";
    case SimHealth::kOverflow:
      return "too many contacts";
    case SimHealth::kError:
      return "an error of the physics library";
  }
  return "";
}

std::vector<int> FirstIntegers(int n) {
  std::vector<int> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
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
      n_(n),
      models_(task),
      action_map_(MakeActionMap(ReadActionSetup(task, models_.Binding()), models_.Binding())),
      task_(MakeTask(task, models_.Binding())),
      own_models_(task.randomise.enabled && task.randomise.physics ? std::make_unique<OwnModels>(models_, n) : nullptr),
      physics_(MakeMujocoPhysics(models_.Model(0), n, physics.threads)),
      share_(physics_->Threads()),
      episode_steps_(gripstream::EpisodeSteps(task)),
      ticks_(task.decimation / task.control_decimation),
      tick_s_(static_cast<double>(task.control_decimation) / task.physics_hz) {
  ShuffleObjects();
  BuildSpecs();
  Allocate();
  SetFirstEnv(first_env);
  const RobotBinding& robot = models_.Binding();
  hand_frames_.push_back(robot.palm);
  hand_frames_.insert(hand_frames_.end(), robot.tips.begin(), robot.tips.end());
  if (hand_frames_.size() > kMaxHandPoints)
    throw InputError("task", "task.binding.tip_sites", std::to_string(robot.tips.size()),
                     "at most " + std::to_string(kMaxHandPoints - 1));
  if (robot.touches.size() > kMaxTouches)
    throw InputError("task", "task.binding.touch_sensors", std::to_string(robot.touches.size()),
                     "at most " + std::to_string(kMaxTouches));
  SetCurriculumLevel(task.curriculum.start);
}

TaskDims EnvBatch::Dims() const {
  const RobotBinding& robot = models_.Binding();
  return {robot.tree.Joints(), action_map_->Size(), 1 + static_cast<int>(robot.tips.size()),
          static_cast<int>(robot.touches.size()), models_.Objects()};
}

void EnvBatch::SetCurriculumLevel(int level) {
  curriculum_level_ = std::clamp(level, 0, config_.curriculum.levels);
}

void EnvBatch::ShuffleObjects() {
  train_order_ = models_.Train();
  Rng rng = RandomStream(seed_, "object order").At(0, 0);
  for (size_t i = train_order_.size(); i > 1; --i)
    std::swap(train_order_[i - 1], train_order_[rng.Below(static_cast<uint32_t>(i))]);
}

void EnvBatch::BuildSpecs() {
  const auto size_of = [](const std::vector<ObservationField>& fields) {
    int size = 0;
    for (const ObservationField& field : fields) size += field.size;
    return size;
  };
  const int actions = action_map_->Size(), proprio = size_of(ProprioFields()), state = size_of(StateFields());
  const int terms = static_cast<int>(task_->RewardTerms().size()), metrics = static_cast<int>(Metrics().size());
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
  if (metrics > 0) specs_.push_back({"metrics", DType::kFloat32, {metrics}, "", 1.0});
}

void EnvBatch::Allocate() {
  const size_t state = specs_[1].Elements(), actions = action_spec_.Elements();
  proprio_ = {n_, specs_[0].Elements()};
  state_ = {n_, state};
  final_state_ = {n_, state};
  object_position_ = {n_, 3};
  reward_ = {n_, 1};
  terms_ = {n_, task_->RewardTerms().size()};
  done_ = success_ = {n_, 1};
  episode_step_ = episode_ = env_id_ = {n_, 1};
  object_id_ = object_ = {n_, 1};
  action_ = last_action_ = {n_, actions};
  memory_ = {n_, static_cast<size_t>(action_map_->MemorySize())};
  command_q_ = command_qd_ = {n_, static_cast<size_t>(ticks_) * models_.Binding().actuators.size()};
  task_memory_ = {n_, static_cast<size_t>(task_->MemorySize())};
  metrics_ = {n_, Metrics().size()};
  q_seen_ = qd_seen_ = {n_, models_.Binding().qpos.size()};
  hand_distance_ = {n_, 1};
  level_ = {n_, 1};
  settings_.resize(static_cast<size_t>(n_));
}

void EnvBatch::SetFirstEnv(uint32_t first_env) {
  for (int env = 0; env < n_; ++env) env_id_.Of(env) = first_env + static_cast<uint32_t>(env);
}

void EnvBatch::Reset(const ResetRequest& request) {
  GS_CHECK(request.total_envs > 0, "total_envs");
  if (request.held_out && models_.HeldOut().empty())
    throw InputError("task", "task.held_out_objects", "none", "held-out objects for a held-out evaluation");
  request_ = request;
  const bool eval = request.mode == ResetRequest::Mode::kEval;
  for (int env = 0; env < n_; ++env) {
    episode_.Of(env) = request.first_episode + (eval ? env_id_.Of(env) : 0);
    done_.Clear(env);
    success_.Clear(env);
    reward_.Clear(env);
    terms_.Clear(env);
    metrics_.Clear(env);
    final_state_.Clear(env);
  }
  BeginEpisodes(FirstIntegers(n_));
}

void EnvBatch::Step(const float* actions) {
  std::swap(last_action_, action_);
  for (int env = 0; env < n_; ++env) {
    const bool held = episode_step_.Of(env) < static_cast<uint32_t>(task_->HeldSteps());
    for (float& value : action_[env]) value = held ? 0.0f : std::clamp(*actions, -1.0f, 1.0f), ++actions;
  }
  CommandTicks();
  physics_->Step(
      ticks_, config_.control_decimation, [this](int env, int tick, const SimView& sim) { Control(env, tick, sim); },
      [this](int env, const SimView& sim) { ObserveStep(env, sim); });
  std::vector<int> ended;
  for (int env = 0; env < n_; ++env) {
    if (physics_->Health(env) != SimHealth::kOk) Quarantine(env);
    if (done_.Of(env) == 0) continue;
    episode_.Of(env) += request_.mode == ResetRequest::Mode::kEval ? request_.total_envs : 1;
    ended.push_back(env);
  }
  if (!ended.empty()) BeginEpisodes(ended);
}

void EnvBatch::Write(std::span<std::byte* const> tensors) const {
  const void* sources[] = {proprio_.Data(),      state_.Data(),   final_state_.Data(), object_position_.Data(),
                           reward_.Data(),       terms_.Data(),   done_.Data(),        success_.Data(),
                           episode_step_.Data(), episode_.Data(), env_id_.Data(),      object_id_.Data(),
                           metrics_.Data()};
  GS_CHECK(tensors.size() == specs_.size() && std::size(sources) >= specs_.size(), "one pointer per tensor");
  for (size_t i = 0; i < tensors.size(); ++i)
    if (specs_[i].Bytes() > 0) std::memcpy(tensors[i], sources[i], specs_[i].Bytes() * static_cast<size_t>(n_));
}

std::vector<std::string> EnvBatch::ObjectNames() const {
  std::vector<std::string> names;
  for (int i = 0; i < models_.Objects(); ++i) {
    const ObjectInfo& object = models_.Object(i);
    if (object.catalogue_id < 0) continue;
    names.resize(std::max(names.size(), static_cast<size_t>(object.catalogue_id) + 1));
    names[static_cast<size_t>(object.catalogue_id)] = object.name;
  }
  return names;
}

std::vector<const mjModel*> EnvBatch::DistinctModels() const {
  std::vector<const mjModel*> models;
  for (int i = 0; i < models_.Objects(); ++i) models.push_back(models_.Model(i));
  return models;
}

void EnvBatch::Quarantine(int env) {
  ++faults_;
  const bool quiet = faults_ > 16 && (faults_ & (faults_ - 1)) != 0;  // after the first few, powers of two
  if (!quiet)
    LogWarning("environment ", env_id_.Of(env), " quarantined at step ", episode_step_.Of(env), " of episode ",
               episode_.Of(env), ": ", NameOf(physics_->Health(env)), " (", faults_, " in all)");
  done_.Of(env) = static_cast<uint8_t>(DoneKind::kFaulted);
  success_.Clear(env);
  reward_.Clear(env);
  terms_.Clear(env);
  metrics_.Clear(env);
  final_state_.Clear(env);
}

}  // namespace gripstream
