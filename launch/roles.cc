#include "launch/roles.h"

#include <unistd.h>

#include <filesystem>

#include "core/error.h"
#include "core/rng.h"
#include "envs/catalogue.h"
#include "envs/env_batch.h"
#include "launch/addresses.h"
#include "launch/run_folder.h"
#include "policies/acted.h"

namespace gripstream {
std::vector<TensorSpec> RecordOf(const RunConfig& config, const TaskDescription& task) {
  std::vector<TensorSpec> record = task.record;
  if (!config.SimulatorsAct()) return record;
  const std::vector<TensorSpec> acted = ActedSpecs(static_cast<int>(task.action.Elements()));
  record.insert(record.end(), acted.begin(), acted.end());
  return record;
}

SimulatorOptions SimulatorOptionsOf(const RunConfig& config, int index) {
  return {.sim = config.sim,
          .physics = config.physics,
          .render = config.render,
          .task = config.task,
          .seed = config.run.seed,
          .index = index,
          .groups = config.Groups()};
}

TaskDescription DescribeTask(const RunConfig& config) {
  SimulatorOptions options = SimulatorOptionsOf(config, 0);
  options.sim.envs = options.groups = 1;
  options.sim.render_threads = options.physics.threads = 1;
  options.sim.reserve_bytes_per_env = 0;
  const Simulator simulator(options);
  return {
      simulator.RecordSpecs(),           simulator.ActionSpec(),          simulator.RewardTerms(), simulator.Metrics(),
      simulator.Envs(0).ProprioFields(), simulator.Envs(0).StateFields(), simulator.ObjectNames()};
}

std::string RunId(const RunConfig& config) {
  return std::to_string(HashName(std::filesystem::weakly_canonical(config.run.dir).string()));
}

void ServeSimulator(const RunConfig& config, int index, const ActorMaker& make_actor) {
  Simulator simulator(SimulatorOptionsOf(config, index));
  if (config.SimulatorsAct()) simulator.SetActor(make_actor(config, simulator));
  const Layout layout(simulator.RecordSpecs(), simulator.GroupEnvs());
  Join join;
  join.run_id = RunId(config);
  join.spec_hash = layout.Hash();
  join.config_hash = AgreementHash(config);
  join.env_begin = simulator.EnvBegin();
  join.env_count = static_cast<uint32_t>(simulator.Envs());
  join.groups = static_cast<uint32_t>(simulator.Groups());
  join.pid = static_cast<uint64_t>(getpid());
  join.name = "simulator " + std::to_string(index);
  const Deadline deadline = Deadline::After(config.wire.join_s);
  const std::unique_ptr<SimulatorEnd> wire =
      ConnectToLearner(ConnectingWire(config, index / config.SimulatorsPerLearner(), deadline), join, layout, deadline);
  simulator.Serve(*wire, config.wire.patience_s);
}

RunConfig RoleConfig(const std::string& path, const std::vector<std::string>& overrides) {
  if (std::filesystem::is_directory(path)) return OpenRunFolder(path, overrides);
  const RunConfig config = ReadRunConfig(path, overrides);
  if (config.run.dir.empty()) {
    throw InputError(path, "key 'run.dir' is missing; roles that are started one by one meet through it");
  }
  return config;
}

}  // namespace gripstream
