#include "control/action_parts.h"

#include "core/error.h"

namespace gripstream {
namespace {

// Pose and synergies in one list.
std::vector<double> WithSynergies(std::vector<double> pose, const std::vector<double>& given,
                                  const HandSynergies& synergies, std::span<const double> hand_rest,
                                  const std::string& key) {
  std::vector<double> coordinates(static_cast<size_t>(synergies.Count()));
  synergies.Project(hand_rest, coordinates);
  if (!given.empty() && given.size() != coordinates.size())
    throw InputError("task", key, std::to_string(given.size()) + " numbers",
                     std::to_string(coordinates.size()) + ", one per synergy");
  if (!given.empty()) coordinates = given;
  pose.insert(pose.end(), coordinates.begin(), coordinates.end());
  return pose;
}

}  // namespace

std::vector<double> RestPosture(const ActionConfig& config, const RobotModel& robot) {
  const size_t joints = static_cast<size_t>(robot.tree.Joints());
  if (config.rest.empty()) return robot.home;
  if (config.rest.size() != joints)
    throw InputError("task", "action.rest", std::to_string(config.rest.size()) + " numbers",
                     std::to_string(joints) + ", one per joint, or none for the home posture");
  return config.rest;
}

ActionRanges PalmAndSynergies(const ActionConfig& config, const SynergyTable& fitted, const HandSynergies& synergies,
                              std::span<const double> hand_rest) {
  const auto side = [&](const std::vector<double>& palm, const std::vector<double>& given,
                        const std::vector<double>& otherwise, const char* key) {
    return WithSynergies(palm, given.empty() ? otherwise : given, synergies, hand_rest, key);
  };
  return {side(config.palm_low, config.synergy_low, fitted.low, "action.synergy_low"),
          side(config.palm_high, config.synergy_high, fitted.high, "action.synergy_high"), "action.palm_low"};
}

}  // namespace gripstream
