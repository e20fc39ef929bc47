#include "launch/memory_check.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "launch/child.h"
#include "launch/footprint_guess.h"
#include "launch/supervisor.h"
#include "launch/temporary_folder.h"
#include "sim_server/footprint.h"

namespace gripstream {
namespace {

constexpr double kMeasuring_s = 300;
// A run that by a guess takes less than this part of what there is starts unmeasured.
constexpr double kPlenty = 0.1;

void RefuseToStart(const RunConfig& config, const std::vector<RoleNeed>& needs, const std::string& why) {
  std::string table;
  for (const RoleNeed& need : needs) {
    table += std::to_string(need.count) + " x " + need.name + " of " + std::to_string(need.envs) +
             " environments, each\n" + MemoryTable(need.budget, need.envs);
  }
  if (config.run.over_commit) {
    LogWarning(why, "; run.over_commit is set");
    return;
  }
  std::fprintf(stderr, "%s", table.c_str());
  throw InputError("configuration", "sim.envs", std::to_string(config.sim.envs),
                   "fewer, or smaller images or micro-batches (gripstream plan): " + why);
}

std::string Sentence(const std::string& who, double needed, const MemoryLimit& limit) {
  return who + " would take " + FormatBytes(needed) + ", and there is " + FormatBytes(limit.bytes) + " (" + limit.name +
         ")";
}

template <class Footprint>
nlohmann::ordered_json Json(Footprint& footprint) {
  nlohmann::ordered_json json;
  footprint.ForEach([&](const char* name, double& value) { json[name] = value; });
  return json;
}

template <class Footprint>
Footprint FromJson(const nlohmann::json& json) {
  Footprint footprint;
  footprint.ForEach([&](const char* name, double& value) {
    if (!json.is_object() || !json.contains(name) || !json[name].is_number()) {
      throw RunError(std::string("a footprint without ") + name);
    }
    value = json[name].template get<double>();
  });
  return footprint;
}

}  // namespace

std::vector<RoleNeed> NeedsOf(const RunConfig& config, const RoleBudgets& budgets) {
  const int learners = config.learner.processes;
  if (config.wire.transport == "inproc") {
    return {{"process", learners, config.sim.envs, budgets.single(config.sim.envs, learners)}};
  }
  return {{"simulator", config.sim.processes, config.sim.envs, budgets.simulator},
          {"learner", learners, config.EnvsPerLearner(), budgets.learner(config.EnvsPerLearner(), learners)}};
}

std::string WhyNot(const std::vector<RoleNeed>& needs, const std::vector<MemoryLimit>& limits) {
  double all = 0;
  for (const RoleNeed& need : needs) all += need.count * need.Bytes();
  for (const MemoryLimit& limit : limits) {
    const bool several = needs.size() > 1 || needs.front().count > 1;
    if (several && !limit.own && all > limit.bytes) return Sentence("the run", all, limit);
    for (const RoleNeed& need : needs) {
      if (need.Bytes() > limit.bytes) return Sentence("a " + need.name, need.Bytes(), limit);
    }
  }
  return "";
}

bool IsSmall(const RunConfig& config, const TaskDescription& task) {
  if (config.run.measure_memory) return false;
  double all = 0;
  for (const RoleNeed& need : NeedsOf(config, BudgetsOf(config, task, GuessFootprints(config, task)))) {
    all += need.count * need.Bytes();
  }
  return all < kPlenty * TightestLimit(MemoryLimits()).bytes;
}

std::optional<Footprints> RequireRunFits(const RunConfig& config, const TaskDescription& task, const std::string& path,
                                         const std::vector<std::string>& overrides) {
  if (IsSmall(config, task)) return std::nullopt;
  const Footprints footprints = MeasureFootprints(config, path, overrides);
  const std::vector<RoleNeed> needs = NeedsOf(config, BudgetsOf(config, task, footprints));
  if (const std::string why = WhyNot(needs, MemoryLimits()); !why.empty()) RefuseToStart(config, needs, why);
  return footprints;
}

void RequireRoleFits(const RunConfig& config, const RoleNeed& need) {
  if (const std::string why = WhyNot({need}, MemoryLimits()); !why.empty()) RefuseToStart(config, {need}, why);
}

std::optional<Footprints> FootprintsOfRole(const RunConfig& config, const TaskDescription& task,
                                           const std::string& planned, const std::function<Footprints()>& measure) {
  if (planned.empty()) return IsSmall(config, task) ? std::nullopt : std::optional(measure());
  if (planned == kSmallRun) return std::nullopt;
  return FootprintsFromJson(ReadText(planned));
}

MemoryBudget PlanSimulator(const RunConfig& config, const std::string& planned) {
  if (planned == kSmallRun) return {};
  const TaskDescription task = DescribeTask(config);
  const std::optional<Footprints> footprints = FootprintsOfRole(config, task, planned, [&config] {
    return Footprints{.simulator = MeasureSimulator(SimulatorOptionsOf(config, 0))};
  });
  if (!footprints) return {};
  const RoleBudgets budgets = BudgetsOf(config, task, *footprints);
  RequireRoleFits(config, {"simulator", 1, config.sim.envs, budgets.simulator});
  return budgets.simulator;
}

Footprints MeasureFootprints(const RunConfig& config, const std::string& path,
                             const std::vector<std::string>& overrides) {
  Footprints footprints;
  footprints.simulator = MeasureSimulator(SimulatorOptionsOf(config, 0));
  const TemporaryFolder folder;
  const std::string json = folder.Path() + "/footprint.json";
  std::vector<std::string> argv = {RoleProgram("gripstream-learner"), path, "--footprint", json};
  for (const std::string& assignment : overrides) argv.insert(argv.end(), {"--set", assignment});
  PrepareRoleEnvironment();
  Child learner("the learner's program", argv);
  const int code = learner.EndBy(Deadline::After(kMeasuring_s));
  if (code == kExitBadInput) throw InputAlreadyTold();
  if (code != kExitOk) throw RunError("measuring the learner's memory failed: " + learner.HowItEnded());
  footprints.learner = LearnerFootprintFromJson(ReadText(json));
  return footprints;
}

std::string ToJson(LearnerFootprint footprint) {
  return Json(footprint).dump(2) + "\n";
}

std::string ToJson(Footprints footprints) {
  const nlohmann::ordered_json json = {{"learner", Json(footprints.learner)},
                                       {"simulator", Json(footprints.simulator)}};
  return json.dump(2) + "\n";
}

LearnerFootprint LearnerFootprintFromJson(const std::string& text) {
  return FromJson<LearnerFootprint>(nlohmann::json::parse(text, nullptr, false));
}

Footprints FootprintsFromJson(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("learner") || !json.contains("simulator")) {
    throw RunError("footprints without a learner or a simulator");
  }
  return {FromJson<LearnerFootprint>(json["learner"]), FromJson<SimulatorFootprint>(json["simulator"])};
}

}  // namespace gripstream
