#include "launch/roles.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "core/error.h"
#include "core/log.h"
#include "core/process_memory.h"
#include "core/rng.h"
#include "envs/catalogue.h"
#include "envs/env_batch.h"
#include "launch/addresses.h"
#include "launch/run_folder.h"
#include "launch/supervisor.h"
#include "policies/acted.h"
#include "sim_server/simulator_budget.h"

namespace gripstream {
namespace {

void LogMemory(const MemoryBudget& plan, const Simulator& simulator, int slots, const char* when) {
  std::vector<MemoryUse> real = simulator.Memory();
  real.push_back(
      {kRecordsPart, static_cast<double>(slots) *
                         static_cast<double>(Layout(simulator.RecordSpecs(), simulator.GroupEnvs()).Bytes())});
  LogInfo("memory ", when, plan.parts.empty() ? ", real, of " : ", planned and real, of ", simulator.Envs(),
          " environments:\n", MemoryTable(plan, simulator.Envs(), real), "  ", DescribeOwnMemory());
}

}  // namespace

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
  double env_bytes = 0;
  for (const MemoryUse& use : simulator.Memory()) env_bytes += use.bytes;
  return {simulator.RecordSpecs(),
          simulator.ActionSpec(),
          simulator.RewardTerms(),
          simulator.Metrics(),
          simulator.Envs(0).ProprioFields(),
          simulator.Envs(0).StateFields(),
          simulator.ObjectNames(),
          simulator.Envs(0).StateBytes(),
          simulator.Envs(0).Failures(),
          simulator.Envs(0).AnyHeldOut(),
          env_bytes};
}

std::string RunId(const RunConfig& config) {
  return std::to_string(HashName(std::filesystem::weakly_canonical(config.run.dir).string()));
}

namespace {

Join JoinOf(const RunConfig& config, const Simulator& simulator, const SimulatorPlace& place, uint64_t spec_hash) {
  Join join;
  join.run_id = RunId(config);
  join.spec_hash = spec_hash;
  join.config_hash = AgreementHash(config);
  join.env_begin = place.index < 0 ? kAnyEnvs : simulator.EnvBegin();
  join.env_count = static_cast<uint32_t>(simulator.Envs());
  join.groups = static_cast<uint32_t>(simulator.Groups());
  join.pid = static_cast<uint64_t>(getpid());
  join.name = place.index < 0 ? "spare" : "simulator " + std::to_string(place.index);
  join.spare = place.spare ? 1 : 0;
  return join;
}

// Tries until the deadline: a learner that dies may still take a connection, and one that has not yet noticed that the
// old connection is gone refuses a new one.
std::unique_ptr<SimulatorEnd> Rejoin(const WireConfig& wire, const Join& join, const Layout& layout, double within_s) {
  for (const Deadline deadline = Deadline::After(within_s);;) {
    try {
      return ConnectToLearner(wire, join, layout, deadline);
    } catch (const RunError& error) {
      if (deadline.Passed()) {
        throw RunError("no learner came back within runtime.rejoin_s = " + Seconds(within_s) + ": " + error.what());
      }
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(wire.heartbeat_s, deadline.RemainingSeconds())));
  }
}

}  // namespace

void ServeSimulator(const RunConfig& config, const SimulatorPlace& place, const ActorMaker& make_actor,
                    const MemoryBudget& plan) {
  const int rank = place.index < 0 ? place.learner : place.index / config.SimulatorsPerLearner();
  const SimulatorOptions options =
      SimulatorOptionsOf(config, std::max(place.index, rank * config.SimulatorsPerLearner()));
  Simulator simulator(options);
  const auto log_memory = [&](const char* when) { LogMemory(plan, simulator, config.wire.slots, when); };
  log_memory("at the start");
  if (config.SimulatorsAct()) simulator.SetActor(make_actor(config, simulator));
  const Layout layout(simulator.RecordSpecs(), simulator.GroupEnvs());
  const Deadline deadline = Deadline::After(place.spare ? config.wire.patience_s : config.wire.join_s);
  const WireConfig wire = ConnectingWire(config, rank, deadline);
  Join join = JoinOf(config, simulator, place, layout.Hash());
  std::unique_ptr<SimulatorEnd> end = ConnectToLearner(wire, join, layout, deadline);
  const double rejoin_s = config.runtime.on_loss == "replace" ? config.runtime.rejoin_s : 0;
  for (;;) {
    try {
      simulator.Serve(*end, config.wire.patience_s);
      log_memory("at the end");
      return;
    } catch (const LearnerLost& lost) {
      if (rejoin_s <= 0) throw;
      LogWarning("waiting ", Seconds(rejoin_s), " (runtime.rejoin_s) for a learner to come back: ", lost.what());
    }
    join.env_begin = end->EnvBegin();
    join.spare = 1;
    end.reset();
    end = Rejoin(wire, join, layout, rejoin_s);
  }
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
