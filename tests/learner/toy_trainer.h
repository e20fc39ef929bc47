// Policy, PPO, rollout store and toy environments put together: the learner's loop without a wire, for tests and the
// learning benchmark. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "learner/ppo.h"
#include "policies/inference.h"
#include "replay/rollout.h"
#include "tests/learner/toy_reach.h"

namespace gripstream {

// Networks small enough for tests.
inline PolicyConfig SmallPolicy() {
  PolicyConfig config;
  config.encoder = {.channels = {4, 8}, .kernels = {8, 3}, .strides = {4, 2}, .features = 16};
  config.actor_hidden = {16};
  config.critic_hidden = {16};
  config.inference_chunk = 8;
  return config;
}

struct ToyTrainer {
  const LearnerGroup& group;  // `envs` are those of this learner
  Policy policy;
  Ppo ppo;
  RolloutStore store;
  ToyReach task;
  int64_t iteration = 0;
  PpoMetrics last;

  ToyTrainer(uint64_t seed, int envs, const PpoConfig& config, const PolicyConfig& networks,
             const LearnerGroup& learners = Alone(), GradientDelay delay = GradientDelay::kNone)
      : group(learners),
        policy(networks, ShapesFromSpecs(ToyReach::Specs(), ToyReach::kAction), seed),
        ppo(config, policy, envs, seed, 100, learners, delay),
        store(ToyReach::Specs(), config.horizon, envs, ToyReach::kAction,
              {policy.MemorySize(), config.SequenceOf(policy.MemorySize() > 0)}),
        task(seed, envs, envs * learners.Rank()) {
    task.Reset();
    task.Write(store, 0);
    ppo.Prime(store);
  }

  static const LearnerGroup& Alone() {
    static const LearnerGroup alone;
    return alone;
  }

  static Observation ObservationAt(const RolloutStore& from, int t) {
    return {from.Step("obs.proprio", t), from.Step("obs.depth", t), from.Step("state", t), from.Step("done", t)};
  }

  void Act(int t) const {
    const uint64_t step = static_cast<uint64_t>(iteration * store.Horizon() + t);
    policy.Act(ObservationAt(store, t),
               {.first_env = static_cast<uint32_t>(group.Rank() * store.Envs()),
                .step = step,
                .memory = store.MemoryBefore(t)},
               {.action = store.Action()[t],
                .mean = store.Mean()[t],
                .log_std = store.LogStd()[t],
                .log_prob = store.LogProb()[t],
                .value = store.Value()[t],
                .memory = store.MemoryBefore(t + 1)});
  }
  void StepTask(int t) {
    task.Step(store.Action()[t].data_ptr<float>());
    task.Write(store, t + 1);
  }
  void Collect() {
    for (int t = 0; t < store.Horizon(); ++t) {
      Act(t);
      StepTask(t);
    }
  }
  void Learn() {
    last = ppo.Update(store, iteration++);
    store.BeginAfter(store);
  }
  void Train(int iterations) {
    for (int i = 0; i < iterations; ++i) {
      Collect();
      Learn();
    }
  }

  // Share of 256 episodes, the same ones every time, that the mean action solves.
  double Evaluate(bool blank_image) const {
    constexpr int kEpisodes = 256;
    ToyReach fresh(4242, kEpisodes);
    RolloutStore seen(ToyReach::Specs(), ToyReach::kEpisodeSteps, kEpisodes, ToyReach::kAction);
    const torch::Tensor memory = at::zeros({kEpisodes, policy.MemorySize()}, torch::kFloat32);
    fresh.Reset();
    fresh.Write(seen, 0);
    for (int t = 0; t < ToyReach::kEpisodeSteps; ++t) {
      const torch::Tensor action = seen.Action()[t];
      policy.Act(ObservationAt(seen, t), {.sample = false, .blank_image = blank_image, .memory = memory},
                 {.action = action, .memory = memory});
      fresh.Step(action.data_ptr<float>());
      fresh.Write(seen, t + 1);
    }
    const ToyReach::Outcome outcome = fresh.TakeOutcome();
    return static_cast<double>(outcome.successes) / outcome.episodes;
  }

  std::string Digest() const { return ParametersSha256(policy.Network().Parameters()); }
};

}  // namespace gripstream
