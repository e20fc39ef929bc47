// Resolves the names of a task's configuration in a model. Pure; thread-safe.
#pragma once

#include <string>

#include "envs/config.h"
#include "envs/model.h"

namespace gripstream {

// Throws InputError naming `path`, the key, the wrong name, the nearest one and what there is.
RobotBinding Bind(const mjModel* model, const TaskConfig& config, const std::string& path);

}  // namespace gripstream
