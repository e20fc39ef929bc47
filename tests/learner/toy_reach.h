// A small stand-in for the reach task, for tests of learning without physics: a ball on a table and a palm, both seen
// by a depth camera from the side; the action is where the palm should go, and it goes there at a limited speed.
//
// Everything is drawn from counter-based streams keyed by environment and episode. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "core/tensor_spec.h"
#include "replay/rollout.h"

namespace gripstream {

struct ToyVector {
  float x = 0, y = 0, z = 0;
};

class ToyReach {
 public:
  static constexpr int kHeight = 48, kWidth = 64, kProprio = 7, kState = 10, kAction = 3, kEpisodeSteps = 12;

  // Environments [first_env, first_env + envs).
  ToyReach(uint64_t seed, int envs, int first_env = 0);
  static std::vector<TensorSpec> Specs();
  int Envs() const { return static_cast<int>(envs_.size()); }

  void Reset(uint32_t first_episode = 0);
  void Step(const float* actions);  // [N, 3]
  void Write(RolloutStore& store, int t) const;
  // Episodes that ended since the last call, and how many of them with the palm within 6 cm of the ball.
  struct Outcome {
    int episodes = 0, successes = 0;
  };
  Outcome TakeOutcome();

 private:
  struct Env {
    ToyVector ball, palm, last_action;
    float radius = 0;
    int step = 0;
    uint32_t episode = 0;
    float reward = 0;
    uint8_t done = 0;
    float final_state[kState] = {};
  };
  void Begin(uint32_t id, Env& env) const;
  void WriteState(const Env& env, float* out) const;
  void Render(const Env& env, uint16_t* image) const;
  void Draw(const ToyVector& centre, float radius, uint16_t* image) const;

  uint64_t seed_;
  uint32_t first_env_;
  std::vector<Env> envs_;
  std::vector<uint16_t> background_;
  Outcome outcome_;
};

}  // namespace gripstream
