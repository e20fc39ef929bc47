// How many environments fit: from what roles take (measured) to the best division of the same processes, or GPUs, into
// simulators and learners.
//
//   footprints, sizes of a run -> budgets of each role -> PlanSystems(processes, limit) -> table
//
// Data parallelism puts both roles into every process. With k simulators and n - k learners each learner has k / (n -
// k) simulators, so only divisions without a rest are ways of running. Pure functions of plain values; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/memory_budget.h"
#include "launch/roles.h"
#include "launch/run_config.h"
#include "learner/learner_budget.h"
#include "sim_server/simulator_budget.h"

namespace gripstream {

struct Footprints {
  LearnerFootprint learner{};
  SimulatorFootprint simulator{};
};

// Budgets of each kind of process. `envs` are those of the one process, `learners` how many share a minibatch.
struct RoleBudgets {
  std::function<MemoryBudget(int64_t envs, int learners)> learner, single;  // single: both roles in one process
  MemoryBudget simulator;
};

// What a plan may vary besides the configuration.
struct PlanOptions {
  ImageStorage images = ImageStorage::kAsRecorded;
  // Minibatches of an iteration, when they are to grow with the environments; 0: ppo.minibatch as it is.
  int minibatches = 0;
};
RoleBudgets BudgetsOf(const RunConfig& config, const TaskDescription& task, const Footprints& footprints,
                      const PlanOptions& options = {});

struct SystemPlan {
  int simulators = 0, learners = 0;  // processes of each kind; both the same number and `single`: data parallel
  bool single = false;
  int64_t envs = 0;     // of each simulating process; -1: not even none fits
  int64_t total = 0;    // over all
  std::string binds{};  // "simulator: environments", ...

  std::string Name() const;
};
// Data parallelism first, then one for each k that divides; all for `processes` of `limit` bytes each.
std::vector<SystemPlan> PlanSystems(const RoleBudgets& budgets, int processes, double limit_bytes);
// The one with the most environments; of several, the first.
const SystemPlan& BestOf(const std::vector<SystemPlan>& plans);
std::string FormatPlans(const std::vector<SystemPlan>& plans);

// Environment counts that somebody measured, with the memory that they filled: enough for a plan without our programs.
struct MeasuredCounts {
  int simulator_envs = 0;
  int data_parallel_envs = 0;
  double buffer_bytes_per_env = 0;
  std::string source;

  void Fields(FieldVisitor& v) {
    v.Int("simulator_envs", simulator_envs,
          {.doc = "environments that fill a device that only simulates", .required = true}, {1, 1 << 30});
    v.Int("data_parallel_envs", data_parallel_envs,
          {.doc = "environments that fill a device that simulates and learns", .required = true}, {1, 1 << 30});
    v.Float("buffer_bytes_per_env", buffer_bytes_per_env,
            {.doc = "of an environment's experience, where it is learned from", .unit = "bytes", .required = true},
            {0, 1e12});
    v.String("source", source, {.doc = "where the figures are from"});
  }
};
// Assumes that everything a simulator holds grows with its environments, and that what else a learner holds (networks,
// activations) does not. Throws InputError when the counts leave a learner less than nothing.
RoleBudgets BudgetsOf(const MeasuredCounts& measured, double limit_bytes, const std::string& file);

}  // namespace gripstream
