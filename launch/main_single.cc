// Learner and simulator in one process over the inproc transport: the reference that every other way of running must
// equal, and the unit of data parallelism.
#include <memory>
#include <thread>

#include "core/error.h"
#include "core/log.h"
#include "core/trace.h"
#include "launch/acting.h"
#include "launch/learner_role.h"
#include "launch/roles.h"

namespace gripstream {
namespace {

std::unique_ptr<std::jthread> simulator;

void StartSimulatorThread(const RunConfig& config, int index, const MemoryBudget& plan) {
  simulator = std::make_unique<std::jthread>([config, index, plan] {
    NameTraceThread("simulator " + std::to_string(index));
    try {
      ServeSimulator(config, {.index = index}, MakeActor, plan);
    } catch (const std::exception& error) {
      // The learner has been told over the wire, and ends the run.
      LogError("simulator thread: ", error.what());
    }
  });
}

int Main(int argc, char** argv) {
  StartLog("single");
  LearnerArguments arguments;
  if (!ParseLearnerArguments(argc, argv, arguments)) return kExitOk;
  const TraceSession session(arguments.trace, "learner " + std::to_string(arguments.rank));
  const RunConfig config = RoleConfig(arguments.path, arguments.overrides);
  if (config.wire.transport != "inproc") {
    throw InputError(arguments.path, "wire.transport", config.wire.transport, "inproc for this program");
  }
  const int code = RunLearnerRole(
      config, arguments, [&](const MemoryBudget& plan) { StartSimulatorThread(config, arguments.rank, plan); });
  simulator.reset();
  return code;
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  const int code = gripstream::RunMain(gripstream::Main, argc, argv);
  gripstream::simulator.reset();  // after a failure the wire is closed, so the thread ends too
  return code;
}
