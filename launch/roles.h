// What the role programs share: from a run's configuration to the options of a role, and its command line.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/memory_budget.h"
#include "core/tensor_spec.h"
#include "envs/task.h"
#include "launch/run_config.h"
#include "sim_server/actor.h"
#include "sim_server/role.h"
#include "wire/transport.h"

namespace gripstream {

// Everything about a task that its learner must know, read off one environment.
struct TaskDescription {
  std::vector<TensorSpec> record;
  TensorSpec action;
  std::vector<std::string> reward_terms, metrics;
  std::vector<ObservationField> proprio, state;
  std::vector<std::string> object_names;  // by catalogue id
  size_t state_bytes = 0;                 // of one environment in a checkpoint
  std::vector<FailureKind> failures;      // by the metrics
  bool held_out = false;                  // whether there are objects for a held-out evaluation
  double env_bytes = 0;                   // of one environment alone, its models and cameras included
};

// Builds one environment and its camera; throws InputError for whatever the configuration names wrongly.
TaskDescription DescribeTask(const RunConfig& config);

// What simulators send of each environment: the task's record, and how they acted where they do.
std::vector<TensorSpec> RecordOf(const RunConfig& config, const TaskDescription& task);

SimulatorOptions SimulatorOptionsOf(const RunConfig& config, int index);
// Tells runs apart, so that a simulator never joins another run's learner.
std::string RunId(const RunConfig& config);

using ActorMaker = std::function<std::unique_ptr<Actor>(const RunConfig&, const Simulator&)>;

// Which environments a simulator process is for.
struct SimulatorPlace {
  int index = -1;      // among sim.processes; -1: a spare's, that has none of its own
  int learner = 0;     // whose spare
  bool spare = false;  // where its place is taken, it waits for one that is not
};

// Connects to the learner and obeys it until it says stop. With runtime.on_loss replace a learner that is lost is
// waited for, and served again. `make_actor` is asked where simulators act (launch/acting.h).
// `plan`: its memory as planned, to be logged beside what is real; without parts: nobody planned.
void ServeSimulator(const RunConfig& config, const SimulatorPlace& place, const ActorMaker& make_actor,
                    const MemoryBudget& plan);

// The configuration that a role program's first argument means: a run folder, or a YAML file with run.dir set.
RunConfig RoleConfig(const std::string& path, const std::vector<std::string>& overrides);

}  // namespace gripstream
