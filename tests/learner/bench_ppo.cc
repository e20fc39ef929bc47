// Trains on the toy reach task and prints how success and time go: to choose hyper-parameters, and to see what a change
// of the networks costs. Times are CPU seconds of the process: with ppo.threads=1 other programs hardly disturb them.
//
//   bench_ppo SECONDS ENVS [key=value ...]      keys as in policy.* and ppo.*, and seed
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/learner/toy_trainer.h"

namespace gripstream {
namespace {

constexpr int kEvaluateEvery = 5;

struct BenchConfig {
  PolicyConfig policy;
  PpoConfig ppo;
  uint64_t seed = 1;
  void Fields(FieldVisitor& v) {
    v.Group("policy", policy, "networks");
    v.Group("ppo", ppo, "training");
    v.Uint64("seed", seed, {.doc = "of everything"});
  }
};

double Now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

struct Times {
  double act = 0, task = 0, update = 0, last_update = 0;
  double Learner() const { return act + update; }
};

void Iterate(ToyTrainer& trainer, Times& times) {
  for (int t = 0; t < trainer.store.Horizon(); ++t) {
    const double start = Now();
    trainer.Act(t);
    const double acted = Now();
    trainer.StepTask(t);
    times.act += acted - start;
    times.task += Now() - acted;
  }
  const double start = Now();
  trainer.Learn();
  times.last_update = Now() - start;
  times.update += times.last_update;
}

void Print(ToyTrainer& trainer, const PpoConfig& config, const Times& times, double evaluated) {
  const ToyReach::Outcome outcome = trainer.task.TakeOutcome();
  const PpoMetrics& m = trainer.last;
  const int64_t per_iteration = int64_t{trainer.store.Horizon()} * trainer.store.Envs();
  const double sample_us = 1e6 * times.last_update / static_cast<double>(per_iteration * config.epochs);
  std::printf(
      "%3ld samples %7ld learner %6.1f s (act %5.1f) success %5.3f mean action %5.3f aux %6.4f kl %6.4f lr %.2e "
      "std %.3f ev %.2f clip %.2f grad %.2f us/sample/epoch %.1f\n",
      static_cast<long>(trainer.iteration), static_cast<long>(trainer.iteration * per_iteration), times.Learner(),
      times.act, outcome.episodes ? static_cast<double>(outcome.successes) / outcome.episodes : 0.0, evaluated,
      m.aux_loss, m.kl, m.learning_rate, m.action_std, m.explained_variance, m.clip_fraction, m.grad_norm, sample_us);
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  if (argc < 3) throw InputError("command line", "usage: bench_ppo SECONDS ENVS [key=value ...]");
  const double seconds = std::atof(argv[1]);
  BenchConfig config;
  ConfigFile::FromText("{}", "bench", std::vector<std::string>(argv + 3, argv + argc)).Read(config);
  ToyTrainer trainer(config.seed, std::atoi(argv[2]), config.ppo, config.policy);
  Times times;
  double evaluated = trainer.Evaluate(false);
  while (times.Learner() < seconds) {
    Iterate(trainer, times);
    if (trainer.iteration % kEvaluateEvery == 0) evaluated = trainer.Evaluate(false);
    Print(trainer, config.ppo, times, evaluated);
  }
  return 0;
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(&gripstream::Main, argc, argv);
}
