#include "launch/run_config.h"

#include "core/error.h"
#include "core/network.h"
#include "core/rng.h"
#include "launch/addresses.h"

namespace gripstream {
namespace {

void CheckStaleness(const RunConfig& config, const std::string& name) {
  if (config.runtime.max_staleness != 0 && config.runtime.mode != "async") {
    throw InputError(name, "runtime.max_staleness", std::to_string(config.runtime.max_staleness),
                     "0: only runtime.mode async is ever stale");
  }
}

// Simulators that act wait for nobody, so that there is nothing to overlap with inference elsewhere; and each must hold
// whole inference chunks.
void CheckInference(const RunConfig& config, const std::string& name) {
  if (!config.SimulatorsAct()) return;
  if (config.runtime.mode != "lockstep" && config.runtime.mode != "async") {
    throw InputError(name, "runtime.inference", "simulator",
                     "learner with runtime.mode " + config.runtime.mode + "; simulators act with lockstep and async");
  }
  if (config.policy.IsRecurrent()) {
    throw InputError(name, "runtime.inference", "simulator",
                     "learner with policy.actor_rnn or policy.critic_rnn, whose memory stays with the learner");
  }
  const int chunk = config.policy.inference_chunk;
  if (config.sim.processes > 1 && config.sim.envs % chunk != 0) {
    throw InputError(name, "sim.envs", std::to_string(config.sim.envs),
                     "a multiple of policy.inference_chunk = " + std::to_string(chunk) +
                         " with runtime.inference simulator and several simulators");
  }
}

// Waiting for some only is asynchronous, has stale samples, and depends on who is fast.
void CheckCloseFraction(const RunConfig& config, const std::string& name) {
  if (config.runtime.close_fraction == 1) return;
  const std::string value = std::to_string(config.runtime.close_fraction);
  const auto refuse = [&](const std::string& reason) {
    throw InputError(name, "runtime.close_fraction", value, "1 with " + reason);
  };
  if (config.runtime.mode != "async") refuse("runtime.mode " + config.runtime.mode);
  if (config.SimulatorsAct()) refuse("runtime.inference simulator");
  if (config.runtime.max_staleness == 0) refuse("runtime.max_staleness 0");
  if (config.run.deterministic) refuse("run.deterministic");
}

// Data parallelism is one process per simulator with a learner in it, and they meet inside the process.
void CheckLearners(RunConfig& config, const std::string& name) {
  const bool data_parallel = config.runtime.mode == "data_parallel";
  const int simulators = config.sim.processes;
  if (data_parallel && config.learner.processes == 1) config.learner.processes = simulators;
  if (data_parallel) config.wire.transport = "inproc";
  const int learners = config.learner.processes;
  const bool one_process = config.wire.transport == "inproc";
  if (one_process ? simulators != learners : simulators % learners != 0) {
    const std::string why = data_parallel ? " with runtime.mode data_parallel"
                            : one_process ? " with wire.transport inproc, which is one process for both"
                                          : ", so that each has as many simulators";
    throw InputError(
        name, "sim.processes", std::to_string(simulators),
        std::string(one_process ? "" : "a multiple of ") + "learner.processes = " + std::to_string(learners) + why);
  }
  if (learners == 1 && config.learner.gradient_delay != "none") {
    throw InputError(name, "learner.gradient_delay", config.learner.gradient_delay,
                     "none with learner.processes 1, which sends its gradients to nobody");
  }
  const int chunk = config.policy.inference_chunk;
  if (learners > 1 && config.EnvsPerLearner() % chunk != 0) {
    throw InputError(name, "sim.envs", std::to_string(config.sim.envs),
                     "a number that gives each learner a multiple of policy.inference_chunk = " +
                         std::to_string(chunk) + " environments");
  }
}

// What happens on losses, where there is anybody to lose.
void CheckLosses(const RunConfig& config, const std::string& name) {
  const RuntimeConfig &runtime = config.runtime, plain;
  const bool replace = runtime.on_loss == "replace";
  if (replace && config.wire.transport == "inproc") {
    throw InputError(name, "runtime.on_loss", "replace",
                     "stop with wire.transport inproc: a process that is simulator and learner cannot lose either");
  }
  if (replace && config.SimulatorsAct()) {
    throw InputError(name, "runtime.on_loss", "replace", "stop with runtime.inference simulator");
  }
  const auto refuse = [&](const char* key, const std::string& value, const std::string& expected) {
    throw InputError(name, key, value, expected + " with runtime.on_loss stop");
  };
  if (replace) return;
  if (config.sim.spares > 0) refuse("sim.spares", std::to_string(config.sim.spares), "0");
  const auto same = [&](const char* key, auto value, auto usual) {
    if (value != usual) refuse(key, std::to_string(value), "nothing");
  };
  same("runtime.replace_within_s", runtime.replace_within_s, plain.replace_within_s);
  same("runtime.rejoin_s", runtime.rejoin_s, plain.rejoin_s);
  same("runtime.respawns", runtime.respawns, plain.respawns);
}

void CheckSizes(const RunConfig& config, const std::string& name) {
  if (config.distill.Enabled()) return;  // its batches are whatever it is given
  const int samples = config.ppo.horizon * config.TotalEnvs();
  if (samples % config.ppo.minibatch != 0) {
    throw InputError(name, "ppo.minibatch", std::to_string(config.ppo.minibatch),
                     "a divisor of ppo.horizon x sim.processes x sim.envs = " + std::to_string(samples));
  }
  const int sequence = config.ppo.SequenceOf(config.policy.IsRecurrent());
  if (config.ppo.horizon % sequence != 0 || config.ppo.minibatch % sequence != 0) {
    throw InputError(name, "ppo.sequence", std::to_string(sequence),
                     "a divisor of ppo.horizon = " + std::to_string(config.ppo.horizon) +
                         " and ppo.minibatch = " + std::to_string(config.ppo.minibatch) + ", for a policy with memory");
  }
}

void CheckPolicy(const RunConfig& config, const std::string& name) {
  const PolicyConfig& policy = config.policy;
  if (policy.actor_input != PolicyConfig().actor_input && policy.name != "state_mlp") {
    throw InputError(name, "policy.actor_input", policy.actor_input,
                     "nothing, or policy.name: state_mlp; with an image the actor reads obs.proprio");
  }
}

// Inference runs over chunks of fixed size, so that grouping changes no bit; a half-batch that is no whole number of
// chunks would break them.
void CheckGroups(const RunConfig& config, const std::string& name) {
  const int groups = config.Groups(), chunk = config.policy.inference_chunk;
  if (groups == 1 || config.sim.envs % (groups * chunk) == 0) return;
  throw InputError(name, "sim.envs", std::to_string(config.sim.envs),
                   "a multiple of 2 x policy.inference_chunk = " + std::to_string(groups * chunk) + ": runtime.mode " +
                       config.runtime.mode +
                       " steps half-batches of whole inference chunks (runtime.mode lockstep does not)");
}

void CheckSchedule(const RunConfig& config, const std::string& name) {
  const ScheduleConfig& schedule = config.ppo.schedule;
  if (schedule.min_lr > schedule.max_lr) {
    throw InputError(name, "ppo.schedule.min_lr", std::to_string(schedule.min_lr),
                     "at most ppo.schedule.max_lr = " + std::to_string(schedule.max_lr));
  }
  // The simulators must know the port before the learner listens.
  if (config.wire.address.starts_with("tcp://") && config.wire.address.ends_with(":0")) {
    throw InputError(name, "wire.address", config.wire.address, "an address with a port of its own, not 0");
  }
}

void CheckCurriculum(const RunConfig& config, const std::string& name) {
  const CurriculumConfig& curriculum = config.task.curriculum;
  if (curriculum.start > curriculum.levels) {
    throw InputError(name, "task.curriculum.start", std::to_string(curriculum.start),
                     "at most task.curriculum.levels = " + std::to_string(curriculum.levels));
  }
  if (!curriculum.advance) return;
  if (config.task.name != "grasp")
    throw InputError(name, "task.curriculum.advance", "true", "task.name grasp, whose metric in_region is the gate's");
  // The level goes out between two iterations, when no simulator is at work.
  if (config.runtime.mode == "async") {
    throw InputError(name, "task.curriculum.advance", "true", "a runtime.mode other than async");
  }
}

// Networks in which each machine finds an address of its own.
void CheckNetworks(const RunConfig& config, const std::string& name) {
  const std::string& trusted = config.learner.trusted_network;
  if (!trusted.empty() && !ParseNetwork(trusted)) {
    throw InputError(name, "learner.trusted_network", trusted, "a network such as 10.0.0.0/24");
  }
  if (!trusted.empty() && config.learner.processes == 1) {
    throw InputError(name, "learner.trusted_network", trusted, "nothing with learner.processes 1");
  }
  const std::string& address = config.wire.address;
  if (!address.starts_with("tcp://") || address.find('/', 6) == std::string::npos) return;
  if (!WireNetwork(config.wire)) {
    throw InputError(name, "wire.address", address, "tcp://host:port, or a network such as tcp://10.0.0.0/24");
  }
}

// The teacher is asked about whole rollouts, and remembers what it saw from one to the next.
void CheckDistillation(const RunConfig& config, const std::string& name) {
  if (!config.distill.Enabled()) return;
  if (config.runtime.on_loss != "stop") {
    throw InputError(name, "runtime.on_loss", config.runtime.on_loss, "stop with distill.teacher");
  }
  if (config.runtime.close_fraction != 1) {
    throw InputError(name, "runtime.close_fraction", std::to_string(config.runtime.close_fraction),
                     "1 with distill.teacher");
  }
}

RunConfig Check(const ConfigFile& file) {
  RunConfig config;
  file.Read(config);
  CheckStaleness(config, file.Name());
  CheckInference(config, file.Name());
  CheckLearners(config, file.Name());
  CheckCloseFraction(config, file.Name());
  CheckLosses(config, file.Name());
  CheckSizes(config, file.Name());
  CheckPolicy(config, file.Name());
  CheckDistillation(config, file.Name());
  CheckGroups(config, file.Name());
  config.wire.Check(file.Name());
  CheckSchedule(config, file.Name());
  CheckNetworks(config, file.Name());
  CheckCurriculum(config, file.Name());
  return config;
}

}  // namespace

RunConfig ReadRunConfig(const std::string& path, const std::vector<std::string>& overrides) {
  return Check(ConfigFile(path, overrides));
}

RunConfig ReadRunConfigText(const std::string& text, const std::string& name,
                            const std::vector<std::string>& overrides) {
  return Check(ConfigFile::FromText(text, name, overrides));
}

uint64_t AgreementHash(const RunConfig& config) {
  RunConfig agreed = config;
  agreed.run.dir.clear();
  agreed.run.over_commit = agreed.run.measure_memory = false;
  agreed.wire = {};
  agreed.launch = {};
  agreed.train = {};
  agreed.eval = {};
  agreed.distill = {};
  const RuntimeConfig usual;
  agreed.runtime.on_loss = usual.on_loss;
  agreed.runtime.replace_within_s = usual.replace_within_s;
  agreed.runtime.rejoin_s = usual.rejoin_s;
  agreed.runtime.respawns = usual.respawns;
  agreed.sim.spares = 0;
  return HashName(ToYaml(agreed));
}

}  // namespace gripstream
