// gripstream tune: what bounds a run on this machine, each stage beside what the machine can do, and how to run
// fastest.
#include <algorithm>
#include <cstdio>

#include "core/cpus.h"
#include "core/error.h"
#include "core/files.h"
#include "launch/commands.h"
#include "launch/limits.h"
#include "launch/roles.h"
#include "launch/tune.h"

namespace gripstream {
namespace {

constexpr double kShareOfLimits = 0.1;  // of the time

// A stage of one iteration beside the machine.
struct Roof {
  const char* stage;
  double alone_s, together_s;
  double achieved, limit;  // alone; in `unit`
  const char* unit;
};

std::vector<Roof> RoofsOf(const RunConfig& config, const StageTimes& alone, const StageTimes& together,
                          const MachineLimits& limits) {
  const double samples = 1.0 * config.ppo.horizon * config.TotalEnvs();
  const double giga = 1e9, steps = samples * config.task.decimation;
  const auto rate = [](double work, double seconds) { return seconds > 0 ? work / seconds : 0; };
  return {
      {"simulation", alone.simulation_s, together.simulation_s, rate(steps, alone.simulation_s),
       limits.physics_steps_per_s, "physics steps/s"},
      {"rendering", alone.rendering_s, together.rendering_s, rate(samples, alone.rendering_s), limits.images_per_s,
       "images/s"},
      {"wire", alone.wire_s, together.wire_s, rate(samples * limits.record_bytes / giga, alone.wire_s),
       limits.copied_bytes_per_s / giga, "GB/s"},
      {"inference", alone.inference_s, together.inference_s,
       rate(samples * limits.acting_operations / giga, alone.inference_s), limits.operations_per_s / giga, "GFLOP/s"},
      {"update", alone.update_s, together.update_s,
       rate(samples * config.ppo.epochs * limits.training_operations / giga, alone.update_s),
       limits.operations_per_s / giga, "GFLOP/s"},
  };
}

void PrintRoofs(const std::vector<Roof>& roofs, double total_s) {
  std::printf("\n%-12s %9s %6s %9s %12s %12s  %-16s %s\n", "stage", "alone", "share", "together", "achieved", "machine",
              "", "roofline");
  for (const Roof& roof : roofs) {
    std::printf("%-12s %7.3f s %4.0f %% %7.3f s ", roof.stage, roof.alone_s, 100 * roof.alone_s / total_s,
                roof.together_s);
    if (roof.achieved > 0 && roof.limit > 0) {
      std::printf("%12.4g %12.4g  %-16s %.0f %%\n", roof.achieved, roof.limit, roof.unit,
                  100 * roof.achieved / roof.limit);
    } else {
      std::printf("%12s %12.4g  %-16s\n", "-", roof.limit, roof.unit);
    }
  }
  std::printf(
      "alone: seconds of an iteration while nothing else runs, as the configuration splits it; together: as "
      "recommended\n"
      "machine: mjb_step, the renderer, memcpy on one CPU, and matrix products, each alone on all %d CPUs\n",
      AvailableCpus());
}

void PrintTried(const SearchResult& result) {
  std::vector<const Trial*> order;
  for (const Trial& trial : result.tried) order.push_back(&trial);
  std::stable_sort(order.begin(), order.end(),
                   [](const Trial* a, const Trial* b) { return a->StepsPerSecond() > b->StepsPerSecond(); });
  std::printf("\n%10s %6s  ways of running it\n", "steps/s", "tries");
  for (const Trial* trial : order) {
    std::printf("%10.0f %6zu  %s%s\n", trial->StepsPerSecond(), trial->results.size(),
                DescribeSplit(trial->config).c_str(), trial == &result.tried.front() ? "  (as configured)" : "");
  }
  if (result.untried > 0)
    std::printf("%d more were not tried: expected to be slower, and the time was up\n", result.untried);
}

std::string Change(const char* key, const std::string& value) {
  return std::string("  --set ") + key + "=" + value;
}

// The recommendation as overrides of the given configuration.
std::string Overrides(const RunConfig& from, const RunConfig& to) {
  std::string text;
  const auto add = [&](const char* key, const auto& a, const auto& b) {
    if constexpr (std::is_same_v<std::decay_t<decltype(a)>, int>) {
      if (a != b) text += Change(key, std::to_string(b));
    } else {
      if (a != b) text += Change(key, b);
    }
  };
  add("runtime.mode", from.runtime.mode, to.runtime.mode);
  add("runtime.max_staleness", from.runtime.max_staleness, to.runtime.max_staleness);
  add("runtime.inference", from.runtime.inference, to.runtime.inference);
  add("sim.processes", from.sim.processes, to.sim.processes);
  add("sim.envs", from.sim.envs, to.sim.envs);
  add("sim.render_threads", from.sim.render_threads, to.sim.render_threads);
  add("physics.threads", from.physics.threads, to.physics.threads);
  add("wire.transport", from.wire.transport, to.wire.transport);
  add("learner.processes", from.learner.processes, to.learner.processes);
  add("policy.inference_chunk", from.policy.inference_chunk, to.policy.inference_chunk);
  add("ppo.threads", from.ppo.threads, to.ppo.threads);
  return text.empty() ? "  nothing: as it is" : text;
}

std::string Verdict(const RunConfig& config, const SearchResult& result) {
  const Trial& best = result.tried[result.best];
  const double given = result.tried.front().StepsPerSecond(), rate = best.StepsPerSecond();
  char text[512];
  std::snprintf(text, sizeof(text),
                "bound by: %s\nrecommended: %s\n  %.0f steps/s, %.2f of the configuration as it is\n",
                BoundBy(best.Last().stages, best.config.runtime.mode, best.config.SimulatorsAct()).c_str(),
                DescribeSplit(best.config).c_str(), rate, rate / given);
  return text + std::string("changes:") + Overrides(config, best.config) + "\n";
}

// Each line of `text` as a YAML comment.
std::string Commented(const std::string& text) {
  std::string commented = "# ";
  for (size_t i = 0; i + 1 < text.size(); ++i)
    commented += text[i] == '\n' ? std::string("\n# ") : std::string(1, text[i]);
  return commented + "\n";
}

}  // namespace

int TuneCommand(const TuneArguments& arguments) {
  const RunConfig config = ReadRunConfig(arguments.config, arguments.overrides);
  DescribeTask(config);  // what is named wrongly is refused before anything is measured
  std::printf("measuring %s for about %.0f s on %d CPUs\n", arguments.config.c_str(), arguments.seconds,
              AvailableCpus());
  std::fflush(stdout);
  const MachineLimits limits = MeasureLimits(config, kShareOfLimits * arguments.seconds);
  const SearchOptions options{.cpus = AvailableCpus(),
                              .max_staleness = arguments.max_staleness,
                              .seconds = (1 - kShareOfLimits) * arguments.seconds};
  const SearchResult result = Search(config, options, RunTrial);
  const Trial& best = result.tried[result.best];
  PrintRoofs(RoofsOf(config, result.alone, best.Last().stages, limits), result.alone.Total());
  PrintTried(result);
  const std::string verdict = Verdict(config, result);
  std::printf("\n%s", verdict.c_str());
  if (result.fastest != result.best) {
    std::printf("faster by less than 3 %%, but stale: %s\n",
                DescribeSplit(result.tried[result.fastest].config).c_str());
  }
  if (arguments.output.empty()) return kExitOk;
  WriteFileAtomically(arguments.output, "# From " + arguments.config + " by gripstream tune.\n" + Commented(verdict) +
                                            ToYaml(best.config));
  std::printf("written to %s\n", arguments.output.c_str());
  return kExitOk;
}

}  // namespace gripstream
