// What the role programs share: from a run's configuration to the options of a role, and its command line.
#pragma once

#include <string>
#include <vector>

#include "core/tensor_spec.h"
#include "envs/task.h"
#include "launch/run_config.h"
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
};

// Builds one environment and its camera; throws InputError for whatever the configuration names wrongly.
TaskDescription DescribeTask(const RunConfig& config);

SimulatorOptions SimulatorOptionsOf(const RunConfig& config, int index);
// The wire as configured, its address filled in: that of learner `rank`.
WireConfig WireOf(const RunConfig& config, int rank);
// Tells runs apart, so that a simulator never joins another run's learner.
std::string RunId(const RunConfig& config);

// Connects to the learner and obeys it until it says stop.
void ServeSimulator(const RunConfig& config, int index);

// The configuration that a role program's first argument means: a run folder, or a YAML file with run.dir set.
RunConfig RoleConfig(const std::string& path, const std::vector<std::string>& overrides);

}  // namespace gripstream
