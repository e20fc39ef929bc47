// The simulator role: environments and cameras behind one end of the wire.
//
//   command (wire) -> EnvBatch (physics, rewards) + EnvImages (cameras) -> record (wire), written in place
//
// Its environments come in one or more groups of equal size, each a batch of its own; a command and its record concern
// one group. With two, the learner infers for one while the other is stepped and rendered here.
//
// It obeys commands in order until told to stop: reset, step, save state, load state. With an Actor it also steps by
// actions of its own, and says in the records what they were. Everything runs on the calling
// thread, but for the threads inside physics and rendering. Throws what its parts throw; the learner is told before.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/memory_budget.h"
#include "core/tensor_spec.h"
#include "envs/config.h"
#include "sim_server/cameras_config.h"
#include "sim_server/config.h"
#include "wire/transport.h"

namespace gripstream {

class Actor;
class EnvBatch;
class EnvImages;

struct SimulatorOptions {
  SimConfig sim;
  PhysicsConfig physics;
  CamerasConfig render;
  TaskConfig task;
  uint64_t seed = 1;
  int index = 0;   // this process among sim.processes: environments [index * sim.envs, (index + 1) * sim.envs)
  int groups = 1;  // equal parts in which they are stepped; a divisor of sim.envs
};

class Simulator {
 public:
  // Builds models, environments and renderer; throws InputError for what the configuration names wrongly.
  explicit Simulator(const SimulatorOptions& options);
  ~Simulator();

  // Chooses actions when the learner says kAct; with one group only. Before Serve.
  void SetActor(std::unique_ptr<Actor> actor);
  // The record of one step: the task's tensors, the images, then the actor's. The same for every simulator of a run.
  std::vector<TensorSpec> RecordSpecs() const;
  const TensorSpec& ActionSpec() const;
  const std::vector<std::string>& RewardTerms() const;
  std::vector<std::string> Metrics() const;      // of the record's "metrics"
  std::vector<std::string> ObjectNames() const;  // by the record's "object_id"
  const EnvBatch& Envs(int group) const;
  uint32_t EnvBegin() const { return env_begin_; }
  int Envs() const { return options_.sim.envs; }
  int Groups() const { return options_.groups; }
  int GroupEnvs() const { return options_.sim.envs / options_.groups; }  // N of a record

  // What it took to build, part by part (the names are simulator_budget.h's): what malloc handed out meanwhile.
  const std::vector<MemoryUse>& Memory() const { return memory_; }
  // Draws one image of every environment, so that what is made when it is first needed is there.
  void WarmUp();

  // Obeys the learner until it says stop, with the environments that it gave. `wire` was connected with RecordSpecs().
  // May be called again, on another wire, after LearnerLost.
  void Serve(SimulatorEnd& wire, double deadline_s);

 private:
  class Loop;
  void TakeEnvs(uint32_t env_begin);
  SimulatorOptions options_;
  uint32_t env_begin_;
  std::vector<std::unique_ptr<EnvBatch>> groups_;  // in the order of their global ids
  std::unique_ptr<EnvImages> images_;
  std::unique_ptr<Actor> actor_;    // null: the learner acts
  std::vector<std::byte> reserve_;  // sim.reserve_bytes_per_env
  std::vector<MemoryUse> memory_;
};

}  // namespace gripstream
