// A task of its own: push the object to a mark on the table, without lifting it. See docs/your_own_task.md.
#include <cmath>

#include "envs/task_library.h"

using namespace gripstream::library;

class Push final : public Task {
 public:
  explicit Push(Settings settings)
      : mark_{settings.Number("mark_x", -0.6), settings.Number("mark_y", 0.0)},
        radius_(settings.Number("radius", 0.05)),
        spread_(settings.Number("spread", 0.2)),
        table_(settings.Number("table", 0.25)) {
    settings.Check();
  }

  void Describe(const Sizes& sizes, Description& out) const override {
    out.Proprio("joint_position", sizes.joints, "rad");
    out.Proprio("palm_position", 3, "m");
    out.Proprio("mark", 2, "m");
    out.State("joint_position", sizes.joints, "rad");
    out.State("joint_velocity", sizes.joints, "rad/s");
    out.State("palm_position", 3, "m");
    out.State("object_position", 3, "m");
    out.State("object_velocity", 3, "m/s");
    out.State("mark", 2, "m");
    out.Reward("near_palm");
    out.Reward("near_mark");
    out.Reward("lifted");
    out.Metric("in_region");
  }

  Pose Spawn(const Object& object, double level, Random& random) const override {
    const double spread = spread_ * (0.5 + 0.5 * level);
    return {{-0.5 + spread * (random.Uniform() - 0.5), 0.1 + spread * (random.Uniform() - 0.5),
             table_ + object.half_height},
            {1, 0, 0, 0}};
  }

  Outcome Evaluate(const Scene& s, const float*, bool, float* rewards) const override {
    const double lift = s.object.position[2] - table_;
    rewards[0] = static_cast<float>(std::exp(-5 * Distance(s.palm.position, s.object.position)));
    rewards[1] = static_cast<float>(4 * std::exp(-5 * ToMark(s)));
    rewards[2] = lift > 0.15 ? -1.0f : 0.0f;
    return {.terminated = lift < -0.05, .success = ToMark(s) < radius_};
  }

  void Measure(const Scene& s, float* metrics) const override { metrics[0] = ToMark(s) < radius_ ? 1.0f : 0.0f; }

  void Observe(const Scene& s, float* proprio, float* state) const override {
    proprio = Put(s.q_seen.data, s.q_seen.size, proprio);
    proprio = Put(s.hand_seen[0].position, 3, proprio);
    Put(mark_, 2, proprio);
    state = Put(s.q.data, s.q.size, state);
    state = Put(s.qd.data, s.qd.size, state);
    state = Put(s.palm.position, 3, state);
    state = Put(s.object.position, 3, state);
    state = Put(s.object_linear, 3, state);
    Put(mark_, 2, state);
  }

 private:
  static double Distance(const double* a, const double* b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }
  static float* Put(const double* from, int count, float* to) {
    for (int i = 0; i < count; ++i) *to++ = static_cast<float>(from[i]);
    return to;
  }
  double ToMark(const Scene& s) const {
    return std::hypot(s.object.position[0] - mark_[0], s.object.position[1] - mark_[1]);
  }

  double mark_[2];
  double radius_, spread_, table_;
};

GRIPSTREAM_TASK(Push)
