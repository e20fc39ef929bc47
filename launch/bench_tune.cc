#include "launch/bench_tune.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "core/cpus.h"
#include "core/statistics.h"
#include "launch/tune.h"

namespace gripstream {
namespace {

constexpr double kSearch = 20, kGridTrial = 1, kFinalTrial = 2;  // of the seconds given
constexpr int kFinals = 3;
constexpr int kMaxStaleness = 1;

constexpr char kConfig[] =
    "sim: {envs: 64}\n"
    "task: {name: reach, decimation: 2}\n"
    "policy: {name: state_mlp, inference_chunk: 16}\n"
    "ppo: {horizon: 8, minibatch: 256, epochs: 1}\n";

struct Bottleneck {
  const char* stage;
  std::vector<std::string> overrides;
};

const std::vector<Bottleneck>& Bottlenecks() {
  static const std::vector<Bottleneck> all = {
      {"simulation", {"task.decimation=24"}},
      {"rendering", {"render.width=320", "render.height=240", "render.noise.enabled=true"}},
      {"wire",
       {"render.depth.cameras=[]", "render.normals.cameras=[task.camera]", "render.width=320", "render.height=240",
        "wire.transport=zmq", "wire.compression=zstd"}},
      {"update", {"policy.name=depth_cnn", "render.width=64", "render.height=48", "ppo.epochs=16"}},
  };
  return all;
}

void Report(const char* stage, const std::string& what) {
  std::fprintf(stderr, "tune, slow %s: %s\n", stage, what.c_str());
}

// The given configuration's rate and description, and those of the fastest of all candidates.
Trial BestOfAll(const std::vector<RunConfig>& candidates, double seconds) {
  Trial best;
  for (const RunConfig& candidate : candidates) {
    const TrialResult result = RunTrial(candidate, seconds);
    if (best.results.empty() || result.steps_per_s > best.Last().steps_per_s) best = {candidate, {result}};
  }
  return best;
}

std::vector<BenchRow> Judge(const Bottleneck& bottleneck, double seconds) {
  const RunConfig config = ReadRunConfigText(kConfig, "bench tune", bottleneck.overrides);
  const SearchOptions options{.cpus = AvailableCpus(), .max_staleness = kMaxStaleness, .seconds = kSearch * seconds};
  const SearchResult result = Search(config, options, RunTrial);
  const RunConfig& recommended = result.tried[result.best].config;
  const std::vector<RunConfig> candidates = Candidates(config, options.cpus, options.max_staleness);
  const RunConfig best = BestOfAll(candidates, kGridTrial * seconds).config;
  Report(bottleneck.stage, "recommended " + DescribeSplit(recommended) + "; best " + DescribeSplit(best));
  std::vector<double> ours, peers, ratios;
  for (int i = 0; i < kFinals; ++i) {
    ours.push_back(RunTrial(recommended, kFinalTrial * seconds).steps_per_s);
    peers.push_back(RunTrial(best, kFinalTrial * seconds).steps_per_s);
    ratios.push_back(ours.back() / peers.back());
  }
  const std::string name = std::string("tune.slow ") + bottleneck.stage;
  const std::string named = BoundBy(result.alone, "lockstep");
  return {{name, Median(ours), Median(peers), "best of " + std::to_string(candidates.size()) + " ways", Median(ratios),
           0.95, "steps/s", ""},
          {name + ": named", named == bottleneck.stage ? 1.0 : 0.0, 1, "bound by " + named,
           named == bottleneck.stage ? 1.0 : 0.0, 1, "yes", ""}};
}

}  // namespace

std::vector<BenchRow> BenchTune(double seconds) {
  std::vector<BenchRow> rows;
  for (const Bottleneck& bottleneck : Bottlenecks()) {
    for (BenchRow& row : Judge(bottleneck, seconds)) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace gripstream
