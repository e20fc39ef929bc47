// The `gripstream` command: reads the command line and hands over to one subcommand. Links no LibTorch: what needs it
// runs in the role programs beside this one.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>

#include "core/error.h"
#include "core/log.h"
#include "launch/commands.h"
#include "launch/parse_command_line.h"
#include "launch/role_plan.h"
#include "launch/version.h"
#include "sim_server/render_model.h"

namespace gripstream {
namespace {

constexpr char kExamples[] =
    "\nExamples:\n"
    "  gripstream train configs/quickstart.yaml --set sim.processes=2\n"
    "  gripstream train --resume runs/quickstart-20260101-120000\n"
    "  gripstream eval runs/quickstart-20260101-120000\n"
    "  gripstream bench render\n";

namespace fs = std::filesystem;

using Action = std::function<int()>;

struct DistillArguments {
  TrainArguments train;
  std::string teacher;
};

void AddOverrides(CLI::App& command, std::vector<std::string>& overrides) {
  command.add_option("--set", overrides, "KEY=VALUE laid over the configuration; may be repeated")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

void AddTrain(CLI::App& app, TrainArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("train", "Train on this machine: starts all roles, evaluates at the end");
  CLI::Option* config = command->add_option("config", arguments.config, "run configuration (YAML)");
  command->add_option("--resume", arguments.resume, "go on with this run folder, up to train.iterations")
      ->excludes(config);
  command->add_option("--trace", arguments.trace,
                      "write where time goes, role by role, to this file (JSON, for Perfetto or chrome://tracing)");
  AddOverrides(*command, arguments.overrides);
  command->callback([&] { action = [&] { return TrainCommand(arguments); }; });
}

void AddLaunch(CLI::App& app, LaunchArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("launch", "Start the roles of a run: here, as a Slurm job, or under mpirun");
  CLI::Option* config = command->add_option("config", arguments.train.config, "run configuration (YAML)");
  command->add_option("--resume", arguments.train.resume, "go on with this run folder")->excludes(config);
  command
      ->add_option("--engine", arguments.engine,
                   "local: as train does. slurm: one job, a step per role. mpi: this process is one role, by the rank "
                   "that mpirun, srun or torchrun gave it")
      ->check(CLI::IsMember({"local", "slurm", "mpi"}))
      ->capture_default_str();
  command->add_flag("--dry-run", arguments.dry_run, "print what would be started and check what can be; start nothing");
  command->add_flag("--wait", arguments.wait, "slurm: return when the job has ended, with its exit code");
  AddOverrides(*command, arguments.train.overrides);
  command->callback([&] { action = [&] { return LaunchCommand(arguments); }; });
}

void AddDistill(CLI::App& app, DistillArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("distill", "Train a student to do what a trained policy does");
  command->add_option("config", arguments.train.config, "the student's run configuration (YAML)")->required();
  command->add_option("--teacher", arguments.teacher, "run folder or checkpoint; distill.teacher by default");
  AddOverrides(*command, arguments.train.overrides);
  command->callback([&] {
    action = [&] {
      if (!arguments.teacher.empty()) {
        arguments.train.overrides.push_back("distill.teacher=" + fs::absolute(arguments.teacher).string());
      }
      return TrainCommand(arguments.train);
    };
  });
}

void AddEval(CLI::App& app, EvalArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("eval", "Play the fixed evaluation episodes with a trained policy");
  command->add_option("checkpoint", arguments.checkpoint, "checkpoint file or run folder")->required();
  command->add_option("--json", arguments.json_path, "also write the figures to this file");
  AddOverrides(*command, arguments.overrides);
  command->callback([&] { action = [&] { return EvalCommand(arguments); }; });
}

void AddPlay(CLI::App& app, PlayArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("play", "Film a trained policy on the first evaluation episodes");
  command->add_option("checkpoint", arguments.checkpoint, "checkpoint file or run folder")->required();
  command->add_option("--video", arguments.video, "MP4 file; RUN/evaluations/CHECKPOINT.mp4 by default");
  command->add_option("--episodes", arguments.episodes, "how many")->check(CLI::Range(1, 1000))->capture_default_str();
  command->add_option("--camera", arguments.camera, "camera; the model's overview by default");
  command->add_option("--width", arguments.width_px, "pixels")->check(CLI::Range(32, 4096))->capture_default_str();
  command->add_option("--height", arguments.height_px, "pixels")->check(CLI::Range(32, 4096))->capture_default_str();
  AddOverrides(*command, arguments.overrides);
  command->callback([&] { action = [&] { return PlayCommand(arguments); }; });
}

void AddPlot(CLI::App& app, PlotArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("plot", "Draw learning curves of runs");
  command->add_option("runs", arguments.runs, "run folders, or their metrics.csv")->required();
  command->add_option("--metric", arguments.metrics, "columns of metrics.csv, a panel for each")->capture_default_str();
  command->add_option("--x", arguments.axis, "what curves are drawn over")
      ->check(CLI::IsMember({"steps", "iterations", "wall"}))
      ->capture_default_str();
  command->add_option("--smooth", arguments.smooth, "iterations to average over")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("-o,--output", arguments.output, "file to write, .png or .svg")->capture_default_str();
  command->callback([&] { action = [&] { return PlotCommand(arguments); }; });
}

void AddCompare(CLI::App& app, PlotArguments& arguments, Action& action) {
  arguments.output.clear();
  CLI::App* command = app.add_subcommand("compare", "Runs side by side: figures, and keys in which they differ");
  command->add_option("runs", arguments.runs, "run folders")->required();
  command->add_option("-o,--output", arguments.output, "also draw their learning curves on this file, .png or .svg");
  command->callback([&] { action = [&] { return CompareCommand(arguments); }; });
}

void AddTop(CLI::App& app, TopArguments& arguments, Action& action) {
  CLI::App* command =
      app.add_subcommand("top", "Watch a run: rates, waits, staleness, and its processes on this machine");
  command->add_option("run", arguments.run, "run folder")->required();
  command->add_flag("--once", arguments.once, "print one picture and end");
  command->add_option("--period", arguments.period_s, "seconds between two pictures")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  command->callback([&] { action = [&] { return TopCommand(arguments); }; });
}

void AddReference(CLI::App& app, Action& action) {
  app.add_subcommand("reference", "Print every key of a run file: docs/configuration.md")->callback([&] {
    action = ReferenceCommand;
  });
}

void AddDescribe(CLI::App& app, TrainArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("describe", "Print a configuration's observation, action and record layout");
  command->add_option("config", arguments.config, "run configuration (YAML); or a model (.xml): the names it offers")
      ->required();
  AddOverrides(*command, arguments.overrides);
  command->callback([&] { action = [&] { return DescribeCommand(arguments.config, arguments.overrides); }; });
}

void AddPlan(CLI::App& app, PlanArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("plan", "How many environments fit, on which division into roles, and why");
  command->add_option("config", arguments.config, "run configuration (YAML), or a run folder");
  command->add_option("--processes", arguments.processes, "processes to divide; as many as configured by default")
      ->check(CLI::Range(1, 4096));
  command->add_option("--memory", arguments.memory, "of each process, such as 4GB; a fair share by default");
  command->add_option("--gpus", arguments.gpus, "GPUs to divide")->check(CLI::Range(1, 4096));
  command->add_option("--gpu-memory", arguments.gpu_memory, "of each GPU, such as 80GB");
  command->add_option(
      "--measured", arguments.measured,
      "file of environment counts that fill a device (configs/measured/paper_160x120.yaml), instead of CONFIG");
  AddOverrides(*command, arguments.overrides);
  command->callback([&] { action = [&] { return PlanCommand(arguments); }; });
}

void AddBench(CLI::App& app, BenchArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("bench", "Measure against peers and limits, side by side in one run");
  command
      ->add_option("what", arguments.what,
                   "env, physics, render, wire, control, pipeline, gradients, learner, tune, capacity or all")
      ->required();
  command->add_option("--seconds", arguments.seconds, "time per measurement")->check(CLI::Range(0.01, 3600.0));
  command->add_option("--json", arguments.json_path, "also write the rows to this file");
  command->add_option("--markdown", arguments.markdown_path, "also write the table to this file, with the machine");
  command->callback([&] { action = [&] { return BenchCommand(arguments); }; });
}

void AddTune(CLI::App& app, TuneArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("tune", "Find what bounds a run on this machine, and how to run it fastest");
  command->add_option("config", arguments.config, "run configuration (YAML)")->required();
  command->add_option("-o,--output", arguments.output, "write the recommended configuration to this file");
  command->add_option("--seconds", arguments.seconds, "time for all measurements")
      ->check(CLI::Range(5.0, 86400.0))
      ->capture_default_str();
  command
      ->add_option("--max-staleness", arguments.max_staleness,
                   "largest runtime.max_staleness that may be recommended; 0: only what learns as lock-step does")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  AddOverrides(*command, arguments.overrides);
  command->callback([&] { action = [&] { return TuneCommand(arguments); }; });
}

void AddSynergies(CLI::App& app, SynergiesArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("synergies", "Fit hand synergies to grasps of the training objects");
  command->add_option("config", arguments.config, "run configuration (YAML)")->required();
  command->add_option("-o,--output", arguments.output, "YAML file for task.action.synergies")->required();
  command->add_option("--seed", arguments.seed, "of the random closings")->capture_default_str();
  command->add_option("--components", arguments.components, "directions to keep")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  command->add_option("--trials", arguments.trials, "closings per object")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  AddOverrides(*command, arguments.overrides);
  command->callback([&] { action = [&] { return SynergiesCommand(arguments); }; });
}

void AddRender(CLI::App& app, RenderModelOptions& options, Action& action) {
  CLI::App* command = app.add_subcommand("render", "Render one picture of any MuJoCo model");
  command->add_option("model", options.model, "MJCF file")->required();
  command->add_option("--camera", options.camera, "camera; the model's first by default");
  command->add_option("--modalities", options.modalities, "depth, rgb, seg, normals, separated by commas")
      ->delimiter(',');
  command->add_option("-o,--output", options.output, "PNG file")->capture_default_str();
  command->add_option("--backend", options.backend, "cpu, or mujoco for MuJoCo's own renderer")
      ->check(CLI::IsMember({"cpu", "mujoco"}));
  command->add_option("--width", options.width_px, "pixels")->check(CLI::Range(1, 4096))->capture_default_str();
  command->add_option("--height", options.height_px, "pixels")->check(CLI::Range(1, 4096))->capture_default_str();
  command->add_option("--far", options.far_m, "depth range in metres")->check(CLI::Range(0.02, 6.5535));
  command->callback([&] {
    action = [&] {
      RenderModel(options);
      std::printf("%s\n", options.output.c_str());
      return kExitOk;
    };
  });
}

void AddDoctor(CLI::App& app, TrainArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("doctor", "Check this machine, and name what mends it");
  command->add_option("config", arguments.config, "run configuration (YAML): also check what it needs");
  AddOverrides(*command, arguments.overrides);
  command->callback([&] { action = [&] { return DoctorCommand(arguments.config, arguments.overrides); }; });
}

void AddKeygen(CLI::App& app, KeygenArguments& arguments, Action& action) {
  CLI::App* command =
      app.add_subcommand("keygen", "Make the keys that learner and simulators on several machines need");
  command->add_option("folder", arguments.folder, "where the keys go; never overwrites any")->required();
  command->add_option("--simulator", arguments.simulator,
                      "only the keys of one more machine's simulators, under this name");
  command->callback([&] { action = [&] { return KeygenCommand(arguments); }; });
}

// One role by itself is its own program; it takes the rest of the command line as it is.
[[noreturn]] void BecomeRole(const std::string& program, int argc, char** argv) {
  std::vector<char*> arguments(argv + 1, argv + argc);
  arguments.push_back(nullptr);
  const std::string path = RoleProgram(program);
  PrepareRoleEnvironment();
  execv(path.c_str(), arguments.data());
  throw RunError(path + ": " + std::strerror(errno));
}

// CLI11 would only say that a subcommand is required.
void RefuseUnknownCommand(const CLI::App& app, const std::string& word) {
  if (word.empty() || word[0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  std::string expected = "one of";
  for (const std::string& name : names) expected += " " + name;
  throw InputError("command line", "command", word, expected);
}

int Main(int argc, char** argv) {
  StartLog("gripstream");
  if (argc > 1 && std::string(argv[1]) == "sim_server") BecomeRole("gripstream-sim", argc, argv);
  if (argc > 1 && std::string(argv[1]) == "learner") BecomeRole("gripstream-learner", argc, argv);
  if (argc > 1 && std::string(argv[1]) == "export") BecomeRole("gripstream-export", argc, argv);
  if (argc > 1 && std::string(argv[1]) == "run") BecomeRole("gripstream-run", argc, argv);
  if (argc > 1 && std::string(argv[1]) == "sim_robot") BecomeRole("gripstream-sim-robot", argc, argv);
  CLI::App app("gripstream: vision-based dexterous grasping, simulators and learner as separate processes",
               "gripstream");
  app.set_version_flag("--version", std::string("gripstream ") + kVersion + " (" + kGitRevision + ")");
  app.require_subcommand(1);
  app.footer(kExamples);
  TrainArguments train, describe, doctor;
  LaunchArguments launch;
  DistillArguments distill;
  EvalArguments eval;
  PlayArguments play;
  PlotArguments plot, compare;
  TopArguments top;
  BenchArguments bench;
  TuneArguments tune;
  PlanArguments plan;
  SynergiesArguments synergies;
  RenderModelOptions render;
  KeygenArguments keygen;
  Action action;
  train.command_line.assign(argv, argv + argc);
  launch.train.command_line = distill.train.command_line = train.command_line;
  AddTrain(app, train, action);
  AddLaunch(app, launch, action);
  AddDistill(app, distill, action);
  AddEval(app, eval, action);
  AddPlay(app, play, action);
  AddPlot(app, plot, action);
  AddCompare(app, compare, action);
  AddTop(app, top, action);
  AddReference(app, action);
  AddDescribe(app, describe, action);
  AddRender(app, render, action);
  AddBench(app, bench, action);
  AddTune(app, tune, action);
  AddPlan(app, plan, action);
  AddDoctor(app, doctor, action);
  AddKeygen(app, keygen, action);
  AddSynergies(app, synergies, action);
  app.add_subcommand("export", "Write a trained policy as ONNX and TorchScript, with a manifest")->prefix_command();
  app.add_subcommand("run", "Run an exported policy on a robot: run DIR")->prefix_command();
  app.add_subcommand("sim_robot", "Play the robot for `gripstream run`: sim_robot CONFIG")->prefix_command();
  app.add_subcommand("sim_server", "Run one simulator role: sim_server CONFIG --index K")->prefix_command();
  app.add_subcommand("learner", "Run the learner role: learner CONFIG")->prefix_command();
  if (argc > 1) RefuseUnknownCommand(app, argv[1]);
  if (!ParseCommandLine(app, argc, argv)) return kExitOk;
  const int code = action();
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw RunError("standard output could not be written");
  return code;
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(gripstream::Main, argc, argv);
}
