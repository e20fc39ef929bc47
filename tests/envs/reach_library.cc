// The reach task once more, as a library: what tests compare with the built-in one.
#include <cmath>

#include "envs/task_library.h"

using namespace gripstream::library;

namespace {

double Norm(const double* a, const double* b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return std::sqrt(x * x + y * y + z * z);
}

template <class Row>
float* Put(const Row& row, int count, float* out) {
  for (int i = 0; i < count; ++i) *out++ = static_cast<float>(row[i]);
  return out;
}

}  // namespace

class ReachAgain final : public Task {
 public:
  explicit ReachAgain(Settings settings) : radius_(settings.Number("radius", 0.06)) { settings.Check(); }

  void Describe(const Sizes& sizes, Description& out) const override {
    out.Proprio("joint_position", sizes.joints, "rad");
    out.Proprio("palm_position", 3, "m");
    out.Proprio("commanded_palm", 3, "m");
    out.Proprio("last_action", sizes.actions, "");
    out.Proprio("time_left", 1, "");
    out.State("joint_position", sizes.joints, "rad");
    out.State("joint_velocity", sizes.joints, "rad/s");
    out.State("palm_position", 3, "m");
    out.State("commanded_palm", 3, "m");
    out.State("object_position", 3, "m");
    out.State("object_rotation", 4, "");
    out.State("palm_to_object", 3, "m");
    out.State("last_action", sizes.actions, "");
    out.State("time_left", 1, "");
    out.Reward("near");
    out.Metric("distance");
    out.Memory(1);
  }

  Pose Spawn(const Object& object, double, Random& random) const override {
    const double x = -0.55 + 0.3 * (random.Uniform() - 0.5), y = 0.1 + 0.4 * (random.Uniform() - 0.5);
    const double half = 3.14159265358979323846 * random.Uniform();
    return {{x, y, 0.25 + object.half_height}, {std::cos(half), 0, 0, std::sin(half)}};
  }

  void Remember(const Scene& s, float* memory) const override { memory[0] = static_cast<float>(s.step); }

  Outcome Evaluate(const Scene& s, const float* memory, bool, float* rewards) const override {
    const bool near = Norm(s.palm.position, s.object.position) <= radius_;
    rewards[0] = near ? 1.0f : 0.0f;
    return {.terminated = memory[0] != static_cast<float>(s.step), .success = near};
  }

  void Measure(const Scene& s, float* metrics) const override {
    metrics[0] = static_cast<float>(Norm(s.hand[0].position, s.object.position));
  }

  void Observe(const Scene& s, float* proprio, float* state) const override {
    const double left = 1.0 - static_cast<double>(s.step) / s.episode_steps;
    proprio = Put(s.q_seen, s.q_seen.size, proprio);
    proprio = Put(s.hand_seen[0].position, 3, proprio);
    proprio = Put(s.palm_target, 3, proprio);
    proprio = Put(s.action, s.action.size, proprio);
    *proprio = static_cast<float>(left);
    state = Put(s.q, s.q.size, state);
    state = Put(s.qd, s.qd.size, state);
    state = Put(s.palm.position, 3, state);
    state = Put(s.palm_target, 3, state);
    state = Put(s.object.position, 3, state);
    state = Put(s.object.quaternion, 4, state);
    for (int i = 0; i < 3; ++i) *state++ = static_cast<float>(s.object.position[i] - s.palm.position[i]);
    state = Put(s.action, s.action.size, state);
    *state = static_cast<float>(left);
  }

 private:
  double radius_;
};

GRIPSTREAM_TASK(ReachAgain)
