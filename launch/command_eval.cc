// gripstream eval: the fixed episode set with a trained policy.
#include <cstdio>

#include "launch/addresses.h"
#include "launch/checkpoints.h"
#include "launch/commands.h"
#include "launch/roles.h"
#include "launch/run_folder.h"
#include "launch/supervisor.h"

namespace gripstream {

int EvalCommand(const EvalArguments& arguments) {
  const auto [checkpoint, run_dir] = LocateCheckpoint(arguments.checkpoint);
  const RunConfig config = OpenRunFolder(run_dir, arguments.overrides);
  DescribeTask(config);
  std::printf("evaluating %s\n", checkpoint.c_str());
  std::fflush(stdout);
  std::vector<std::string> learner = {"--evaluate", checkpoint};
  if (!arguments.json_path.empty()) learner.insert(learner.end(), {"--json", arguments.json_path});
  return RunRoles(config, learner, BesideTheRun(config, arguments.overrides));
}

}  // namespace gripstream
