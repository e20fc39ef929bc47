#include "launch/prepare_run.h"

#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "core/files.h"
#include "launch/checkpoints.h"
#include "launch/memory_check.h"
#include "launch/roles.h"
#include "launch/run_folder.h"
#include "wire/nccl_api.h"

namespace gripstream {
namespace {

using Measured = std::optional<Footprints>;

// Names that are not in the model, devices that are not there and more than fits are refused before anything is
// written.
Measured Check(const RunConfig& config, const std::string& path, const std::vector<std::string>& overrides,
               RunsOn where) {
  const TaskDescription task = DescribeTask(config);
  return where == RunsOn::kThisMachine ? RequireRunFits(config, task, path, overrides) : std::nullopt;
}

// Once there is a folder: what its roles need not find out again. On other machines they must.
std::string TellRoles(const RunConfig& config, const Measured& measured, RunsOn where) {
  if (where != RunsOn::kThisMachine) return "";
  if (!measured) return kSmallRun;
  const std::string path = config.run.dir + "/footprints.json";
  WriteFileAtomically(path, ToJson(*measured));
  return path;
}

PreparedRun PrepareResume(const TrainArguments& arguments, RunsOn where) {
  for (const std::string& assignment : arguments.overrides) {
    if (assignment.rfind("run.dir=", 0) == 0) {
      throw InputError("--set", "run.dir", assignment.substr(8), "nothing: a run goes on in its own folder");
    }
  }
  PreparedRun run{OpenRunFolder(arguments.resume, arguments.overrides), {}, arguments.overrides, false};
  const Measured measured = Check(run.config, arguments.resume, arguments.overrides, where);
  const std::string checkpoint = NewestCheckpoint(arguments.resume);
  run.learner_arguments = {"--resume", checkpoint};
  run.planned = TellRoles(run.config, measured, where);
  std::printf("resuming %s from %s\n", arguments.resume.c_str(), std::filesystem::path(checkpoint).filename().c_str());
  std::fflush(stdout);
  return run;
}

}  // namespace

PreparedRun PrepareRun(const TrainArguments& arguments, RunsOn where) {
  if (!arguments.resume.empty()) return PrepareResume(arguments, where);
  if (arguments.config.empty()) throw InputError("command line", "a configuration or --resume RUN is needed");
  PreparedRun run{ReadRunConfig(arguments.config, arguments.overrides), {}, {}, true};
  const Measured measured = Check(run.config, arguments.config, arguments.overrides, where);
  if (run.config.wire.transport == "nccl") LoadNccl();
  CreateRunFolder(run.config, arguments.config, arguments.command_line);
  run.planned = TellRoles(run.config, measured, where);
  std::printf("run folder: %s\n", run.config.run.dir.c_str());
  std::fflush(stdout);
  return run;
}

}  // namespace gripstream
