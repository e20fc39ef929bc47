// The learner role's program: gripstream-learner CONFIG|RUN [--resume CHECKPOINT] [--evaluate CHECKPOINT].
#include "core/error.h"
#include "core/log.h"
#include "core/trace.h"
#include "launch/learner_role.h"
#include "launch/roles.h"

namespace gripstream {
namespace {

int Main(int argc, char** argv) {
  StartLog("learner");
  LearnerArguments arguments;
  if (!ParseLearnerArguments(argc, argv, arguments)) return kExitOk;
  const TraceSession session(arguments.trace, "learner " + std::to_string(arguments.rank));
  return RunLearnerRole(RoleConfig(arguments.path, arguments.overrides), arguments, nullptr);
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(gripstream::Main, argc, argv);
}
