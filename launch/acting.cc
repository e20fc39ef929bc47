#include "launch/acting.h"

#include "sim_server/acting/policy_actor.h"

namespace gripstream {

std::unique_ptr<Actor> MakeActor(const RunConfig& config, const Simulator& simulator) {
  return std::make_unique<PolicyActor>(config.policy, simulator.RecordSpecs(),
                                       static_cast<int>(simulator.ActionSpec().Elements()), config.run.seed,
                                       simulator.Envs(), config.ppo.threads);
}

}  // namespace gripstream
