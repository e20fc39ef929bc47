#include "launch/bench_capacity.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "core/error.h"
#include "core/files.h"
#include "core/interrupt.h"
#include "core/statistics.h"
#include "launch/child.h"
#include "launch/memory_check.h"
#include "launch/memory_group.h"
#include "launch/memory_plan.h"
#include "launch/metrics_table.h"
#include "launch/roles.h"
#include "launch/run_folder.h"
#include "launch/supervisor.h"
#include "launch/temporary_folder.h"

namespace gripstream {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kProcesses = 4;
constexpr int kHorizon = 16;  // as kConfig has it
// As published: 1024 environments, 16 steps, minibatches of 16,384.
constexpr int kMinibatches = 1;
constexpr int kMicroBatch = 8;
constexpr int kWhole = 1 << 24;        // no micro-batches
constexpr double kLongestRun_s = 600;  // at the limit a run may only page
constexpr double kReaped_s = 3;
constexpr double kStep = 0.04;  // of the plan's number, from one try to the next
constexpr int kMostSteps = 12;
constexpr auto kPollPeriod = std::chrono::milliseconds(20);

// The published horizon; everything else is as small as it can be.
constexpr char kConfig[] =
    "run: {over_commit: true}\n"
    "train: {iterations: 3, checkpoint_every: 1000}\n"
    "eval: {episodes: 1, at_start: false, blank_image: false, sheet_rows: 0}\n"
    "physics: {threads: 1}\n"
    "task: {name: reach, decimation: 2, episode_s: 0.5}\n"
    "wire: {transport: shm, join_s: 600}\n"
    "policy:\n"
    "  name: depth_cnn\n"
    "  encoder: {channels: [16, 32, 32], kernels: [8, 3, 3], strides: [4, 2, 2], features: 128}\n"
    "ppo: {horizon: 16, epochs: 1, threads: 1}\n";

// A kind of simulator, with the limit of each process and the networks beside it. In the published system the learner
// takes some six tenths of a GPU whatever the number of environments, beside a simulator of 25 MB an environment: the
// networks of the heavy regime are chosen for the same. Their layers are alternately wide and narrow only because those
// are quick to initialise.
struct Regime {
  const char* name;
  double limit_bytes;
  int reserve_bytes_per_env;
  std::vector<std::string> networks;
};
const Regime kHeavy = {"25 MB/env",
                       1e9,
                       25'000'000,
                       {"policy.critic_hidden=[8192, 128, 8192, 128, 8192, 128, 8192, 128, 8192, 128, "
                        "8192, 128, 8192, 128, 8192, 128, 8192, 128, 8192, 128, "
                        "8192, 128, 8192, 128, 8192, 128, 8192, 128]"}};
const Regime kOurs = {"our simulator", 400e6, 0, {}};

struct Images {
  int width, height;
};
constexpr Images kSizes[] = {{160, 120}, {320, 240}};

enum class Kind { kBaseline, kCompact, kDisaggregated };
constexpr Kind kKinds[] = {Kind::kBaseline, Kind::kCompact, Kind::kDisaggregated};

const char* NameOf(Kind kind) {
  return kind == Kind::kBaseline ? "baseline" : kind == Kind::kCompact ? "compact data parallel" : "disaggregated";
}

// One system at one size of image with one simulator.
struct Setting {
  Images size;
  const Regime* regime;
  Kind kind;

  std::string Scene() const {
    return std::to_string(size.width) + "x" + std::to_string(size.height) + ", " + regime->name;
  }
};

std::string Assign(const std::string& key, int value) {
  return key + "=" + std::to_string(value);
}

// The configuration of so many environments in each of so many simulators.
RunConfig Configure(const Setting& setting, int simulators, int learners, int envs) {
  const bool parallel = setting.kind != Kind::kDisaggregated;
  const int per_learner = envs * simulators / learners;
  int chunk = 16;
  while (per_learner % chunk != 0) chunk /= 2;  // inference takes learners' environments in whole chunks
  std::vector<std::string> overrides = setting.regime->networks;
  overrides.insert(
      overrides.end(),
      {std::string("runtime.mode=") + (parallel ? "data_parallel" : "lockstep"), Assign("sim.processes", simulators),
       Assign("learner.processes", learners), Assign("sim.envs", envs), Assign("render.width", setting.size.width),
       Assign("render.height", setting.size.height),
       Assign("sim.reserve_bytes_per_env", setting.regime->reserve_bytes_per_env),
       Assign("policy.inference_chunk", chunk), Assign("ppo.minibatch", kHorizon * envs * simulators / kMinibatches),
       Assign("ppo.micro_batch", setting.kind == Kind::kBaseline ? kWhole : kMicroBatch)});
  return ReadRunConfigText(kConfig, "bench capacity", overrides);
}

// One real run under limits; ends all its processes as soon as one of them fails.
class Trial {
 public:
  Trial(RunConfig config, double limit_bytes, bool float_images)
      : config_(std::move(config)), limit_bytes_(limit_bytes) {
    config_.run.dir = folder_.Path() + "/run";
    CreateRunFolder(config_, "bench capacity", {});
    const bool single = config_.wire.transport == "inproc";
    for (int rank = 0; rank < config_.learner.processes; ++rank) {
      std::vector<std::string> argv = {RoleProgram(single ? "gripstream-single" : "gripstream-learner"),
                                       config_.run.dir, "--rank", std::to_string(rank)};
      if (float_images) argv.push_back("--float-images");
      Start("learner" + std::to_string(rank), argv);
    }
    for (int i = 0; !single && i < config_.sim.processes; ++i) {
      Start("simulator" + std::to_string(i),
            {RoleProgram("gripstream-sim"), config_.run.dir, "--index", std::to_string(i), "--launched"});
    }
  }

  // Empty when all three iterations were completed, otherwise why not. Throws RunError when that was not for memory,
  // and when interrupted.
  std::string Run() {
    for (const Deadline deadline = Deadline::After(kLongestRun_s); !deadline.Passed() && !Interrupted();
         std::this_thread::sleep_for(kPollPeriod)) {
      for (Role& role : roles_) {
        const std::optional<int> code = role.child->Poll();
        if (code && *code == kExitBadInput) throw RunError(role.child->Name() + " refused its configuration");
        if (code && *code != kExitOk) return WhoWasKilled(*role.child);
      }
      if (std::ranges::all_of(roles_, [](Role& role) { return role.child->Poll().has_value(); })) return "";
    }
    if (Interrupted()) throw RunError("interrupted");
    return "not done in time";
  }

  // Median over the iterations.
  double StepsPerSecond() const {
    const MetricsTable metrics = ReadMetrics(config_.run.dir);
    const size_t column = metrics.Column("run/steps_per_s");
    std::vector<double> rates;
    for (const std::vector<double>& row : metrics.rows) rates.push_back(row[column]);
    return rates.empty() ? kNan : Median(rates);
  }

  // The fullest of the groups.
  double PeakBytes() const {
    double peak = 0;
    for (const Role& role : roles_) peak = std::max(peak, role.group->PeakBytes());
    return peak;
  }

 private:
  struct Role {
    std::unique_ptr<MemoryGroup> group;  // outlives the child
    std::unique_ptr<Child> child;
  };

  // A peer may notice before the kernel's victim is reaped.
  std::string WhoWasKilled(const Child& first) {
    constexpr int kKilled = 128 + SIGKILL;
    for (const Deadline deadline = Deadline::After(kReaped_s); !deadline.Passed();
         std::this_thread::sleep_for(kPollPeriod)) {
      for (Role& role : roles_) {
        const std::optional<int> code = role.child->Poll();
        if (code && *code == kKilled) return role.child->Name() + " was killed";
      }
    }
    return first.Name() + " ended: " + first.HowItEnded();
  }
  void Start(const std::string& name, const std::vector<std::string>& argv) {
    Role& role = roles_.emplace_back();
    role.group = std::make_unique<MemoryGroup>(name, limit_bytes_);
    std::vector<std::string> quiet = {"/bin/sh", "-c", "exec \"$0\" \"$@\" > /dev/null"};
    quiet.insert(quiet.end(), argv.begin(), argv.end());
    role.child = std::make_unique<Child>(name, role.group->Inside(quiet));
  }

  TemporaryFolder folder_;
  RunConfig config_;
  double limit_bytes_;
  std::vector<Role> roles_;
};

struct Reached {
  SystemPlan plan;
  int64_t total = 0;  // environments
  double steps_per_s = kNan;
};

// What the plan finds for a system, from footprints measured with its own configuration.
SystemPlan Plan(const Setting& setting) {
  const bool parallel = setting.kind != Kind::kDisaggregated;
  const RunConfig config = Configure(setting, kProcesses - 1 + parallel, parallel ? kProcesses : 1, 64);
  const TemporaryFolder folder;
  const std::string path = folder.Path() + "/config.yaml";
  WriteFileAtomically(path, ToYaml(config));
  const Footprints footprints = MeasureFootprints(config, path, {});
  const RoleBudgets budgets =
      BudgetsOf(config, DescribeTask(config), footprints,
                {.images = setting.kind == Kind::kBaseline ? ImageStorage::kFloat32 : ImageStorage::kAsRecorded,
                 .minibatches = kMinibatches});
  std::vector<SystemPlan> plans = PlanSystems(budgets, kProcesses, setting.regime->limit_bytes);
  if (parallel) return plans.front();
  plans.erase(plans.begin());
  return BestOf(plans);
}

// The largest number that a real run completes, step by step from the plan's.
Reached Search(const Setting& setting) {
  Reached reached{.plan = Plan(setting)};
  const int planned = static_cast<int>(std::max<int64_t>(1, reached.plan.envs));
  const int step = std::max(1, static_cast<int>(std::lround(kStep * planned)));
  const auto completes = [&](int envs) {
    Trial trial(Configure(setting, reached.plan.simulators, reached.plan.learners, envs), setting.regime->limit_bytes,
                setting.kind == Kind::kBaseline);
    const std::string why = trial.Run();
    std::printf("  %s, %s (%s): %d environments in all: %s; fullest process %s\n", setting.Scene().c_str(),
                NameOf(setting.kind), reached.plan.Name().c_str(), envs * reached.plan.simulators,
                why.empty() ? "complete" : why.c_str(), FormatBytes(trial.PeakBytes()).c_str());
    std::fflush(stdout);
    if (!why.empty()) return false;
    reached.total = int64_t{envs} * reached.plan.simulators;
    reached.steps_per_s = trial.StepsPerSecond();
    return true;
  };
  int envs = planned;
  if (completes(envs)) {
    for (int i = 0; i < kMostSteps && completes(envs + step); ++i) envs += step;
  } else {
    for (int i = 0; i < kMostSteps && envs > step && !completes(envs - step); ++i) envs -= step;
  }
  return reached;
}

BenchRow Row(const std::string& name, double ours, double peer, const std::string& peer_name, double goal,
             const std::string& unit) {
  return {
      name, ours, peer, peer_name, peer > 0 ? ours / peer : kNan, goal, unit, peer > 0 ? "" : "the peer holds none"};
}

void AddRows(const std::string& scene, bool heavy, const std::map<Kind, Reached>& reached,
             std::vector<BenchRow>& rows) {
  constexpr double kWanted = 2.0, kPlanned = 0.9;
  for (const auto& [kind, system] : reached) {
    const double total = static_cast<double>(system.total), plan = static_cast<double>(system.plan.total);
    BenchRow row = Row(scene + ", " + NameOf(kind) + ": " + system.plan.Name(), total, plan,
                       "plan (" + system.plan.binds + ")", kPlanned, "envs");
    row.ratio = plan > 0 && total > 0 ? std::min(total / plan, plan / total) : kNan;  // either way off counts
    rows.push_back(row);
  }
  const Reached &apart = reached.at(Kind::kDisaggregated), &compact = reached.at(Kind::kCompact),
                &baseline = reached.at(Kind::kBaseline);
  const auto total = [](const Reached& system) { return static_cast<double>(system.total); };
  rows.push_back(Row(scene + ": disaggregated", total(apart), total(baseline), "baseline", kWanted, "envs"));
  rows.push_back(
      Row(scene + ": disaggregated", total(apart), total(compact), "compact", heavy ? kWanted : kNan, "envs"));
  rows.push_back(
      Row(scene + ": disaggregated", apart.steps_per_s, baseline.steps_per_s, "baseline", kNan, "samples/s"));
  rows.push_back(Row(scene + ": disaggregated", apart.steps_per_s, compact.steps_per_s, "compact", kNan, "samples/s"));
}

}  // namespace

std::vector<BenchRow> BenchCapacity(double) {
  const std::string why = MemoryGroup::WhyNot();
  if (!why.empty()) return {{"capacity", kNan, kNan, "", kNan, kNan, "envs", why}};
  CatchInterrupts();
  PrepareRoleEnvironment();
  std::vector<BenchRow> rows;
  for (const Regime* regime : {&kHeavy, &kOurs}) {
    for (const Images size : kSizes) {
      std::map<Kind, Reached> reached;
      for (const Kind kind : kKinds) reached[kind] = Search({size, regime, kind});
      AddRows(Setting{size, regime, Kind::kCompact}.Scene(), regime == &kHeavy, reached, rows);
    }
  }
  return rows;
}

}  // namespace gripstream
