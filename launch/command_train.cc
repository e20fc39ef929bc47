// gripstream train: check everything, make the run folder, start the roles.
#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "launch/checkpoints.h"
#include "launch/commands.h"
#include "launch/roles.h"
#include "launch/run_folder.h"
#include "launch/supervisor.h"
#include "wire/nccl_api.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

int Resume(const TrainArguments& arguments) {
  for (const std::string& assignment : arguments.overrides) {
    if (assignment.rfind("run.dir=", 0) == 0) {
      throw InputError("--set", "run.dir", assignment.substr(8), "nothing: a run goes on in its own folder");
    }
  }
  const RunConfig config = OpenRunFolder(arguments.resume, arguments.overrides);
  DescribeTask(config);
  const std::string checkpoint = NewestCheckpoint(arguments.resume);
  std::printf("resuming %s from %s\n", arguments.resume.c_str(), fs::path(checkpoint).filename().c_str());
  std::fflush(stdout);
  return RunRoles(config, {"--resume", checkpoint}, arguments.overrides, arguments.trace);
}

}  // namespace

int TrainCommand(const TrainArguments& arguments) {
  if (!arguments.trace.empty() && !fs::is_directory(fs::absolute(arguments.trace).parent_path())) {
    throw InputError("command line", "--trace", arguments.trace, "a file in a folder that is there");
  }
  if (!arguments.resume.empty()) return Resume(arguments);
  if (arguments.config.empty()) throw InputError("command line", "train needs a configuration or --resume RUN");
  RunConfig config = ReadRunConfig(arguments.config, arguments.overrides);
  // Names that are not in the model, and devices that are not there, are refused before anything is written.
  DescribeTask(config);
  if (config.wire.transport == "nccl") LoadNccl();
  CreateRunFolder(config, arguments.config, arguments.command_line);
  std::printf("run folder: %s\n", config.run.dir.c_str());
  std::fflush(stdout);
  const int code = RunRoles(config, {}, {}, arguments.trace);
  // Input that only a role could judge (an address in use): nothing half-made stays behind.
  if (code == kExitBadInput) RemoveUnusedRunFolder(config.run.dir);
  return code;
}

}  // namespace gripstream
