// The list of tasks. A new one is added here and nowhere else.
#include "core/error.h"
#include "envs/reach.h"
#include "envs/task.h"

namespace gripstream {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Task> (*make)(const TaskConfig&);
};

constexpr Entry kTasks[] = {
    {"reach", &MakeReach},
};

}  // namespace

const std::vector<std::string>& TaskNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Entry& entry : kTasks) list.emplace_back(entry.name);
    return list;
  }();
  return names;
}

std::unique_ptr<Task> MakeTask(const TaskConfig& config) {
  for (const Entry& entry : kTasks) {
    if (config.name == entry.name) return entry.make(config);
  }
  throw InputError("task", "task.name", config.name, "a task of the registry");
}

}  // namespace gripstream
