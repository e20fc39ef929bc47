// The benchmarks that need LibTorch: gripstream-bench pipeline|gradients|learner|classic|limits --json FILE. `gripstream bench`
// and `gripstream tune` run it and read the rows.
#include <CLI/CLI.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "launch/bench_classic.h"
#include "launch/bench_gradients.h"
#include "launch/bench_learner.h"
#include "launch/bench_limits.h"
#include "launch/bench_pipeline.h"
#include "launch/bench_rows.h"
#include "launch/parse_command_line.h"
#include "launch/role_plan.h"

namespace gripstream {
namespace {

int Main(int argc, char** argv) {
  StartLog("bench");
  CatchInterrupts();
  PrepareRoleEnvironment();
  std::string what, config, json_path;
  double seconds = 1;
  int rank = -1;
  CLI::App app("Benchmarks that need LibTorch; gripstream bench shows their rows");
  app.add_option("what", what, "pipeline, gradients, learner, classic or limits")
      ->required()
      ->check(CLI::IsMember({"pipeline", "gradients", "learner", "classic", "limits"}));
  app.add_option("--config", config, "run configuration (YAML) for limits");
  app.add_option("--seconds", seconds, "time per measurement");
  app.add_option("--json", json_path, "file for the rows")->required();
  app.add_option("--rank", rank, "gradients: be this learner; --json is then the benchmark's folder");
  if (!ParseCommandLine(app, argc, argv)) return kExitOk;
  if (what == "gradients" && rank >= 0) {
    BenchGradientsLearner(rank, json_path, seconds);
    return kExitOk;
  }
  const std::vector<BenchRow> rows = what == "limits"      ? BenchLimits(ReadRunConfig(config, {}), seconds)
                                     : what == "gradients" ? BenchGradients(seconds)
                                     : what == "learner"   ? BenchLearner(seconds)
                                     : what == "classic"   ? BenchClassic(seconds)
                                                           : BenchPipeline(seconds);
  WriteFileAtomically(json_path, ToJson(rows));
  return kExitOk;
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(gripstream::Main, argc, argv);
}
