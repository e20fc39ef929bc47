// Refuses, before it allocates, what will not fit: a run on this machine, or one role in its process.
//
// A run is measured at most once: by who starts its roles, or by each role that was started alone.
//
// Throws InputError, after the table that shows why went to stderr; with run.over_commit it warns instead.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/process_memory.h"
#include "launch/memory_plan.h"

namespace gripstream {

// The processes of one kind in a run, with what each takes.
struct RoleNeed {
  std::string name{};  // "simulator", "learner", "process"
  int count = 0;
  int64_t envs = 0;  // each
  MemoryBudget budget{};

  double Bytes() const { return budget.Bytes(envs); }  // each
};
std::vector<RoleNeed> NeedsOf(const RunConfig& config, const RoleBudgets& budgets);

// Empty when everything fits. Limits of one process are for each of them, others for all together. `all`: these are all
// processes of a run on this machine, otherwise one.
std::string WhyNot(const std::vector<RoleNeed>& needs, const std::vector<MemoryLimit>& limits);

// Whether the run takes less than a tenth of the memory there is by a guess that a factor of a few would not change,
// and nobody asked for better (run.measure_memory).
bool IsSmall(const RunConfig& config, const TaskDescription& task);

// Judges all processes of a run together; returns what it measured for that, nothing where the run is small. `path` and
// `overrides` are what the configuration was read from.
std::optional<Footprints> RequireRunFits(const RunConfig& config, const TaskDescription& task, const std::string& path,
                                         const std::vector<std::string>& overrides);
// Judges one role in this process.
void RequireRoleFits(const RunConfig& config, const RoleNeed& need);

// What who starts roles tells them with --planned: the file of what it measured, or that the run is small. Roles that
// are told nothing find out for themselves.
inline constexpr char kSmallRun[] = "small";
// The footprints that a role plans with, by what it was told; `measure` is asked where nobody measured yet.
std::optional<Footprints> FootprintsOfRole(const RunConfig& config, const TaskDescription& task,
                                           const std::string& planned, const std::function<Footprints()>& measure);
// A simulator's own plan, without parts where the run is small.
MemoryBudget PlanSimulator(const RunConfig& config, const std::string& planned);

// The footprints of a configuration's roles: the simulator's measured here, the learner's by its own program, which
// links LibTorch. Throws RunError when that is not there, and InputAlreadyTold when it refuses
// the configuration.
Footprints MeasureFootprints(const RunConfig& config, const std::string& path,
                             const std::vector<std::string>& overrides);
std::string ToJson(LearnerFootprint footprint);
std::string ToJson(Footprints footprints);
LearnerFootprint LearnerFootprintFromJson(const std::string& json);
Footprints FootprintsFromJson(const std::string& json);

}  // namespace gripstream
