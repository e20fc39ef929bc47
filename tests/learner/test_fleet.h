// A learner's end of the wire with fake simulators, and a small policy for them: for tests of collection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policies/inference.h"
#include "tests/learner/fake_simulator.h"

namespace gripstream {

inline constexpr int kEnvs = 16, kChunk = 4, kHorizon = 6;

inline Policy MakePolicy() {
  PolicyConfig config;
  config.name = "state_mlp";
  config.actor_hidden = config.critic_hidden = {8};
  config.inference_chunk = kChunk;
  return Policy(config, {.proprio = kFakeState, .state = kFakeState, .action = kFakeAction}, 3);
}

// A learner's end with its simulators, which share kEnvs environments equally.
class TestFleet {
 public:
  TestFleet(int simulators, int groups, const FakeSimulatorOptions& options = {}) {
    std::vector<FakeSimulatorOptions> all;
    for (int i = 0; i < simulators; ++i) {
      all.push_back(options);
      all.back().env_begin = i * kEnvs / simulators;
      all.back().env_count = kEnvs / simulators;
      all.back().groups = groups;
    }
    Start(all);
  }
  explicit TestFleet(const std::vector<FakeSimulatorOptions>& simulators) { Start(simulators); }
  ~TestFleet() { wire_->Stop("the test is over", Deadline::After(5)); }

  LearnerEnd& Wire() { return *wire_; }

 private:
  void Start(const std::vector<FakeSimulatorOptions>& simulators) {
    static int count = 0;
    WireConfig config;
    config.transport = "inproc";
    config.address = "collector test " + std::to_string(++count);
    wire_ = ListenForSimulators(config, {.run_id = "run", .specs = FakeSpecs(), .total_envs = kEnvs});
    for (const FakeSimulatorOptions& options : simulators) {
      simulators_.push_back(std::make_unique<FakeSimulator>(config, options));
    }
    wire_->WaitForSimulators(static_cast<int>(simulators.size()), Deadline::After(10));
  }

  std::vector<std::unique_ptr<FakeSimulator>> simulators_;  // their threads end once the wire has gone
  std::unique_ptr<LearnerEnd> wire_;
};

inline constexpr double kPatience_s = 5;

}  // namespace gripstream
