#include "launch/memory_plan.h"

#include <algorithm>
#include <cstdio>

#include "core/error.h"

namespace gripstream {
namespace {

// Both roles in one process, which has the libraries and threads of both.
MemoryBudget Together(MemoryBudget learner, const MemoryBudget& simulator) {
  for (const MemoryPart& part : simulator.parts) {
    const auto same = std::ranges::find(learner.parts, part.name, &MemoryPart::name);
    if (part.name == kProgramPart && same != learner.parts.end()) {
      same->fixed_bytes += part.fixed_bytes;
    } else {
      learner.parts.push_back(part);
    }
  }
  return learner;
}

LearnerSizes SizesOf(const RunConfig& config, const SimulatorFootprint& simulator, const PlanOptions& options,
                     double record_bytes, int learners) {
  LearnerSizes sizes;
  const bool asynchronous = config.runtime.mode == "async";
  sizes.horizon = config.ppo.horizon;
  sizes.micro_batch = config.ppo.micro_batch;
  sizes.minibatch_share = (config.ppo.minibatch + learners - 1) / learners;
  if (options.minibatches > 0) sizes.share_per_env = static_cast<double>(config.ppo.horizon) / options.minibatches;
  sizes.inference_chunk = config.policy.inference_chunk;
  sizes.stores = config.runtime.max_staleness + 1;
  // The board keeps as many versions, and the one that is acted by meanwhile.
  sizes.policies = asynchronous ? config.runtime.max_staleness + 3 : 1;
  if (config.policy.IsRecurrent()) sizes.sequence = config.ppo.sequence;
  sizes.group = learners > 1;
  sizes.delays = config.learner.gradient_delay != "none";
  sizes.acts_in_update = asynchronous;
  sizes.images = options.images;
  sizes.spill = config.learner.spill;
  const bool copied = config.wire.transport == "zmq" || config.wire.transport == "nccl";
  if (copied) sizes.receive_bytes_per_env = record_bytes * config.wire.slots / config.Groups();
  sizes.state_bytes_per_env = simulator.state;
  return sizes;
}

std::string Reason(const char* role, const MemoryBudget& budget, int64_t envs) {
  if (envs >= 0) {
    const MemoryPart* growing = budget.Growing(envs + 1);
    return std::string(role) + ": " + (growing ? growing->name : "nothing grows");
  }
  const auto largest =
      std::ranges::max_element(budget.parts, {}, [](const MemoryPart& part) { return part.fixed_bytes; });
  return std::string(role) + " does not fit: " + largest->name;
}

SystemPlan DataParallel(const RoleBudgets& budgets, int processes, double limit) {
  SystemPlan plan{.simulators = processes, .learners = processes, .single = true};
  plan.envs = MostEnvs([&](int64_t n) { return budgets.single(n, processes).Bytes(n); }, limit);
  plan.total = std::max<int64_t>(0, plan.envs) * processes;
  plan.binds = Reason("process", budgets.single(std::max<int64_t>(plan.envs, 0), processes), plan.envs);
  return plan;
}

SystemPlan Apart(const RoleBudgets& budgets, int simulators, int learners, double limit) {
  SystemPlan plan{.simulators = simulators, .learners = learners};
  const int64_t each = simulators / learners;
  const int64_t simulator = budgets.simulator.MostEnvs(limit);
  const int64_t learner = MostEnvs([&](int64_t n) { return budgets.learner(n, learners).Bytes(n); }, limit);
  const bool learner_binds = learner < 0 || (simulator >= 0 && learner / each < simulator);
  plan.envs = learner_binds ? (learner < 0 ? -1 : learner / each) : simulator;
  plan.total = std::max<int64_t>(0, plan.envs) * simulators;
  plan.binds = learner_binds ? Reason("learner", budgets.learner(std::max<int64_t>(learner, 0), learners), learner)
                             : Reason("simulator", budgets.simulator, simulator);
  return plan;
}

// A simulator that acts has the learner's libraries and networks beside its own.
void AddPolicy(MemoryBudget& simulator, const LearnerFootprint& learner, int chunk) {
  simulator.parts.push_back(
      {"policy's libraries", std::max(0.0, learner.program - simulator.parts.front().fixed_bytes)});
  simulator.parts.push_back({"network", learner.network});
  simulator.parts.push_back({"inference", learner.act + learner.act_row * chunk, 0, true});
}

}  // namespace

RoleBudgets BudgetsOf(const RunConfig& config, const TaskDescription& task, const Footprints& footprints,
                      const PlanOptions& options) {
  const std::vector<TensorSpec> record = RecordOf(config, task);
  double record_bytes = 0;
  for (const TensorSpec& spec : record) record_bytes += static_cast<double>(spec.Bytes());
  RoleBudgets budgets;
  budgets.simulator = SimulatorBudget(footprints.simulator,
                                      {.slots = config.wire.slots,
                                       .groups = config.Groups(),
                                       .reserve_bytes_per_env = static_cast<double>(config.sim.reserve_bytes_per_env)},
                                      record);
  const bool policy = config.SimulatorsAct() && footprints.learner.program > 0;  // roles alone measure only themselves
  if (policy) AddPolicy(budgets.simulator, footprints.learner, config.policy.inference_chunk);
  budgets.learner = [=](int64_t envs, int learners) {
    return LearnerBudget(footprints.learner, SizesOf(config, footprints.simulator, options, record_bytes, learners),
                         task.record, static_cast<int>(task.action.Elements()), envs);
  };
  budgets.single = [=, apart = budgets.learner, simulator = budgets.simulator](int64_t envs, int learners) {
    return Together(apart(envs, learners), simulator);
  };
  return budgets;
}

RoleBudgets BudgetsOf(const MeasuredCounts& measured, double limit_bytes, const std::string& file) {
  const double environment = limit_bytes / measured.simulator_envs;
  const double rest = limit_bytes - measured.data_parallel_envs * (environment + measured.buffer_bytes_per_env);
  if (rest < 0) {
    throw InputError(file, "data_parallel_envs", std::to_string(measured.data_parallel_envs),
                     "fewer, so that " + std::to_string(measured.simulator_envs) +
                         " simulated alone and this buffer leave memory for a network");
  }
  RoleBudgets budgets;
  budgets.simulator.parts = {{kEnvironmentsPart, 0, environment}};
  const MemoryBudget learner{{{"network and activations", rest}, {kBufferPart, 0, measured.buffer_bytes_per_env}}};
  budgets.learner = [=](int64_t, int) { return learner; };
  budgets.single = [=, simulator = budgets.simulator](int64_t, int) { return Together(learner, simulator); };
  return budgets;
}

std::vector<SystemPlan> PlanSystems(const RoleBudgets& budgets, int processes, double limit_bytes) {
  std::vector<SystemPlan> plans = {DataParallel(budgets, processes, limit_bytes)};
  for (int simulators = 1; simulators < processes; ++simulators) {
    const int learners = processes - simulators;
    if (simulators % learners == 0) plans.push_back(Apart(budgets, simulators, learners, limit_bytes));
  }
  return plans;
}

const SystemPlan& BestOf(const std::vector<SystemPlan>& plans) {
  GS_CHECK(!plans.empty(), "no plans");
  return *std::ranges::max_element(plans, {}, &SystemPlan::total);
}

std::string SystemPlan::Name() const {
  if (single) return "data parallel, " + std::to_string(learners) + " processes";
  return std::to_string(simulators) + (simulators == 1 ? " simulator + " : " simulators + ") +
         std::to_string(learners) + (learners == 1 ? " learner" : " learners");
}

std::string FormatPlans(const std::vector<SystemPlan>& plans) {
  char line[200];
  std::snprintf(line, sizeof line, "%-32s %12s %12s   %s\n", "", "envs each", "envs in all", "what binds");
  std::string text = line;
  for (const SystemPlan& plan : plans) {
    const bool best = &plan == &BestOf(plans) && plan.total > 0;
    std::snprintf(line, sizeof line, "%-32s %12lld %12lld   %s%s\n", plan.Name().c_str(),
                  static_cast<long long>(std::max<int64_t>(0, plan.envs)), static_cast<long long>(plan.total),
                  plan.binds.c_str(), best ? "   << most" : "");
    text += line;
  }
  return text;
}

}  // namespace gripstream
