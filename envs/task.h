// One task: where things start, what is observed, what is rewarded, when an episode has succeeded.
//
// A task is immutable and sees one environment at a time through Scene; calls come from the physics threads and must
// not throw or allocate.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "control/frame_motion.h"
#include "control/math3.h"
#include "control/senses.h"
#include "core/failure_kind.h"
#include "core/rng.h"
#include "envs/config.h"
#include "envs/model.h"

namespace gripstream {

// An environment after a policy step, in the robot's base frame and joint order.
struct Scene {
  std::span<const double> q, qd;               // joint positions (rad) and velocities (rad/s)
  Transform palm;                              // true pose of the palm site
  Transform object;                            // true pose of the object body
  Vec3 palm_target;                            // commanded
  std::span<const float> action, last_action;  // the newest and the one before; zeros at the start of an episode
  int step = 0, episode_steps = 1;             // policy steps done, and of a whole episode
  // As the robot's sensors have it, with noise and bias where the configuration has them.
  std::span<const double> q_seen{}, qd_seen{};
  Transform object_seen{};
  // Palm, then fingertips, by kinematics from the joints.
  std::span<const FrameMotion> hand{}, hand_seen{};
  Vec3 object_linear{}, object_angular{};                            // m/s, rad/s, in the base frame
  std::span<const double> command_q{}, command_qd{}, command_qdd{};  // of the action map
  std::span<const double> torque{};   // of the actuators, per joint (Nm), one physics step old
  std::span<const double> touch{};    // force on each touch sensor (N), one physics step old
  int object_index = 0, objects = 0;  // place among the task's objects, and their number
  double level = 0;                   // of the curriculum, [0, 1]
};

inline double TimeLeft(const Scene& scene) {
  return 1.0 - static_cast<double>(scene.step) / scene.episode_steps;
}

// As the robot's sensors have it.
inline Senses SensesOf(const Scene& s) {
  return {.q = s.q_seen,
          .qd = s.qd_seen,
          .hand = s.hand_seen,
          .action = s.action,
          .commanded_palm = s.palm_target,
          .command_q = s.command_q,
          .command_qd = s.command_qd,
          .command_qdd = s.command_qdd,
          .time_left = TimeLeft(s),
          .object = s.object_seen,
          .object_index = s.object_index,
          .objects = s.objects};
}

struct Outcome {
  bool terminated = false;  // the episode ends here, before its time
  bool success = false;     // counts when the episode ends here
};

class Task {
 public:
  virtual ~Task() = default;

  // The layouts of obs.proprio and state. A robot makes the former by the names of its parts (control/senses.h), with
  // the goal, the factor on speeds at a level of the curriculum, and the clip (0: none) that follow.
  virtual std::vector<ObservationField> ProprioFields(const TaskDims& dims) const = 0;
  virtual Vec3 Goal() const { return {}; }
  virtual double VelocityFactor(double) const { return 1; }
  virtual double ObservationClip() const { return 0; }
  virtual std::vector<ObservationField> StateFields(const TaskDims& dims) const = 0;
  virtual const std::vector<std::string>& RewardTerms() const = 0;
  // Numbers to be logged, per step, that are no reward.
  virtual std::vector<std::string> Metrics() const { return {}; }
  // How episodes fail, told from these metrics, in the order in which they are tried.
  virtual std::vector<FailureKind> Failures() const { return {}; }
  // From an episode's start so many policy steps' actions count as zeros.
  virtual int HeldSteps() const { return 0; }
  // Numbers that the task remembers per environment; zeros at the start of an episode.
  virtual int MemorySize() const { return 0; }

  // The object's pose at the start of an episode.
  virtual Transform Spawn(const ObjectInfo& object, double level, Rng& rng) const = 0;
  // Called after every step, before Evaluate.
  virtual void Remember(const Scene&, std::span<float>) const {}
  // Weighted reward terms of the step that led here. `ends`: the episode ends here by its time.
  virtual Outcome Evaluate(const Scene& scene, std::span<const float> memory, bool ends,
                           std::span<float> terms) const = 0;
  virtual void Measure(const Scene&, std::span<float>) const {}
  virtual void Observe(const Scene& scene, std::span<float> proprio, std::span<float> state) const = 0;
};

std::unique_ptr<Task> MakeTask(const TaskConfig& config, const RobotBinding& robot);
const std::vector<std::string>& TaskNames();

}  // namespace gripstream
