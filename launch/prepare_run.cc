#include "launch/prepare_run.h"

#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "launch/checkpoints.h"
#include "launch/memory_check.h"
#include "launch/roles.h"
#include "launch/run_folder.h"
#include "wire/nccl_api.h"

namespace gripstream {
namespace {

// Names that are not in the model, devices that are not there and more than fits are refused before anything is
// written.
void Check(const RunConfig& config, const std::string& path, const std::vector<std::string>& overrides, RunsOn where) {
  const TaskDescription task = DescribeTask(config);
  if (where == RunsOn::kThisMachine) RequireRunFits(config, task, path, overrides);
}

PreparedRun PrepareResume(const TrainArguments& arguments, RunsOn where) {
  for (const std::string& assignment : arguments.overrides) {
    if (assignment.rfind("run.dir=", 0) == 0) {
      throw InputError("--set", "run.dir", assignment.substr(8), "nothing: a run goes on in its own folder");
    }
  }
  PreparedRun run{OpenRunFolder(arguments.resume, arguments.overrides), {}, arguments.overrides, false};
  Check(run.config, arguments.resume, arguments.overrides, where);
  const std::string checkpoint = NewestCheckpoint(arguments.resume);
  run.learner_arguments = {"--resume", checkpoint};
  std::printf("resuming %s from %s\n", arguments.resume.c_str(), std::filesystem::path(checkpoint).filename().c_str());
  std::fflush(stdout);
  return run;
}

}  // namespace

PreparedRun PrepareRun(const TrainArguments& arguments, RunsOn where) {
  if (!arguments.resume.empty()) return PrepareResume(arguments, where);
  if (arguments.config.empty()) throw InputError("command line", "a configuration or --resume RUN is needed");
  PreparedRun run{ReadRunConfig(arguments.config, arguments.overrides), {}, {}, true};
  Check(run.config, arguments.config, arguments.overrides, where);
  if (run.config.wire.transport == "nccl") LoadNccl();
  CreateRunFolder(run.config, arguments.config, arguments.command_line);
  std::printf("run folder: %s\n", run.config.run.dir.c_str());
  std::fflush(stdout);
  return run;
}

}  // namespace gripstream
