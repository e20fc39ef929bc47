// Which way of running a configuration is the fastest here: what could be tried, what to expect of it, what bounds it.
//
//   measured stages (one after the other) -> Predict -> candidates, best first -> trials until the time is up -> choice
//
// All of a configuration that learning depends on stays: environments over all processes, batch, networks. What changes
// is who does what when: simulator processes, threads, runtime.mode, runtime.inference, and policy.inference_chunk
// where half-batches need it. With `max_staleness` > 0 asynchronous collection may be chosen too.
//
// Pure functions but for the trial that Search is given. Throws InputError for a configuration that cannot be split.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "launch/run_config.h"
#include "launch/trial.h"

namespace gripstream {

// "double_buffered, 2 x 128 environments, threads: physics 1, learner 2"
std::string DescribeSplit(const RunConfig& config);

// Every way of running `config` on `cpus` CPUs that is tried: `config` itself first.
std::vector<RunConfig> Candidates(const RunConfig& config, int cpus, int max_staleness);

// Seconds of an iteration of `candidate`, from the stages as `measured` ran them, one after the other. Threads beyond
// the CPUs take turns.
double Predict(const StageTimes& stages, const RunConfig& measured, const RunConfig& candidate, int cpus);

// The stage that an iteration would be shorter without: of those that the mode does not hide behind a longer one, the
// longest. "simulation", "rendering", "wire", "inference" or "update".
std::string BoundBy(const StageTimes& stages, const std::string& mode, bool simulators_act = false);

struct Trial {
  RunConfig config;
  std::vector<TrialResult> results;  // of each time that it was tried
  double StepsPerSecond() const;     // median
  const TrialResult& Last() const { return results.back(); }
};

struct SearchOptions {
  int cpus = 1;
  int max_staleness = 1;
  double seconds = 60;  // all trials together
  std::function<double()> clock = SteadySeconds;
};

struct SearchResult {
  std::vector<Trial> tried;  // the given configuration first
  StageTimes alone;          // stages of the given configuration, one after the other
  int untried = 0;           // candidates that the time did not reach
  size_t best = 0;           // recommended, among `tried`
  size_t fastest_on_policy = 0, fastest = 0;
};

// Tries the most promising candidates, then the best of them once more each until the time is over. `trial` runs one
// for about so many seconds. Asynchronous collection, which changes what is learned, is recommended only where it
// gains more than 3 %.
SearchResult Search(const RunConfig& config, const SearchOptions& options,
                    const std::function<TrialResult(const RunConfig&, double)>& trial);

}  // namespace gripstream
