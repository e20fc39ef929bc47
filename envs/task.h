// One task: where things start, what is observed, what is rewarded, when an episode has succeeded.
//
// A task is immutable and sees one environment at a time through Scene; calls come from the physics threads and must
// not throw or allocate.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "control/math3.h"
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
};

struct Outcome {
  bool terminated = false;  // the episode ends here, before its time
  bool success = false;     // counts when the episode ends here
};

class Task {
 public:
  virtual ~Task() = default;

  virtual int ProprioSize(int joints, int actions) const = 0;
  virtual int StateSize(int joints, int actions) const = 0;
  virtual const std::vector<std::string>& RewardTerms() const = 0;

  // The object's pose at the start of an episode.
  virtual Transform Spawn(const ObjectInfo& object, Rng& rng) const = 0;
  // Weighted reward terms of the step that led here. `ends`: the episode ends here by its time.
  virtual Outcome Evaluate(const Scene& scene, bool ends, std::span<float> terms) const = 0;
  virtual void Observe(const Scene& scene, std::span<float> proprio, std::span<float> state) const = 0;
};

std::unique_ptr<Task> MakeTask(const TaskConfig& config);
const std::vector<std::string>& TaskNames();

}  // namespace gripstream
