// gripstream sim_robot, as a program of its own: plays the robot for `gripstream run`.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/statistics.h"
#include "deploy/sim_robot/sim_robot.h"
#include "deploy/stop_reason.h"
#include "launch/child.h"
#include "launch/parse_command_line.h"
#include "launch/role_plan.h"
#include "launch/run_folder.h"
#include "launch/temporary_folder.h"
#include "launch/version.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

constexpr double kRunnerEnds_s = 10;

struct Arguments {
  std::string config, runner, json_path;
  std::vector<std::string> overrides, runner_overrides;
  RobotAddresses addresses{"tcp://127.0.0.1:7411", "tcp://127.0.0.1:7412", ""};
  SimRobotOptions options;
  double frame_loss_percent = 0, frame_delay_ms = 0, frame_jitter_ms = 0, target_delay_ms = 0;
  bool shared_memory = false;
};

void AddOptions(CLI::App& app, Arguments& a) {
  app.add_option("config", a.config, "exported folder, run folder, or run configuration (YAML)")->required();
  app.add_option("--run", a.runner, "exported folder: also start `gripstream run` on it, on this machine");
  app.add_option("--run-set", a.runner_overrides, "KEY=VALUE for that runner")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--episodes", a.options.episodes, "how many")->check(CLI::Range(1, 1 << 24))->capture_default_str();
  app.add_flag("--real-time", a.options.real_time,
               "by this machine's clock; otherwise in lock-step with the runner, as fast as both go");
  app.add_option("--camera-hz", a.options.camera_hz, "frames per second; 0: one per control tick")
      ->check(CLI::Range(0.0, 1e4));
  app.add_option("--frame-loss", a.frame_loss_percent, "camera frames that are lost, in percent")
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--frame-delay", a.frame_delay_ms, "how late frames are, in ms")->check(CLI::Range(0.0, 1e4));
  app.add_option("--frame-jitter", a.frame_jitter_ms, "how unevenly: +- this, in ms")->check(CLI::Range(0.0, 1e4));
  app.add_option("--target-delay", a.target_delay_ms, "how late joint targets act, in ms")->check(CLI::Range(0.0, 1e4));
  app.add_option("--patience", a.options.patience_s, "longest silence of the runner, in s")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  CLI::Option* states = app.add_option("--states", a.addresses.states, "address of joint states and frames");
  CLI::Option* targets = app.add_option("--targets", a.addresses.targets, "address of joint targets");
  states->capture_default_str();
  targets->capture_default_str();
  app.add_flag("--shared-memory", a.shared_memory, "with --run: a file that both map, instead of ZeroMQ");
  app.add_option("--trusted-network", a.addresses.trusted_network, "for addresses beyond this machine");
  app.add_option("--sheet", a.options.sheet, "PNG file for a contact sheet of the first episodes");
  app.add_option("--json", a.json_path, "also write the figures to this file");
  app.add_option("--set", a.overrides, "KEY=VALUE laid over the configuration")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

bool Parse(int argc, char** argv, Arguments& arguments) {
  CLI::App app("Play the robot that `gripstream run` moves: physics, cameras, clock, delays", "gripstream sim_robot");
  app.set_version_flag("--version", std::string("gripstream ") + kVersion + " (" + kGitRevision + ")");
  AddOptions(app, arguments);
  return ParseCommandLine(app, argc, argv);
}

RunConfig ConfigOf(const Arguments& arguments) {
  const std::string exported = arguments.config + "/training.yaml";
  if (fs::exists(exported)) return ReadRunConfig(exported, arguments.overrides);
  if (fs::is_directory(arguments.config)) return OpenRunFolder(arguments.config, arguments.overrides);
  return ReadRunConfig(arguments.config, arguments.overrides);
}

std::unique_ptr<Child> StartRunner(const Arguments& a) {
  std::vector<std::string> command = {RoleProgram("gripstream-run"),
                                      a.runner,
                                      "--set",
                                      "states=" + a.addresses.states,
                                      "--set",
                                      "targets=" + a.addresses.targets,
                                      "--set",
                                      std::string("clock=") + (a.options.real_time ? "real_time" : "lockstep")};
  for (const std::string& assignment : a.runner_overrides) {
    command.push_back("--set");
    command.push_back(assignment);
  }
  return std::make_unique<Child>("runner", command);
}

void Print(const Arguments& a, const SimRobotResult& r) {
  const auto [low, high] = WilsonInterval(r.successes, r.episodes);
  const double share = r.episodes > 0 ? static_cast<double>(r.successes) / r.episodes : 0;
  std::printf("success %.1f %% (95 %% interval %.1f to %.1f, %d episodes)\n", 100 * share, 100 * low, 100 * high,
              r.episodes);
  std::printf("%lld ticks, %lld frames of which %lld were lost, safe stops in %d episodes\n",
              static_cast<long long>(r.ticks), static_cast<long long>(r.frames), static_cast<long long>(r.frames_lost),
              r.stopped);
  for (size_t i = 1; i < r.stops.size(); ++i) {
    if (r.stops[i] > 0) std::printf("  %s: %d\n", NameOf(static_cast<StopReason>(i)), r.stops[i]);
  }
  if (a.json_path.empty()) return;
  const nlohmann::json json = {{"success", share},     {"success_ci95", {low, high}}, {"episodes", r.episodes},
                               {"stopped", r.stopped}, {"frames", r.frames},          {"frames_lost", r.frames_lost},
                               {"ticks", r.ticks}};
  WriteFileAtomically(a.json_path, std::string_view(json.dump(2) + "\n"));
}

int Main(int argc, char** argv) {
  StartLog("sim_robot");
  Arguments a;
  if (!Parse(argc, argv, a)) return kExitOk;
  const RunConfig config = ConfigOf(a);
  a.options.task = config.task;
  a.options.render = config.render;
  // A student's configuration also has what its teacher sees.
  if (config.policy.name == "rgb") a.options.render.depth.cameras.clear();
  if (config.policy.name == "depth_cnn") a.options.render.rgb.cameras.clear();
  a.options.seed = config.run.seed;
  a.options.episode_seed = config.eval.seed;
  a.options.frame_loss = a.frame_loss_percent / 100;
  a.options.frame_delay_s = a.frame_delay_ms / 1000;
  a.options.frame_jitter_s = a.frame_jitter_ms / 1000;
  a.options.target_delay_s = a.target_delay_ms / 1000;
  const TemporaryFolder folder;
  if (!a.runner.empty()) {
    const std::string base = (a.shared_memory ? "shm:" : "ipc://") + folder.Path();
    a.addresses.states = base + "/states";
    a.addresses.targets = base + (a.shared_memory ? "/states" : "/targets");
  }
  const auto link = RobotsOwnLink(a.addresses);
  CatchInterrupts();
  const std::unique_ptr<Child> runner = a.runner.empty() ? nullptr : StartRunner(a);
  const SimRobotResult result = PlayRobot(a.options, *link);
  const int code = runner ? runner->EndBy(Deadline::After(kRunnerEnds_s)) : 0;
  Print(a, result);
  if (std::fflush(stdout) != 0) throw RunError("standard output could not be written");
  if (code != 0) throw RunError("the runner ended with " + runner->HowItEnded());
  return Interrupted() ? kExitFailed : kExitOk;
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(gripstream::Main, argc, argv);
}
