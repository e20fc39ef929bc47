// gripstream run, as a program of its own: what a robot's computer starts. Needs no GPU, no simulator and no driver of
// either.
#include <sched.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "deploy/manifest_robot.h"
#include "deploy/runner_loop.h"
#include "deploy/script_engine.h"
#include "launch/parse_command_line.h"
#include "launch/version.h"

namespace gripstream {
namespace {

struct Arguments {
  std::string folder, config;
  std::vector<std::string> overrides;
  bool reference = false;
};

bool Parse(int argc, char** argv, Arguments& arguments) {
  CLI::App app("Run an exported policy on a robot, through ZeroMQ (docs/robot.md)", "gripstream run");
  app.set_version_flag("--version", std::string("gripstream ") + kVersion + " (" + kGitRevision + ")");
  app.add_option("folder", arguments.folder, "what `gripstream export` has written");
  app.add_option("--config", arguments.config, "YAML file with the runner's configuration");
  app.add_option("--set", arguments.overrides, "KEY=VALUE laid over the runner's configuration")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--reference", arguments.reference, "print what can be configured");
  if (!ParseCommandLine(app, argc, argv)) return false;
  if (arguments.folder.empty() && !arguments.reference) throw InputError("command line", "a folder is required");
  return true;
}

RunnerConfig ReadRunnerConfig(const Arguments& arguments) {
  RunnerConfig config;
  if (arguments.config.empty())
    ConfigFile::FromText("", "--set", arguments.overrides).Read(config);
  else
    ConfigFile(arguments.config, arguments.overrides).Read(config);
  return config;
}

void BecomeRealTime(int priority) {
  if (priority == 0) return;
  const sched_param param{.sched_priority = priority};
  if (sched_setscheduler(0, SCHED_FIFO, &param) != 0)
    throw InputError("runner", "realtime_priority", std::to_string(priority),
                     std::string("a priority that this user may have (") + std::strerror(errno) + ")");
}

// By the slowest of a hundred ticks with the policy.
std::string HeldRate(const TickLog& log, double policy_hz) {
  const double clock_s = log.Decisions().Percentile(0.99), cpu_s = log.DecisionsCpu().Percentile(0.99);
  if (clock_s <= 0 || cpu_s <= 0) return "";
  char line[160];
  std::snprintf(
      line, sizeof line,
      "the highest rate it holds: %.1f Hz by the clock, %.1f Hz by processor time; the manifest asks for %g Hz\n",
      1 / clock_s, 1 / cpu_s, policy_hz);
  return line;
}

int Main(int argc, char** argv) {
  StartLog("runner");
  Arguments arguments;
  if (!Parse(argc, argv, arguments)) return kExitOk;
  if (arguments.reference) {
    std::printf("%s", ToReference(RunnerConfig()).c_str());
    return kExitOk;
  }
  const RunnerConfig config = ReadRunnerConfig(arguments);
  const std::string file = arguments.folder + "/manifest.yaml";
  const Manifest manifest = ReadManifest(arguments.folder);
  const auto engine = LoadScript(arguments.folder, manifest, config.threads);
  Runner runner(manifest, file, config, *engine);
  TickLog log(config.log, manifest.joints.names, manifest.policy.actions);
  const auto link = RunnerLink({config.states, config.targets, config.trusted_network});
  CatchInterrupts();
  BecomeRealTime(config.realtime_priority);
  ServeRobot(runner, *link, config, log);
  std::printf("%s%s%s%s", log.Ticks().ToText("ticks").c_str(), log.Decisions().ToText("ticks with the policy").c_str(),
              log.DecisionsCpu().ToText("the same by processor time").c_str(),
              HeldRate(log, manifest.control.policy_hz).c_str());
  if (runner.Phase() == RunnerPhase::kStopped)
    throw RunError(std::string("ended in a safe stop, ") + NameOf(runner.Stopped()) + ": " + runner.Why());
  return kExitOk;
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(gripstream::Main, argc, argv);
}
