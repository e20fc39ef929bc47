#include "envs/action_files.h"

#include "envs/shipped_files.h"

namespace gripstream {

SynergyTable ReadSynergyTable(const std::string& path, size_t hand_joints) {
  if (hand_joints == 0) return {};
  const std::string file = path.empty() ? ShippedFile("hand_synergies.yaml") : path;
  SynergyTable table;
  ConfigFile(file, std::vector<std::string>()).Read(table);
  CheckSynergyTable(table, file, hand_joints);
  return table;
}

ActionSetup ReadActionSetup(const TaskConfig& task, const RobotModel& robot) {
  ActionSetup setup{.config = task.action, .synergies = {}, .body = {}};
  const std::string& map = setup.config.map;
  if (map != "joint_targets") {
    const int hand_joints = robot.tree.Joints() - robot.arm_joints;
    setup.synergies = ReadSynergyTable(setup.config.synergies, static_cast<size_t>(hand_joints));
  }
  std::string& body = setup.config.fabric_body;
  if (task.model.empty() && body.empty()) body = ShippedFile("fabric_body.yaml");
  if (map == "fabric" && !body.empty()) ConfigFile(body, std::vector<std::string>()).Read(setup.body);
  return setup;
}

}  // namespace gripstream
