// gripstream synergies: fits hand synergies to grasps of a configuration's training objects.
#include <cstdio>

#include "core/files.h"
#include "envs/synergy_fit.h"
#include "launch/commands.h"
#include "launch/run_config.h"

namespace gripstream {

int SynergiesCommand(const SynergiesArguments& arguments) {
  const RunConfig config = ReadRunConfig(arguments.config, arguments.overrides);
  SynergyFitOptions options;
  options.seed = arguments.seed;
  options.components = arguments.components;
  options.trials = arguments.trials;
  const SynergyTable table = FitSynergies(config.task, options);
  WriteFileAtomically(arguments.output, table.ToText());
  std::printf("%d directions over %d joints from %d postures hold %.1f %% of their variation: %s\n", table.Count(),
              table.joints, table.postures, 100 * table.share, arguments.output.c_str());
  return 0;
}

}  // namespace gripstream
