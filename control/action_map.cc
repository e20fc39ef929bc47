// The list of action maps. A new one is added here and nowhere else; `Choice` in action_config.h names them too.
#include "control/action_map.h"

#include "control/fabric_map.h"
#include "control/joint_targets.h"
#include "control/palm_pose.h"
#include "core/error.h"

namespace gripstream {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<ActionMap> (*make)(const ActionSetup&, const RobotModel&);
};

constexpr Entry kMaps[] = {
    {"palm_pose", &MakePalmPose},
    {"joint_targets", &MakeJointTargets},
    {"fabric", &MakeFabricMap},
};

}  // namespace

const std::vector<std::string>& ActionMapNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Entry& entry : kMaps) all.emplace_back(entry.name);
    return all;
  }();
  return names;
}

std::unique_ptr<ActionMap> MakeActionMap(const ActionSetup& setup, const RobotModel& robot) {
  std::string known;
  for (const Entry& entry : kMaps) {
    if (setup.config.map == entry.name) return entry.make(setup, robot);
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw InputError("task", "task.action.map", setup.config.map, "one of " + known);
}

}  // namespace gripstream
