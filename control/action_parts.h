// What several action maps read from their configuration. Pure; throws InputError naming the key.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "control/action_config.h"
#include "control/robot_model.h"
#include "control/synergies.h"

namespace gripstream {

// action.rest, or the home posture when it is empty.
std::vector<double> RestPosture(const ActionConfig& config, const RobotModel& robot);

// Pose and synergies in one list; synergies that are not given are constants, those of the hand's rest posture.
std::vector<double> WithSynergies(std::vector<double> pose, const std::vector<double>& given,
                                  const HandSynergies& synergies, std::span<const double> hand_rest,
                                  const std::string& key);

}  // namespace gripstream
