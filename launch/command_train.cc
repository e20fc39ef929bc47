// gripstream train: check everything, make the run folder, start the roles on this machine.
#include <filesystem>

#include "core/error.h"
#include "launch/commands.h"
#include "launch/prepare_run.h"
#include "launch/run_folder.h"
#include "launch/supervisor.h"

namespace gripstream {

int TrainCommand(const TrainArguments& arguments) {
  namespace fs = std::filesystem;
  if (!arguments.trace.empty() && !fs::is_directory(fs::absolute(arguments.trace).parent_path())) {
    throw InputError("command line", "--trace", arguments.trace, "a file in a folder that is there");
  }
  const PreparedRun run = PrepareRun(arguments, RunsOn::kThisMachine);
  const int code = RunRoles(run.config, run.learner_arguments, run.overrides, arguments.trace, run.planned);
  // Input that only a role could judge (an address in use): nothing half-made stays behind.
  if (code == kExitBadInput && run.fresh) RemoveUnusedRunFolder(run.config.run.dir);
  return code;
}

}  // namespace gripstream
