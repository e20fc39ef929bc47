// The task of a shared library (task.library, envs/task_library.h) as a Task like any other.
#pragma once

#include <memory>

#include "envs/task.h"

namespace gripstream {

// Loads the library; it stays loaded for as long as the process lives. Throws InputError when it cannot be loaded, is
// of another interface, or refuses its settings.
std::unique_ptr<Task> MakeLibraryTask(const TaskConfig& config);

}  // namespace gripstream
