#include "launch/learner_role.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "core/error.h"
#include "core/files.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "envs/randomise.h"
#include "launch/addresses.h"
#include "launch/memory_check.h"
#include "launch/parse_command_line.h"
#include "launch/roles.h"
#include "launch/run_folder.h"
#include "launch/teacher.h"
#include "launch/version.h"
#include "learner/footprint.h"
#include "sim_server/footprint.h"

namespace gripstream {
namespace {

constexpr double kStopDeadline_s = 3.0;

GradientDelay DelayOf(const RunConfig& config) {
  const std::string& delay = config.learner.gradient_delay;
  if (delay == "plain") return GradientDelay::kPlain;
  return delay == "predicted" ? GradientDelay::kPredicted : GradientDelay::kNone;
}

// The teacher is read at once, so that one that does not fit is refused before anything is started.
MakeAlgorithm Distillation(const RunConfig& config, const TaskDescription& task) {
  const auto teacher = std::make_shared<Teacher>(LoadTeacher(config, task));
  return [teacher, settings = config.distill, threads = config.ppo.threads](Policy& student, int envs,
                                                                            const LearnerGroup& group) {
    return std::make_unique<Distiller>(settings, std::move(*teacher), student, envs, threads, group);
  };
}

LearnerRoleOptions OptionsOf(const RunConfig& config, const TaskDescription& task, const LearnerArguments& arguments) {
  LearnerRoleOptions options;
  options.run_dir = config.run.dir;
  options.seed = config.run.seed;
  options.train = config.train;
  options.eval = config.eval;
  options.policy = config.policy;
  options.ppo = config.ppo;
  options.gradient_delay = DelayOf(config);
  if (config.distill.Enabled() && arguments.evaluate.empty()) options.make_algorithm = Distillation(config, task);
  options.turns = {.asynchronous = config.runtime.mode == "async",
                   .max_staleness = config.runtime.max_staleness,
                   .deterministic = config.run.deterministic,
                   .close_fraction = config.runtime.close_fraction};
  options.patience_s = config.wire.patience_s;
  options.losses = {.replace = config.runtime.on_loss == "replace", .within_s = config.runtime.replace_within_s};
  options.specs = task.record;
  options.action_size = static_cast<int>(task.action.Elements());
  options.reward_terms = task.reward_terms;
  options.metric_names = task.metrics;
  options.failures = task.failures;
  options.held_out_objects = task.held_out;
  const CurriculumConfig& rule = config.task.curriculum;
  options.curriculum = {.advance = rule.advance,
                        .levels = rule.levels,
                        .start = rule.start,
                        .gate = rule.gate,
                        .min_steps = rule.min_steps,
                        .step_down = rule.step_down,
                        .collapse = rule.collapse};
  if (config.task.name == "grasp" || config.task.randomise.enabled)
    options.describe_level = [described = config.task](int level) { return DescribeLevel(described, level); };
  options.object_names = task.object_names;
  options.config_text = ToYaml(config);
  if (!arguments.resume.empty()) options.resume_envs = config.TotalEnvs();
  options.checkpoint = arguments.evaluate.empty() ? arguments.resume : arguments.evaluate;
  return options;
}

// A learner started by hand has no launcher that made the folder, or that refused one with a run in it.
void PrepareRunFolder(const RunConfig& config, const LearnerArguments& arguments) {
  if (!std::filesystem::exists(config.run.dir + "/config.yaml")) {
    RunConfig made = config;
    CreateRunFolder(made, arguments.path, {});
  }
  const bool fresh = arguments.resume.empty() && arguments.evaluate.empty();
  if (fresh && !IsUnusedRunFolder(config.run.dir)) {
    throw InputError(arguments.path, "run.dir", config.run.dir,
                     "a folder without checkpoints; to go on with that run: --resume CHECKPOINT");
  }
}

std::unique_ptr<LearnerGroup> JoinGroup(const RunConfig& config, int rank) {
  const WireConfig& wire = config.wire;
  return std::make_unique<LearnerGroup>(GroupOptions{.rank = rank,
                                                     .size = config.learner.processes,
                                                     .rendezvous = config.run.dir + "/learners.rendezvous",
                                                     .network = config.learner.trusted_network,
                                                     .join_s = wire.join_s,
                                                     .deadline_s = wire.deadline_s,
                                                     .patience_s = wire.patience_s,
                                                     .heartbeat_s = wire.heartbeat_s});
}

}  // namespace

bool ParseLearnerArguments(int argc, char** argv, LearnerArguments& arguments) {
  arguments.command_line.assign(argv, argv + argc);
  CLI::App app("The learner role: trains or evaluates a policy with the simulators that join");
  app.set_version_flag("--version", std::string("gripstream ") + kVersion + " (" + kGitRevision + ")");
  app.add_option("config", arguments.path, "run folder, or configuration with run.dir set")->required();
  app.add_option("--set", arguments.overrides, "KEY=VALUE laid over the configuration")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  CLI::Option* resume = app.add_option("--resume", arguments.resume, "checkpoint file to go on from");
  resume->take_last();  // the launcher's, when it starts this learner again, is the newest
  app.add_option("--evaluate", arguments.evaluate, "checkpoint file to evaluate instead of training")->excludes(resume);
  app.add_option("--trace", arguments.trace, "file for this process's part of a trace");
  app.add_option("--rank", arguments.rank, "which of learner.processes this is, from 0");
  app.add_option("--footprint", arguments.footprint, "only measure the memory of a learner, into this file");
  app.add_option("--planned", arguments.planned, "footprints that who starts the run has measured; small: it need not");
  app.add_flag("--float-images", arguments.float_images,
               "hold images as float32, to measure what that costs (gripstream bench capacity)");
  app.add_option("--json", arguments.json_path, "with --evaluate: also write the figures to this file");
  FilmOptions& film = arguments.film;
  app.add_option("--film", film.path, "with --evaluate: only a film of the first episodes, an MP4 file");
  app.add_option("--film-episodes", film.episodes, "how many");
  app.add_option("--film-camera", film.camera, "camera; empty: the overview");
  app.add_option("--film-width", film.width_px, "pixels");
  app.add_option("--film-height", film.height_px, "pixels");
  return ParseCommandLine(app, argc, argv);
}

namespace {

int DoWork(LearnerEnd& wire, const LearnerGroup& group, const LearnerRoleOptions& options,
           const LearnerArguments& arguments) {
  if (arguments.evaluate.empty()) return Train(wire, group, options);
  if (!arguments.film.path.empty()) return PlayCheckpoint(wire, group, options, arguments.film);
  return EvaluateCheckpoint(wire, group, options, arguments.json_path);
}

// What this process will take; refuses what does not fit before any of it is there. Returns the part of a simulator in
// the same process.
MemoryBudget PlanMemory(const RunConfig& config, const TaskDescription& task, const LearnerArguments& arguments,
                        LearnerRoleOptions& options) {
  if (config.learner.spill) {
    throw InputError(arguments.path, "learner.spill", "true", "false: learners run on CPUs, beside host memory");
  }
  if (arguments.float_images) options.images = ImageStorage::kFloat32;
  if (config.distill.Enabled()) return {};  // budgets are of PPO's updates
  const bool single = config.wire.transport == "inproc";
  const int learners = config.learner.processes, envs = config.EnvsPerLearner();
  const auto measure = [&] {
    return Footprints{MeasureLearner(config.ppo, config.policy, task.record, options.action_size),
                      single ? MeasureSimulator(SimulatorOptionsOf(config, 0))
                             : SimulatorFootprint{.state = static_cast<double>(task.state_bytes)}};
  };
  const std::optional<Footprints> footprints = FootprintsOfRole(config, task, arguments.planned, measure);
  if (!footprints) return {};
  const RoleBudgets budgets = BudgetsOf(config, task, *footprints, {.images = options.images});
  const MemoryBudget whole = single ? budgets.single(envs, learners) : budgets.learner(envs, learners);
  RequireRoleFits(config, {single ? "process" : "learner", 1, envs, whole});
  options.memory = budgets.learner(envs, learners);
  return single ? budgets.simulator : MemoryBudget{};
}

}  // namespace

int WriteLearnerFootprint(const RunConfig& config, const std::string& path) {
  const TaskDescription task = DescribeTask(config);
  WriteFileAtomically(
      path, ToJson(MeasureLearner(config.ppo, config.policy, task.record, static_cast<int>(task.action.Elements()))));
  return kExitOk;
}

int RunLearnerRole(const RunConfig& config, const LearnerArguments& arguments,
                   const std::function<void(const MemoryBudget&)>& start_simulators) {
  const int rank = arguments.rank, learners = config.learner.processes;
  if (rank < 0 || rank >= learners) {
    throw InputError("command line", "--rank", std::to_string(rank),
                     "0 to learner.processes - 1 = " + std::to_string(learners - 1));
  }
  CatchInterrupts();
  const bool leads = rank == 0;
  std::unique_ptr<LearnerGroup> group;
  if (leads) {
    PrepareRunFolder(config, arguments);
  } else {
    group = JoinGroup(config, rank);  // there is a folder, and the leader had no fault to find
  }
  LogToFile(config.run.dir + "/logs/learner" + (leads ? "" : "_" + std::to_string(rank)) + ".log");
  const TaskDescription task = DescribeTask(config);
  LearnerRoleOptions options = OptionsOf(config, task, arguments);
  CheckOptions(options);
  const MemoryBudget simulator_plan = PlanMemory(config, task, arguments, options);
  const std::unique_ptr<LearnerEnd> wire =
      ListenForSimulators(ListeningWire(config, rank), {.run_id = RunId(config),
                                                        .specs = RecordOf(config, task),
                                                        .config_hash = AgreementHash(config),
                                                        .total_envs = config.EnvsPerLearner(),
                                                        .first_env = rank * config.EnvsPerLearner()});
  const AnnouncedAddress announced(config, rank, wire->Address());
  // Only now is it known that the run goes on: a refused resume must leave the folder as it was.
  if (!arguments.resume.empty() && leads) RecordResume(config, arguments.command_line);
  if (leads) group = JoinGroup(config, rank);
  if (start_simulators) start_simulators(simulator_plan);
  LogInfo("waiting at ", wire->Address(), " for ", config.SimulatorsPerLearner(), " simulators");
  wire->WaitForSimulators(config.SimulatorsPerLearner(), Deadline::After(config.wire.join_s));
  const int code = DoWork(*wire, *group, options, arguments);
  for (const std::string& peer : wire->Stop("the run is over", Deadline::After(kStopDeadline_s))) {
    LogWarning(peer, " did not answer the request to stop");
  }
  return code;
}

}  // namespace gripstream
