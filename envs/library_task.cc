#include "envs/library_task.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>

#include "core/error.h"
#include "envs/env_batch.h"
#include "envs/task_library.h"

namespace gripstream {
namespace {

library::Numbers Plain(std::span<const double> values) {
  return {values.data(), static_cast<int>(values.size())};
}

library::Floats Plain(std::span<const float> values) {
  return {values.data(), static_cast<int>(values.size())};
}

library::Pose Plain(const Transform& pose) {
  return {{pose.pos.x, pose.pos.y, pose.pos.z}, {pose.quat.w, pose.quat.x, pose.quat.y, pose.quat.z}};
}

void Copy(Vec3 from, double* to) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
}

using PlainHand = std::array<library::Motion, kMaxHandPoints>;

const library::Motion* Plain(std::span<const FrameMotion> hand, PlainHand& out) {
  for (size_t i = 0; i < hand.size(); ++i) {
    Copy(hand[i].pos, out[i].position);
    Copy(hand[i].linear, out[i].linear);
    Copy(hand[i].angular, out[i].angular);
  }
  return out.data();
}

// A scene as the library sees it; it points into the one that it was made of.
struct PlainScene {
  PlainHand hand, hand_seen;
  library::Scene scene;

  explicit PlainScene(const Scene& s) {
    scene = {.q = Plain(s.q),
             .qd = Plain(s.qd),
             .q_seen = Plain(s.q_seen),
             .qd_seen = Plain(s.qd_seen),
             .palm = Plain(s.palm),
             .object = Plain(s.object),
             .object_seen = Plain(s.object_seen),
             .object_linear = {},
             .object_angular = {},
             .palm_target = {},
             .hand = Plain(s.hand, hand),
             .hand_seen = Plain(s.hand_seen, hand_seen),
             .command_q = Plain(s.command_q),
             .command_qd = Plain(s.command_qd),
             .command_qdd = Plain(s.command_qdd),
             .torque = Plain(s.torque),
             .touch = Plain(s.touch),
             .action = Plain(s.action),
             .last_action = Plain(s.last_action),
             .step = s.step,
             .episode_steps = s.episode_steps,
             .object_index = s.object_index,
             .level = s.level};
    Copy(s.object_linear, scene.object_linear);
    Copy(s.object_angular, scene.object_angular);
    Copy(s.palm_target, scene.palm_target);
  }
};

class PlainRandom final : public library::Random {
 public:
  explicit PlainRandom(Rng& rng) : rng_(rng) {}
  double Uniform() override { return static_cast<double>(rng_.Uniform()); }
  double Normal() override { return static_cast<double>(rng_.Normal()); }

 private:
  Rng& rng_;
};

struct Told final : library::Description {
  std::vector<ObservationField> proprio, state;
  std::vector<std::string> rewards, metrics;
  int memory = 0;

  void Proprio(const char* name, int size, const char* unit) override { proprio.push_back({name, size, unit}); }
  void State(const char* name, int size, const char* unit) override { state.push_back({name, size, unit}); }
  void Reward(const char* name) override { rewards.emplace_back(name); }
  void Metric(const char* name) override { metrics.emplace_back(name); }
  void Memory(int numbers) override { memory = numbers; }
};

class LibraryTask final : public Task {
 public:
  explicit LibraryTask(std::unique_ptr<library::Task> task) : task_(std::move(task)), told_(Tell({})) {}

  const Told& About() const { return told_; }
  std::vector<ObservationField> ProprioFields(const TaskDims& dims) const override { return Tell(dims).proprio; }
  std::vector<ObservationField> StateFields(const TaskDims& dims) const override { return Tell(dims).state; }
  const std::vector<std::string>& RewardTerms() const override { return told_.rewards; }
  std::vector<std::string> Metrics() const override { return told_.metrics; }
  int MemorySize() const override { return told_.memory; }

  Transform Spawn(const ObjectInfo& object, double level, Rng& rng) const override {
    PlainRandom random(rng);
    const library::Pose pose = task_->Spawn({object.name.c_str(), object.half_height_m}, level, random);
    const double *p = pose.position, *q = pose.quaternion;
    return {{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}};
  }
  void Remember(const Scene& scene, std::span<float> memory) const override {
    task_->Remember(PlainScene(scene).scene, memory.data());
  }
  Outcome Evaluate(const Scene& scene, std::span<const float> memory, bool ends,
                   std::span<float> terms) const override {
    const library::Outcome outcome = task_->Evaluate(PlainScene(scene).scene, memory.data(), ends, terms.data());
    return {.terminated = outcome.terminated, .success = outcome.success};
  }
  void Measure(const Scene& scene, std::span<float> metrics) const override {
    task_->Measure(PlainScene(scene).scene, metrics.data());
  }
  void Observe(const Scene& scene, std::span<float> proprio, std::span<float> state) const override {
    task_->Observe(PlainScene(scene).scene, proprio.data(), state.data());
  }

 private:
  Told Tell(const TaskDims& dims) const {
    Told told;
    task_->Describe({.joints = dims.joints,
                     .actions = dims.actions,
                     .hand_points = dims.hand_points,
                     .touches = dims.touches,
                     .objects = dims.objects},
                    told);
    return told;
  }

  std::unique_ptr<library::Task> task_;
  Told told_;  // of what does not depend on sizes
};

template <class Function>
Function Find(void* handle, const char* name, const std::string& path) {
  void* found = dlsym(handle, name);
  if (!found) throw InputError("task", "task.library", path, "a library that ends with GRIPSTREAM_TASK(...)");
  return reinterpret_cast<Function>(found);
}

void NoteRefusal(void* context, const char* why) {
  *static_cast<std::string*>(context) = why;
}

std::string Lines(const std::vector<std::string>& settings) {
  std::string lines;
  for (const std::string& setting : settings) lines += setting + "\n";
  return lines;
}

void RequireWhole(const Told& told, const std::string& path) {
  const auto require = [&](bool there, const char* what) {
    if (!there) throw InputError("task", "task.library", path, std::string("a task that describes ") + what);
  };
  require(!told.rewards.empty(), "a reward");
  require(!told.proprio.empty(), "what is in proprio");
  require(!told.state.empty(), "what is in state");
}

}  // namespace

std::unique_ptr<Task> MakeLibraryTask(const TaskConfig& config) {
  const std::string& path = config.library;
  if (path.empty()) throw InputError("task", "task.library", path, "the shared library of task.name library");
  // A name without a slash would be looked for among the system's libraries.
  void* handle = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw InputError("task", "task.library", path, std::string("a library that loads: ") + dlerror());
  const int interface = Find<int (*)()>(handle, "gripstream_task_interface", path)();
  if (interface != library::kInterface) {
    throw InputError("task", "task.library", path,
                     "one built against interface " + std::to_string(library::kInterface) +
                         " of envs/task_library.h; this one has " + std::to_string(interface));
  }
  using Make = library::Task* (*)(const char*, void (*)(void*, const char*), void*);
  std::string why = "nothing was made";
  std::unique_ptr<library::Task> made(
      Find<Make>(handle, "gripstream_make_task", path)(Lines(config.settings).c_str(), &NoteRefusal, &why));
  if (!made) throw InputError("task", "task.settings: " + why);
  auto task = std::make_unique<LibraryTask>(std::move(made));
  RequireWhole(task->About(), path);
  return task;
}

}  // namespace gripstream
