// The learner role's program: gripstream-learner CONFIG|RUN [--resume CHECKPOINT] [--evaluate CHECKPOINT].
#include <filesystem>

#include "core/error.h"
#include "core/log.h"
#include "core/trace.h"
#include "launch/learner_role.h"
#include "launch/roles.h"
#include "launch/run_folder.h"

namespace gripstream {
namespace {

// Without a run folder too: nothing is run.
RunConfig AnyConfig(const LearnerArguments& arguments) {
  return std::filesystem::is_directory(arguments.path) ? OpenRunFolder(arguments.path, arguments.overrides)
                                                       : ReadRunConfig(arguments.path, arguments.overrides);
}

int Main(int argc, char** argv) {
  StartLog("learner");
  LearnerArguments arguments;
  if (!ParseLearnerArguments(argc, argv, arguments)) return kExitOk;
  if (!arguments.footprint.empty()) return WriteLearnerFootprint(AnyConfig(arguments), arguments.footprint);
  const TraceSession session(arguments.trace, "learner " + std::to_string(arguments.rank));
  return RunLearnerRole(RoleConfig(arguments.path, arguments.overrides), arguments, nullptr);
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(gripstream::Main, argc, argv);
}
