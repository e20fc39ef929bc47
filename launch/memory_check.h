// Refuses, before it allocates, what will not fit: a run on this machine, or one role in its process.
//
// Throws InputError, after the table that shows why went to stderr; with run.over_commit it warns instead.
#pragma once

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

// Judges all processes of a run together. `path` and `overrides` are what the configuration was read from.
void RequireRunFits(const RunConfig& config, const TaskDescription& task, const std::string& path,
                    const std::vector<std::string>& overrides);
// Judges one role in this process.
void RequireRoleFits(const RunConfig& config, const RoleNeed& need);

// The footprints of a configuration's roles: the simulator's measured here, the learner's by its own program, which
// links LibTorch. Throws RunError when that is not there, and InputAlreadyTold when it refuses
// the configuration.
Footprints MeasureFootprints(const RunConfig& config, const std::string& path,
                             const std::vector<std::string>& overrides);
std::string ToJson(LearnerFootprint footprint);
LearnerFootprint LearnerFootprintFromJson(const std::string& json);

}  // namespace gripstream
