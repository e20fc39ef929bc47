// The simulator role's program: gripstream-sim CONFIG|RUN --index K. Links no LibTorch (a test reads its dependencies).
#include <CLI/CLI.hpp>
#include <filesystem>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/trace.h"
#include "launch/acting.h"
#include "launch/roles.h"
#include "launch/version.h"

namespace gripstream {
namespace {

int Main(int argc, char** argv) {
  CLI::App app("One simulator role: steps and renders its environments for the learner");
  std::string path, trace;
  std::vector<std::string> overrides;
  int index = 0;
  bool launched = false;
  app.set_version_flag("--version", std::string("gripstream ") + kVersion + " (" + kGitRevision + ")");
  app.add_option("config", path, "run folder, or configuration with run.dir set")->required();
  app.add_option("--index", index, "which of sim.processes this is, from 0");
  app.add_flag("--launched", launched, "started by gripstream: the learner reports what ends the run");
  app.add_option("--trace", trace, "file for this process's part of a trace");
  app.add_option("--set", overrides, "KEY=VALUE laid over the configuration")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // help or version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    throw InputError("command line", std::string(error.what()) + " (see --help)");
  }
  StartLog("simulator " + std::to_string(index));
  IgnoreCtrlC();
  const RunConfig config = RoleConfig(path, overrides);
  if (index < 0 || index >= config.sim.processes) {
    throw InputError("command line", "--index", std::to_string(index),
                     "0 to sim.processes - 1 = " + std::to_string(config.sim.processes - 1));
  }
  if (std::filesystem::is_directory(config.run.dir + "/logs")) {
    LogToFile(config.run.dir + "/logs/simulator_" + std::to_string(index) + ".log");
  }
  const TraceSession session(trace, "simulator " + std::to_string(index));
  try {
    ServeSimulator(config, index, MakeActor);
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
