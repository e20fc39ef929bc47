// Two classic control tasks on our batched physics, as gymnasium (v4) has them: for the comparison of learners.
//
//   inverted_pendulum  a cart keeps a pole up: observation [4] positions and speeds, force on the cart, reward 1 a
//   step,
//                      over when the pole leans more than 0.2 rad, or after 1000 steps
//   half_cheetah       run: observation [17], torques on six joints, reward speed - 0.1 |action|^2, 1000 steps
//
// Environments begin anew in the step that ends an episode. Episodes are drawn by seed, environment and number. One
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/rng.h"
#include "core/tensor_spec.h"
#include "envs/physics.h"
#include "replay/rollout.h"

namespace gripstream {

struct ClassicModel {
  std::string name, file;  // in the folder of gymnasium's models
  int frame_skip;
  double action_scale;  // of [-1, 1] to the model's controls
};
const ClassicModel& ClassicModelOf(const std::string& name);

class ClassicTask {
 public:
  // `folder` holds gymnasium's models. Throws InputError when the model cannot be read.
  ClassicTask(const ClassicModel& which, const std::string& folder, uint64_t seed, int envs);

  int Actions() const { return static_cast<int>(model_->nu); }
  std::vector<TensorSpec> Specs() const;
  void Reset();
  void Step(const float* actions);  // [N, A] in [-1, 1]
  void Write(RolloutStore& store, int t) const;
  // Episodes that ended since the last call.
  struct Ended {
    int env;
    double total_reward;
  };
  std::vector<Ended> TakeEnded();

 private:
  struct Env {
    uint32_t episode = 0;
    int step = 0;
    double total_reward = 0, start_x = 0;
    float reward = 0;
    uint8_t done = 0;
    std::vector<float> state, final_state;
  };
  void Begin(const std::vector<int>& ids);
  void Observe(int env, const SimView& sim);
  void Judge(int env, const SimView& sim);
  bool IsPendulum() const { return which_.name == "inverted_pendulum"; }
  double Control(const Env& env, int actuator) const;

  ClassicModel which_;
  uint64_t seed_;
  std::unique_ptr<mjModel, void (*)(mjModel*)> model_;
  std::unique_ptr<BatchPhysics> physics_;
  std::vector<Env> envs_;
  const float* actions_ = nullptr;  // of the step under way
  std::vector<Ended> ended_;
};

}  // namespace gripstream
