// The simulator role's program: gripstream-sim CONFIG|RUN --index K, or --spare. Links no LibTorch (a test reads its
// dependencies).
#include <CLI/CLI.hpp>
#include <filesystem>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/trace.h"
#include "launch/acting.h"
#include "launch/memory_check.h"
#include "launch/parse_command_line.h"
#include "launch/roles.h"
#include "launch/version.h"

namespace gripstream {
namespace {

void CheckPlace(const RunConfig& config, const SimulatorPlace& place) {
  if (place.index >= config.sim.processes || (place.index < 0 && !place.spare)) {
    throw InputError("command line", "--index", std::to_string(place.index),
                     "0 to sim.processes - 1 = " + std::to_string(config.sim.processes - 1));
  }
  if (place.learner < 0 || place.learner >= config.learner.processes) {
    throw InputError("command line", "--learner", std::to_string(place.learner),
                     "0 to learner.processes - 1 = " + std::to_string(config.learner.processes - 1));
  }
  if (place.spare && config.runtime.on_loss != "replace") {
    throw InputError("command line", "--spare", "true", "nothing with runtime.on_loss stop");
  }
}

int Main(int argc, char** argv) {
  CLI::App app("One simulator role: steps and renders its environments for the learner");
  std::string path, trace, planned;
  std::vector<std::string> overrides;
  SimulatorPlace place{.index = 0};
  bool launched = false;
  app.set_version_flag("--version", std::string("gripstream ") + kVersion + " (" + kGitRevision + ")");
  app.add_option("config", path, "run folder, or configuration with run.dir set")->required();
  CLI::Option* index = app.add_option("--index", place.index, "which of sim.processes this is, from 0");
  app.add_flag("--spare", place.spare,
               "waits to take the place of a lost simulator (runtime.on_loss replace); with --index: if that is taken");
  app.add_option("--learner", place.learner, "whose spare, from 0")->excludes(index);
  app.add_flag("--launched", launched, "started by gripstream: the learner reports what ends the run");
  app.add_option("--planned", planned, "footprints that who starts the run has measured; small: it need not");
  app.add_option("--trace", trace, "file for this process's part of a trace");
  app.add_option("--set", overrides, "KEY=VALUE laid over the configuration")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  if (!ParseCommandLine(app, argc, argv)) return kExitOk;
  if (place.spare && index->empty()) place.index = -1;
  const std::string name = place.index < 0 ? "spare" : "simulator " + std::to_string(place.index);
  StartLog(name);
  if (launched) IgnoreCtrlC();
  const RunConfig config = RoleConfig(path, overrides);
  CheckPlace(config, place);
  if (std::filesystem::is_directory(config.run.dir + "/logs")) {
    LogToFile(config.run.dir + "/logs/" + (place.index < 0 ? name : "simulator_" + std::to_string(place.index)) +
              ".log");
  }
  const TraceSession session(trace, name);
  try {
    ServeSimulator(config, place, MakeActor, PlanSimulator(config, planned));
  } catch (const RunError& error) {
    // The learner has been told, or is itself what failed, and says so: one failure, one line.
    if (!launched) throw;
    LogInfo("ended: ", error.what());
    return kExitFailed;
  }
  return kExitOk;
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(gripstream::Main, argc, argv);
}
