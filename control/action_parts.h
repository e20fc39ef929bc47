// What several action maps read from their configuration. Pure; throws InputError naming the key.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "control/action_config.h"
#include "control/action_ranges.h"
#include "control/robot_model.h"
#include "control/synergies.h"
#include "control/synergy_table.h"

namespace gripstream {

// action.rest, or the home posture when it is empty.
std::vector<double> RestPosture(const ActionConfig& config, const RobotModel& robot);

// The ranges of an action that is a palm pose and synergies. Limits of synergies that the configuration does not give
// are `fitted`; where there are none either, the synergies are constants, those of the hand's rest posture.
ActionRanges PalmAndSynergies(const ActionConfig& config, const SynergyTable& fitted, const HandSynergies& synergies,
                              std::span<const double> hand_rest);

}  // namespace gripstream
