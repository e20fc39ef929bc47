// gripstream eval: the fixed episode set with a trained policy.
#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "launch/checkpoints.h"
#include "launch/commands.h"
#include "launch/roles.h"
#include "launch/run_folder.h"
#include "launch/supervisor.h"

namespace gripstream {

int EvalCommand(const EvalArguments& arguments) {
  namespace fs = std::filesystem;
  std::string checkpoint = arguments.checkpoint, run_dir;
  if (fs::is_directory(checkpoint)) {
    run_dir = checkpoint;
    checkpoint = NewestCheckpoint(run_dir);
  } else {
    if (!fs::exists(checkpoint)) throw InputError(checkpoint, "no such checkpoint or run folder");
    run_dir = fs::absolute(checkpoint).parent_path().parent_path().string();
  }
  const RunConfig config = OpenRunFolder(run_dir, arguments.overrides);
  DescribeTask(config);
  std::printf("evaluating %s\n", checkpoint.c_str());
  std::fflush(stdout);
  std::vector<std::string> learner = {"--evaluate", checkpoint};
  if (!arguments.json_path.empty()) learner.insert(learner.end(), {"--json", arguments.json_path});
  return RunRoles(config, learner, arguments.overrides);
}

}  // namespace gripstream
