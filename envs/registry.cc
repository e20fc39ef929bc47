// The lists of tasks and action maps. A new one is added here and nowhere else; `Choice` in config.h names them too.
#include "core/error.h"
#include "envs/action_map.h"
#include "envs/fabric_map.h"
#include "envs/grasp.h"
#include "envs/joint_targets.h"
#include "envs/library_task.h"
#include "envs/palm_pose.h"
#include "envs/reach.h"
#include "envs/task.h"

namespace gripstream {
namespace {

struct TaskEntry {
  const char* name;
  std::unique_ptr<Task> (*make)(const TaskConfig&, const RobotBinding&);
};

constexpr TaskEntry kTasks[] = {
    {"reach", &MakeReach},
    {"grasp", &MakeGrasp},
};

struct ActionMapEntry {
  const char* name;
  std::unique_ptr<ActionMap> (*make)(const ActionConfig&, const RobotBinding&);
};

constexpr ActionMapEntry kActionMaps[] = {
    {"palm_pose", &MakePalmPose},
    {"joint_targets", &MakeJointTargets},
    {"fabric", &MakeFabricMap},
};

template <class Entries>
std::vector<std::string> NamesOf(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

const std::vector<std::string>& TaskNames() {
  static const std::vector<std::string> names = NamesOf(kTasks);
  return names;
}

const std::vector<std::string>& ActionMapNames() {
  static const std::vector<std::string> names = NamesOf(kActionMaps);
  return names;
}

std::unique_ptr<Task> MakeTask(const TaskConfig& config, const RobotBinding& robot) {
  if (config.name == "library") return MakeLibraryTask(config);
  if (!config.library.empty() || !config.settings.empty()) {
    const bool library = !config.library.empty();
    throw InputError("task", library ? "task.library" : "task.settings", library ? config.library : config.settings[0],
                     "nothing, or task.name: library");
  }
  for (const TaskEntry& entry : kTasks) {
    if (config.name == entry.name) return entry.make(config, robot);
  }
  throw InputError("task", "task.name", config.name, "one of " + Joined(TaskNames()));
}

std::unique_ptr<ActionMap> MakeActionMap(const ActionConfig& config, const RobotBinding& robot) {
  for (const ActionMapEntry& entry : kActionMaps) {
    if (config.map == entry.name) return entry.make(config, robot);
  }
  throw InputError("task", "task.action.map", config.map, "one of " + Joined(ActionMapNames()));
}

}  // namespace gripstream
