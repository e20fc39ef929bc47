// Trains on the toy reach task from a YAML text of policy and PPO settings, and prints how success and time go.
//
//   bench_ppo SECONDS ENVS [key=value ...]      keys as in policy.* and ppo.*, for example ppo.epochs=2
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "core/error.h"
#include "learner/ppo.h"
#include "policies/inference.h"
#include "replay/rollout.h"
#include "tests/learner/toy_reach.h"

namespace gripstream {
namespace {

struct BenchConfig {
  PolicyConfig policy;
  PpoConfig ppo;
  int seed = 1;
  void Fields(FieldVisitor& v) {
    v.Group("policy", policy, "networks");
    v.Group("ppo", ppo, "training");
    v.Int("seed", seed, {.doc = "seed"});
  }
};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Clock {
  double act = 0, update = 0, sim = 0, last_update = 0;
};

void Rollout(const Policy& policy, ToyReach& task, RolloutStore& store, uint64_t step, Clock& clock) {
  for (int t = 0; t < store.Horizon(); ++t) {
    const double a = Now();
    policy.Act({store.Step("obs.proprio", t), store.Step("obs.depth", t), store.Step("state", t)},
               {.first_env = 0, .step = step + static_cast<uint64_t>(t)},
               {store.Action()[t], store.Mean()[t], store.LogStd()[t], store.LogProb()[t], store.Value()[t], {}});
    const double b = Now();
    task.Step(store.Action()[t].data_ptr<float>());
    task.Write(store, t + 1);
    clock.act += b - a;
    clock.sim += Now() - b;
  }
}

// Share of 256 fresh episodes that the mean action solves.
double Evaluate(const Policy& policy, uint64_t seed) {
  constexpr int kEpisodes = 256;
  ToyReach task(seed + 1000, kEpisodes);
  RolloutStore store(ToyReach::Specs(), ToyReach::kEpisodeSteps, kEpisodes, ToyReach::kAction);
  task.Reset();
  task.Write(store, 0);
  for (int t = 0; t < ToyReach::kEpisodeSteps; ++t) {
    const torch::Tensor action = store.Action()[t];
    policy.Act({store.Step("obs.proprio", t), store.Step("obs.depth", t), store.Step("state", t)}, {.sample = false},
               {.action = action});
    task.Step(action.data_ptr<float>());
    task.Write(store, t + 1);
  }
  const ToyReach::Outcome outcome = task.TakeOutcome();
  return static_cast<double>(outcome.successes) / outcome.episodes;
}

int Main(int argc, char** argv) {
  if (argc < 3) throw InputError("command line", "usage: bench_ppo SECONDS ENVS [key=value ...]");
  const double seconds = std::atof(argv[1]);
  const int envs = std::atoi(argv[2]);
  BenchConfig config;
  ConfigFile::FromText("{}", "bench", std::vector<std::string>(argv + 3, argv + argc)).Read(config);
  const uint64_t seed = static_cast<uint64_t>(config.seed);
  Policy policy(config.policy, ShapesFromSpecs(ToyReach::Specs(), ToyReach::kAction), seed);
  Ppo ppo(config.ppo, policy, envs, seed, 100);
  RolloutStore store(ToyReach::Specs(), config.ppo.horizon, envs, ToyReach::kAction);
  ToyReach task(seed, envs);
  task.Reset();
  task.Write(store, 0);
  ppo.Prime(store);
  Clock clock;
  int64_t samples = 0;
  double evaluated = 0;
  for (int64_t iteration = 0; clock.act + clock.update < seconds; ++iteration) {
    Rollout(policy, task, store, static_cast<uint64_t>(iteration * config.ppo.horizon), clock);
    const double before = Now();
    const PpoMetrics m = ppo.Update(store, iteration);
    store.BeginNext();
    clock.last_update = Now() - before;
    clock.update += clock.last_update;
    samples += m.used_samples;
    if (iteration % 5 == 4) evaluated = Evaluate(policy, seed);
    const ToyReach::Outcome outcome = task.TakeOutcome();
    std::printf(
        "%3ld samples %7ld learn %6.1f s (act %5.1f sim %5.1f) success %5.3f mean-action %5.3f aux %6.4f kl %6.4f lr "
        "%.2e std %.3f ev "
        "%.2f clip %.2f gn %.2f us/sample-epoch %.1f\n",
        static_cast<long>(iteration), static_cast<long>(samples), clock.act + clock.update, clock.act, clock.sim,
        outcome.episodes ? static_cast<double>(outcome.successes) / outcome.episodes : 0.0, evaluated, m.aux_loss, m.kl,
        m.learning_rate, m.action_std, m.explained_variance, m.clip_fraction, m.grad_norm,
        1e6 * clock.last_update / (store.Horizon() * envs * config.ppo.epochs));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(&gripstream::Main, argc, argv);
}
