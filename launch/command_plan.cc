// gripstream plan: how many environments fit, before anything is allocated, and what they would take.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "core/process_memory.h"
#include "launch/commands.h"
#include "launch/memory_check.h"
#include "launch/memory_plan.h"
#include "launch/run_folder.h"

namespace gripstream {
namespace {

// Processes or devices, and the memory of each.
struct Share {
  int count = 0;
  double bytes = 0;
  std::string unit;  // "process", "GPU"
};

// `configured`: the number of processes where none is given.
Share ShareOf(const PlanArguments& arguments, int configured) {
  const bool gpus = arguments.gpus > 0 || !arguments.gpu_memory.empty();
  if (gpus && (arguments.processes > 0 || !arguments.memory.empty())) {
    throw InputError("command line", "--gpus", std::to_string(arguments.gpus),
                     "either GPUs or --processes and --memory");
  }
  Share share;
  share.unit = gpus ? "GPU" : "process";
  share.count = gpus ? arguments.gpus : arguments.processes;
  if (gpus && (arguments.gpus <= 0 || arguments.gpu_memory.empty())) {
    throw InputError("command line", "--gpus and --gpu-memory belong together");
  }
  if (share.count <= 0) share.count = configured;
  const std::string& memory = gpus ? arguments.gpu_memory : arguments.memory;
  share.bytes = memory.empty() ? TightestLimit(MemoryLimits()).bytes / share.count
                               : ParseBytes(memory, gpus ? "--gpu-memory" : "--memory");
  return share;
}

void PrintPerEnv(const char* role, const MemoryBudget& budget) {
  std::printf("%s\n  %-34s %14s %14s\n", role, "", "whatever N is", "an environment");
  for (const MemoryPart& part : budget.parts) {
    std::printf("  %-34s %14s %14s\n", (part.name + (part.passing ? ", for a time" : "")).c_str(),
                FormatBytes(part.fixed_bytes).c_str(), FormatBytes(part.bytes_per_env).c_str());
  }
}

void PrintPlans(const RoleBudgets& budgets, const Share& share) {
  std::printf("most environments on %d x %s of %s:\n", share.count, share.unit.c_str(),
              FormatBytes(share.bytes).c_str());
  const std::vector<SystemPlan> plans = PlanSystems(budgets, share.count, share.bytes);
  std::printf("%s", FormatPlans(plans).c_str());
  const SystemPlan &best = BestOf(plans), &parallel = plans.front();
  if (best.total == 0) {
    std::printf("nothing fits: smaller networks or micro-batches, or more memory\n");
  } else if (!best.single && parallel.total > 0) {
    std::printf("%.2f times data parallelism\n", static_cast<double>(best.total) / static_cast<double>(parallel.total));
  } else if (best.single && plans.size() > 1) {
    std::printf(
        "data parallelism holds the most here: the learner's memory for an environment weighs more than the "
        "simulator's\n");
  }
}

int PlanFromCounts(const PlanArguments& arguments) {
  MeasuredCounts measured;
  ConfigFile(arguments.measured, arguments.overrides).Read(measured);
  if (arguments.gpu_memory.empty() && arguments.memory.empty()) {
    throw InputError("command line", "--measured needs --gpu-memory (or --memory): that of which the counts are");
  }
  const Share share = ShareOf(arguments, 1);
  const RoleBudgets budgets = BudgetsOf(measured, share.bytes, arguments.measured);
  PrintPerEnv("simulator", budgets.simulator);
  const MemoryBudget learner = budgets.learner(1, 1);
  PrintPerEnv("learner", learner);
  PrintPlans(budgets, share);
  const SystemPlan best = BestOf(PlanSystems(budgets, share.count, share.bytes));
  if (!best.single && best.total > 0) {
    const int64_t held = best.total / best.learners;
    std::printf(
        "a learner then holds %s for %lld environments: it fits if what it holds besides the buffer does not "
        "grow with them (micro-batches)\n",
        FormatBytes(learner.Bytes(held)).c_str(), static_cast<long long>(held));
  }
  return kExitOk;
}

}  // namespace

int PlanCommand(const PlanArguments& arguments) {
  if (!arguments.measured.empty()) return PlanFromCounts(arguments);
  if (arguments.config.empty()) throw InputError("command line", "plan needs a configuration or --measured FILE");
  const RunConfig config = std::filesystem::is_directory(arguments.config)
                               ? OpenRunFolder(arguments.config, arguments.overrides)
                               : ReadRunConfig(arguments.config, arguments.overrides);
  const bool single = config.wire.transport == "inproc";
  const int simulators = single ? 0 : config.sim.processes;
  const Share share = ShareOf(arguments, simulators + config.learner.processes);
  const TaskDescription task = DescribeTask(config);
  const Footprints footprints = MeasureFootprints(config, arguments.config, arguments.overrides);
  const RoleBudgets budgets = BudgetsOf(config, task, footprints);
  PrintPerEnv("simulator", budgets.simulator);
  PrintPerEnv("learner", budgets.learner(config.EnvsPerLearner(), config.learner.processes));
  PrintPlans(budgets, share);
  std::printf("\nthis configuration:\n");
  const std::vector<RoleNeed> needs = NeedsOf(config, budgets);
  double all = 0;
  for (const RoleNeed& need : needs) {
    std::printf("  %d x %s of %lld environments: %s each\n", need.count, need.name.c_str(),
                static_cast<long long>(need.envs), FormatBytes(need.Bytes()).c_str());
    all += need.count * need.Bytes();
  }
  std::printf("  together %s\n", FormatBytes(all).c_str());
  const bool fits = std::ranges::all_of(needs, [&](const RoleNeed& need) { return need.Bytes() <= share.bytes; });
  std::printf("  %s\n",
              fits ? "fits" : ("does not fit: a role takes more than its " + FormatBytes(share.bytes)).c_str());
  if (share.unit == "GPU") {
    std::printf("measured on CPUs; on a GPU its context and libraries come on top (some 0.5 GB)\n");
  }
  return kExitOk;
}

}  // namespace gripstream
