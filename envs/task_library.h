// A task of your own, in a shared library that gripstream loads: `task: {name: library, library: ./my_task.so}`.
//
// This header is all that such a library needs: derive from Task, end the file with GRIPSTREAM_TASK(YourTask), and
// build it with `g++ -std=c++20 -O2 -fPIC -shared -I GRIPSTREAM my_task.cc -o my_task.so` (docs/your_own_task.md has a
// whole one). Only plain numbers and abstract classes cross the border, so that any compiler of the platform's C++ ABI
// will do; kInterface changes whenever they change, and a library of another interface is refused.
//
// A task is immutable: one object serves all environments, from several threads at once. Only the constructor may
// throw (std::exception, its text is told to the user); nothing else may, nor allocate. Whatever a task needs to
// remember of an environment it keeps in `memory`. Positions are in metres, in the robot's base frame; quaternions are
// w x y z; rows are as long as Describe has said.
#pragma once

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

namespace gripstream::library {

inline constexpr int kInterface = 1;

struct Numbers {
  const double* data;
  int size;
  double operator[](int i) const { return data[i]; }
};
struct Floats {
  const float* data;
  int size;
  float operator[](int i) const { return data[i]; }
};
struct Pose {
  double position[3];
  double quaternion[4];
};
struct Motion {
  double position[3], linear[3], angular[3];  // m, m/s, rad/s
};

struct Sizes {
  int joints, actions, hand_points, touches, objects;
};

// An environment after a policy step.
struct Scene {
  Numbers q, qd;            // true joint positions (rad) and velocities (rad/s), in the order of the actuators
  Numbers q_seen, qd_seen;  // as the robot's sensors have them, with noise and bias where the configuration has them
  Pose palm, object;        // true
  Pose object_seen;         // with noise and bias
  double object_linear[3], object_angular[3];  // m/s, rad/s
  double palm_target[3];                       // commanded
  const Motion *hand, *hand_seen;              // [hand_points]: palm, then fingertips
  Numbers command_q, command_qd, command_qdd;  // of the action map
  Numbers torque, touch;                       // Nm per joint, N per touch sensor; one physics step old
  Floats action, last_action;                  // the newest and the one before; zeros at the start of an episode
  int step, episode_steps;                     // policy steps done, and of a whole episode
  int object_index;                            // among the task's objects
  double level;                                // of the curriculum, [0, 1]
};

struct Object {
  const char* name;
  double half_height;  // of the body's origin over the table when it rests
};

struct Outcome {
  bool terminated;  // the episode ends here, before its time
  bool success;     // counts when the episode ends here
};

class Random {
 public:
  virtual double Uniform() = 0;  // in [0, 1)
  virtual double Normal() = 0;

 protected:
  ~Random() = default;
};

// What a task tells of itself, in the order of the rows that it fills.
class Description {
 public:
  virtual void Proprio(const char* name, int size, const char* unit) = 0;  // obs.proprio: what a robot knows
  virtual void State(const char* name, int size, const char* unit) = 0;    // state: all there is to know
  virtual void Reward(const char* name) = 0;
  virtual void Metric(const char* name) = 0;  // logged, no reward; "in_region" drives the curriculum
  virtual void Memory(int numbers) = 0;       // per environment; zeros at the start of an episode

 protected:
  ~Description() = default;
};

class Task {
 public:
  virtual ~Task() = default;
  virtual void Describe(const Sizes& sizes, Description& out) const = 0;
  // Where the object is at the start of an episode.
  virtual Pose Spawn(const Object& object, double level, Random& random) const = 0;
  // After every step, before Evaluate.
  virtual void Remember(const Scene&, float* /*memory*/) const {}
  // The weighted rewards of the step that led here. `ends`: the episode ends here by its time.
  virtual Outcome Evaluate(const Scene& scene, const float* memory, bool ends, float* rewards) const = 0;
  virtual void Measure(const Scene&, float* /*metrics*/) const {}
  virtual void Observe(const Scene& scene, float* proprio, float* state) const = 0;
};

// `task.settings`, "name=value" each. Check, at the end of a constructor, refuses what was not asked for.
class Settings {
 public:
  explicit Settings(const char* lines) : lines_("\n" + std::string(lines)) {}
  double Number(const std::string& name, double otherwise) {
    const std::string start = "\n" + name + "=";
    const size_t at = lines_.find(start);
    if (at == std::string::npos) return otherwise;
    const size_t begin = at + start.size(), end = lines_.find('\n', begin);
    const std::string value = lines_.substr(begin, end - begin);
    char* rest = nullptr;
    const double number = std::strtod(value.c_str(), &rest);
    if (value.empty() || *rest != 0) throw std::invalid_argument(name + "=" + value + ", expected a number");
    lines_.erase(at, end - at);
    return number;
  }
  void Check() const {
    if (const size_t at = lines_.find_first_not_of('\n'); at != std::string::npos)
      throw std::invalid_argument(lines_.substr(at, lines_.find('\n', at) - at) + ", expected a setting of this task");
  }

 private:
  std::string lines_;
};

}  // namespace gripstream::library

// The constructor of Class takes a Settings.
#define GRIPSTREAM_TASK(Class)                                                               \
  extern "C" int gripstream_task_interface() {                                               \
    return gripstream::library::kInterface;                                                  \
  }                                                                                          \
  extern "C" gripstream::library::Task* gripstream_make_task(                                \
      const char* settings, void (*refuse)(void* context, const char* why), void* context) { \
    try {                                                                                    \
      return new Class(gripstream::library::Settings(settings));                             \
    } catch (const std::exception& error) {                                                  \
      refuse(context, error.what());                                                         \
      return nullptr;                                                                        \
    }                                                                                        \
  }
