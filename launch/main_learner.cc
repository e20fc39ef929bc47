// The learner role's program: gripstream-learner CONFIG|RUN [--resume CHECKPOINT] [--evaluate CHECKPOINT].
#include "core/error.h"
#include "core/log.h"
#include "launch/learner_role.h"
#include "launch/roles.h"

namespace gripstream {
namespace {

int Main(int argc, char** argv) {
  StartLog("learner");
  LearnerArguments arguments;
  if (!ParseLearnerArguments(argc, argv, arguments)) return kExitOk;
  return RunLearnerRole(RoleConfig(arguments.path, arguments.overrides), arguments, nullptr);
}

}  // namespace
}  // namespace gripstream

int main(int argc, char** argv) {
  return gripstream::RunMain(gripstream::Main, argc, argv);
}
