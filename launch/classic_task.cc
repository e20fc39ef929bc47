#include "launch/classic_task.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/done_kind.h"
#include "core/error.h"
#include "envs/catalogue.h"

namespace gripstream {
namespace {

constexpr int kEpisodeSteps = 1000;
constexpr double kMostLean_rad = 0.2, kControlCost = 0.1;

template <class T>
void Put(RolloutStore& store, const char* name, int t, int env, const T* values, size_t count) {
  std::memcpy(store.Slice(name, t, env, 1).data(), values, count * sizeof(T));
}

}  // namespace

const ClassicModel& ClassicModelOf(const std::string& name) {
  static const ClassicModel models[] = {{"inverted_pendulum", "inverted_pendulum.xml", 2, 3.0},
                                        {"half_cheetah", "half_cheetah.xml", 5, 1.0}};
  const auto* found = std::ranges::find(models, name, &ClassicModel::name);
  GS_CHECK(found != std::end(models), "a classic task named " + name);
  return *found;
}

ClassicTask::ClassicTask(const ClassicModel& which, const std::string& folder, uint64_t seed, int envs)
    : which_(which),
      seed_(seed),
      model_(CompileModel(ParseModel(folder + "/" + which.file).get(), folder + "/" + which.file), mj_deleteModel),
      physics_(MakeMujocoPhysics(model_.get(), envs, 1)),
      envs_(static_cast<size_t>(envs)) {}

std::vector<TensorSpec> ClassicTask::Specs() const {
  const int size = static_cast<int>(model_->nq + model_->nv) - (IsPendulum() ? 0 : 1);
  return {{"obs.proprio", DType::kFloat32, {size}, "", 1.0}, {"state", DType::kFloat32, {size}, "", 1.0},
          {"final_state", DType::kFloat32, {size}, "", 1.0}, {"aux.object_position", DType::kFloat32, {3}, "m", 1.0},
          {"reward", DType::kFloat32, {}, "", 1.0},          {"done", DType::kUint8, {}, "", 1.0}};
}

void ClassicTask::Reset() {
  std::vector<int> all(envs_.size());
  std::iota(all.begin(), all.end(), 0);
  for (Env& env : envs_) env = {};
  Begin(all);
}

// The model's own pose with a little noise: uniform, or for the cheetah's speeds normal.
void ClassicTask::Begin(const std::vector<int>& ids) {
  const double width = IsPendulum() ? 0.01 : 0.1;
  physics_->Reset(
      ids,
      [&](int id, const SimView& sim) {
        Rng rng = RandomStream(seed_, "classic").At(static_cast<uint32_t>(id), envs_[static_cast<size_t>(id)].episode);
        const auto uniform = [&] { return width * (2 * static_cast<double>(rng.Uniform()) - 1); };
        for (int i = 0; i < model_->nq; ++i) sim.qpos[i] += uniform();
        for (int i = 0; i < model_->nv; ++i)
          sim.qvel[i] += IsPendulum() ? uniform() : width * static_cast<double>(rng.Normal());
      },
      [this](int id, const SimView& sim) { Observe(id, sim); });
}

void ClassicTask::Observe(int id, const SimView& sim) {
  Env& env = envs_[static_cast<size_t>(id)];
  env.state.clear();
  for (int i = IsPendulum() ? 0 : 1; i < model_->nq; ++i) env.state.push_back(static_cast<float>(sim.qpos[i]));
  for (int i = 0; i < model_->nv; ++i) env.state.push_back(static_cast<float>(sim.qvel[i]));
  env.start_x = sim.qpos[0];
}

void ClassicTask::Judge(int id, const SimView& sim) {
  Env& env = envs_[static_cast<size_t>(id)];
  const double before = env.start_x;
  Observe(id, sim);
  bool over = false;
  double reward = 1;
  if (IsPendulum()) {
    over = std::abs(sim.qpos[1]) > kMostLean_rad;
  } else {
    double cost = 0;
    for (int a = 0; a < Actions(); ++a) cost += Control(env, a) * Control(env, a);
    reward = (sim.qpos[0] - before) / (which_.frame_skip * model_->opt.timestep) - kControlCost * cost;
  }
  const DoneKind done = over                          ? DoneKind::kTerminated
                        : ++env.step == kEpisodeSteps ? DoneKind::kTimedOut
                                                      : DoneKind::kRunning;
  env.reward = static_cast<float>(reward);
  env.total_reward += reward;
  env.done = static_cast<uint8_t>(done);
  if (done != DoneKind::kRunning) env.final_state = env.state;
}

double ClassicTask::Control(const Env& env, int actuator) const {
  const auto index = static_cast<int>(&env - envs_.data());
  return static_cast<double>(std::clamp(actions_[index * Actions() + actuator], -1.0f, 1.0f));
}

void ClassicTask::Step(const float* actions) {
  actions_ = actions;
  physics_->Step(
      1, which_.frame_skip,
      [this](int id, int, const SimView& sim) {
        for (int a = 0; a < Actions(); ++a)
          sim.ctrl[a] = which_.action_scale * Control(envs_[static_cast<size_t>(id)], a);
      },
      [this](int id, const SimView& sim) { Judge(id, sim); });
  std::vector<int> over;
  for (size_t i = 0; i < envs_.size(); ++i) {
    GS_CHECK(physics_->Health(static_cast<int>(i)) == SimHealth::kOk, "a classic task breaks its physics");
    if (envs_[i].done != 0) over.push_back(static_cast<int>(i));
  }
  for (const int id : over) {
    Env& env = envs_[static_cast<size_t>(id)];
    ended_.push_back({id, env.total_reward});
    ++env.episode;
    env.step = 0, env.total_reward = 0;
  }
  if (!over.empty()) Begin(over);
}

void ClassicTask::Write(RolloutStore& store, int t) const {
  for (size_t i = 0; i < envs_.size(); ++i) {
    const Env& env = envs_[i];
    const int id = static_cast<int>(i);
    Put(store, "obs.proprio", t, id, env.state.data(), env.state.size());
    Put(store, "state", t, id, env.state.data(), env.state.size());
    const std::vector<float>& last = env.final_state.empty() ? env.state : env.final_state;
    Put(store, "final_state", t, id, last.data(), last.size());
    Put(store, "reward", t, id, &env.reward, 1);
    Put(store, "done", t, id, &env.done, 1);
  }
}

std::vector<ClassicTask::Ended> ClassicTask::TakeEnded() {
  return std::exchange(ended_, {});
}

}  // namespace gripstream
