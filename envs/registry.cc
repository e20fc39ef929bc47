// The list of tasks. A new one is added here and nowhere else; `Choice` in config.h names them too.
#include "core/error.h"
#include "envs/grasp.h"
#include "envs/library_task.h"
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

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (const TaskEntry& entry : kTasks) names.emplace_back(entry.name);
  return names;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

const std::vector<std::string>& TaskNames() {
  static const std::vector<std::string> names = AllNames();
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

}  // namespace gripstream
