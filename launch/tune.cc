#include "launch/tune.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/error.h"
#include "core/statistics.h"

namespace gripstream {
namespace {

constexpr double kGainForStaleness = 1.03;
constexpr double kLeastTrial_s = 0.7;
constexpr double kIterationsOfTrial = 4;
constexpr size_t kFinalists = 3;
constexpr double kShareOfFinals = 0.4;  // of the time
constexpr int kLeastChunk = 8;

bool IsDataParallel(const RunConfig& config) {
  return config.runtime.mode == "data_parallel";
}

int ThreadsOf(int configured, int cpus) {
  return configured > 0 ? configured : cpus;
}

// The largest divisor of `envs` that is at most `chunk`.
int FittingChunk(int envs, int chunk) {
  for (int size = std::min(envs, chunk); size > 1; --size) {
    if (envs % size == 0) return size;
  }
  return 1;
}

// A way of taking turns.
struct Turns {
  std::string mode;
  int max_staleness = 0;
  std::string inference = "learner";
};

// `config` over `processes` with these turns; false when its environments cannot be split so.
bool Split(RunConfig& config, int processes, const Turns& turns) {
  const int total = config.TotalEnvs();
  if (total % processes != 0) return false;
  const std::string& mode = config.runtime.mode = turns.mode;
  config.runtime.max_staleness = turns.max_staleness;
  config.runtime.inference = turns.inference;
  config.sim.processes = processes;
  config.sim.envs = total / processes;
  config.learner.processes = mode == "data_parallel" ? processes : 1;
  const int groups = config.Groups();
  if (config.sim.envs % groups != 0) return false;
  const int chunk = config.policy.inference_chunk;
  const bool whole_chunks = groups > 1 || config.learner.processes > 1 || (config.SimulatorsAct() && processes > 1);
  if (whole_chunks) config.policy.inference_chunk = FittingChunk(config.sim.envs / groups, chunk);
  return config.policy.inference_chunk >= std::min(chunk, kLeastChunk);
}

std::set<int> LearnerThreads(const std::string& mode, int processes, int cpus) {
  if (mode == "data_parallel") return {std::max(1, cpus / processes)};
  return {1, std::max(1, cpus / 2), cpus};
}

// All CPUs for the simulators, or those that the learner leaves.
std::set<int> SimulatorThreads(const std::string& mode, int processes, int learner_threads, int cpus) {
  std::set<int> threads = {std::max(1, cpus / processes)};
  if (mode == "double_buffered" || mode == "async") threads.insert(std::max(1, (cpus - learner_threads) / processes));
  return threads;
}

std::vector<int> ProcessCounts(const RunConfig& config, int cpus) {
  std::vector<int> counts;
  for (int count = 1; count <= std::min(cpus, 256); count *= 2) counts.push_back(count);
  if (config.wire.transport == "inproc" && !IsDataParallel(config)) counts = {1};
  return counts;
}

std::vector<Turns> AllTurns(int max_staleness) {
  std::vector<Turns> all = {{"lockstep"}, {"double_buffered"}, {"data_parallel"}, {"lockstep", 0, "simulator"}};
  for (const int staleness : std::set<int>{1, max_staleness}) {
    if (max_staleness == 0) break;
    all.push_back({"async", staleness});
    all.push_back({"async", staleness, "simulator"});
  }
  return all;
}

// Whether a run would take it: modes refuse what they cannot do.
bool Accepted(const RunConfig& config) {
  try {
    ReadRunConfigText(ToYaml(config), "candidate", {});
    return true;
  } catch (const InputError&) {
    return false;
  }
}

auto KeyOf(const RunConfig& c, int cpus) {
  return std::tuple(
      c.runtime.mode, c.runtime.max_staleness, c.runtime.inference, c.sim.processes, ThreadsOf(c.physics.threads, cpus),
      ThreadsOf(c.sim.render_threads > 0 ? c.sim.render_threads : c.physics.threads, cpus), c.ppo.threads);
}

}  // namespace

std::string DescribeSplit(const RunConfig& config) {
  std::string text = config.runtime.mode;
  if (config.runtime.mode == "async") text += " (max_staleness " + std::to_string(config.runtime.max_staleness) + ")";
  if (config.SimulatorsAct()) text += ", simulators act";
  text += ", " + std::to_string(config.sim.processes) + " x " + std::to_string(config.sim.envs) + " environments, ";
  const std::string physics = config.physics.threads > 0 ? std::to_string(config.physics.threads) : "all";
  return text + "threads: physics " + physics + ", learner " + std::to_string(config.ppo.threads);
}

std::vector<RunConfig> Candidates(const RunConfig& config, int cpus, int max_staleness) {
  std::vector<RunConfig> candidates = {config};
  std::set<decltype(KeyOf(config, cpus))> seen = {KeyOf(config, cpus)};
  for (const Turns& turns : AllTurns(max_staleness)) {
    const std::string& mode = turns.mode;
    for (const int processes : ProcessCounts(config, cpus)) {
      RunConfig split = config;
      if (!Split(split, processes, turns) || (mode == "data_parallel" && processes == 1)) continue;
      if (mode == "data_parallel") split.wire.transport = "inproc";
      if (mode != "data_parallel" && IsDataParallel(config)) split.wire.transport = "shm";
      for (const int learner : LearnerThreads(mode, processes, cpus)) {
        for (const int physics : SimulatorThreads(mode, processes, learner, cpus)) {
          split.ppo.threads = learner;
          split.physics.threads = split.sim.render_threads = physics;
          if (Accepted(split) && seen.insert(KeyOf(split, cpus)).second) candidates.push_back(split);
        }
      }
    }
  }
  return candidates;
}

double Predict(const StageTimes& stages, const RunConfig& measured, const RunConfig& candidate, int cpus) {
  const auto simulator_cpus = [&](const RunConfig& c) {
    return std::min(cpus, c.sim.processes * ThreadsOf(c.physics.threads, cpus));
  };
  const auto learner_cpus = [&](const RunConfig& c) {
    return std::min(cpus, c.ppo.threads * (IsDataParallel(c) ? c.sim.processes : 1));
  };
  const int simulators = simulator_cpus(candidate), learner = learner_cpus(candidate);
  const double simulators_gain = 1.0 * simulator_cpus(measured) / simulators;
  const double learner_gain = 1.0 * learner_cpus(measured) / learner;
  const double simulate = (stages.simulation_s + stages.rendering_s) * simulators_gain;
  const double update = stages.update_s * learner_gain;
  if (candidate.SimulatorsAct()) {
    // Each simulator acts for its own environments.
    const double acting_cpus = std::min(cpus, candidate.ppo.threads * candidate.sim.processes);
    const double collect = simulate + stages.inference_s * learner_cpus(measured) / acting_cpus + stages.wire_s;
    if (candidate.runtime.max_staleness == 0) return collect + update;
    return std::max({collect, update, (collect * simulators + update * learner) / cpus});
  }
  const double wire = IsDataParallel(candidate) ? 0 : stages.wire_s;  // both ends are in one process
  const double infer = stages.inference_s * learner_gain + wire;
  if (candidate.Groups() == 1) return simulate + infer + update;
  // Side by side each has its CPUs, but together no more than there are.
  const auto overlapped = [&](double learning) {
    return std::max({simulate, learning, (simulate * simulators + learning * learner) / cpus});
  };
  if (candidate.runtime.mode == "double_buffered" || candidate.runtime.max_staleness == 0) {
    return overlapped(infer) + update;
  }
  return std::max(overlapped(infer), overlapped(infer + update));
}

std::string BoundBy(const StageTimes& stages, const std::string& mode, bool simulators_act) {
  const double simulate = stages.simulation_s + stages.rendering_s, infer = stages.inference_s + stages.wire_s;
  const bool overlapped = !simulators_act && (mode == "double_buffered" || mode == "async");
  const double collect = overlapped ? std::max(simulate, infer) : simulate + infer;
  const bool update_counts = mode != "async" || stages.update_s >= collect;
  const bool collection_counts = mode != "async" || !update_counts;
  const bool simulation_counts = collection_counts && (!overlapped || simulate >= infer);
  const bool inference_counts = collection_counts && (!overlapped || infer > simulate);
  const std::vector<std::tuple<double, bool, const char*>> all = {
      {stages.simulation_s, simulation_counts, "simulation"},
      {stages.rendering_s, simulation_counts, "rendering"},
      {stages.wire_s, inference_counts, "wire"},
      {stages.inference_s, inference_counts, "inference"},
      {stages.update_s, update_counts, "update"},
  };
  const auto* bound = &all.front();
  for (const auto& stage : all) {
    const auto rank = [](const auto& s) { return std::get<1>(s) ? std::get<0>(s) : -1.0; };
    if (rank(stage) > rank(*bound)) bound = &stage;
  }
  return std::get<2>(*bound);
}

double Trial::StepsPerSecond() const {
  std::vector<double> rates;
  for (const TrialResult& result : results) rates.push_back(result.steps_per_s);
  return Median(rates);
}

namespace {

class Searcher {
 public:
  Searcher(const RunConfig& config, const SearchOptions& options,
           const std::function<TrialResult(const RunConfig&, double)>& trial)
      : config_(config), options_(options), trial_(trial) {}

  SearchResult Run() {
    MeasureAlone();
    std::vector<RunConfig> candidates = Candidates(config_, options_.cpus, options_.max_staleness);
    std::stable_sort(candidates.begin() + 1, candidates.end(),
                     [&](const RunConfig& a, const RunConfig& b) { return Predicted(a) < Predicted(b); });
    const double finals_s = kShareOfFinals * options_.seconds;
    for (const RunConfig& candidate : candidates) {
      if (!result_.tried.empty() && spent_s_ + longest_s_ > options_.seconds - finals_s) break;
      result_.tried.push_back({candidate, {}});
      Try(result_.tried.size() - 1);
    }
    result_.untried = static_cast<int>(candidates.size() - result_.tried.size());
    RepeatBest();
    Choose();
    return result_;
  }

 private:
  // The stages in turn, so that none slows another, as the given split has them.
  void MeasureAlone() {
    measured_ = config_;
    if (!IsDataParallel(config_)) measured_.runtime.mode = "lockstep";
    measured_.runtime.max_staleness = 0;
    const double start = options_.clock();
    result_.alone = trial_(measured_, kLeastTrial_s).stages;
    spent_s_ += options_.clock() - start;
  }

  double Predicted(const RunConfig& config) const { return Predict(result_.alone, measured_, config, options_.cpus); }

  void Try(size_t index) {
    const double start = options_.clock();
    const double wanted_s =
        std::max(kLeastTrial_s, std::min(kIterationsOfTrial * result_.alone.Total(), options_.seconds / 6));
    Trial& trial = result_.tried[index];
    trial.results.push_back(trial_(trial.config, wanted_s));
    const double taken_s = options_.clock() - start;
    spent_s_ += taken_s;
    longest_s_ = std::max(longest_s_, taken_s);
  }

  // In turn, so that what else the machine does meets all alike.
  void RepeatBest() {
    const std::vector<size_t> finalists = Ranked(kFinalists);
    for (size_t i = 0; spent_s_ + longest_s_ <= options_.seconds; ++i) Try(finalists[i % finalists.size()]);
  }

  std::vector<size_t> Ranked(size_t most) const {
    std::vector<size_t> order(result_.tried.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return result_.tried[a].StepsPerSecond() > result_.tried[b].StepsPerSecond();
    });
    order.resize(std::min(order.size(), most));
    return order;
  }

  void Choose() {
    const std::vector<size_t> order = Ranked(result_.tried.size());
    const auto on_policy = [&](size_t i) { return result_.tried[i].config.runtime.max_staleness == 0; };
    result_.fastest = result_.best = order.front();
    const auto found = std::find_if(order.begin(), order.end(), on_policy);
    if (found == order.end()) return;
    result_.fastest_on_policy = *found;
    const double fastest = result_.tried[result_.fastest].StepsPerSecond();
    if (fastest <= kGainForStaleness * result_.tried[*found].StepsPerSecond()) result_.best = *found;
  }

  const RunConfig& config_;
  const SearchOptions& options_;
  const std::function<TrialResult(const RunConfig&, double)>& trial_;
  RunConfig measured_;
  SearchResult result_;
  double spent_s_ = 0, longest_s_ = 0;
};

}  // namespace

SearchResult Search(const RunConfig& config, const SearchOptions& options,
                    const std::function<TrialResult(const RunConfig&, double)>& trial) {
  if (config.learner.processes > 1 && !IsDataParallel(config)) {
    throw InputError("tune", "learner.processes", std::to_string(config.learner.processes),
                     "1: how learners share one machine is not searched");
  }
  return Searcher(config, options, trial).Run();
}

}  // namespace gripstream
