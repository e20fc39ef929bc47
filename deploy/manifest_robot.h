// Between a manifest's lists and what control works with. Pure.
#pragma once

#include <string>

#include "control/action_map.h"
#include "control/robot_model.h"
#include "control/senses.h"
#include "deploy/manifest.h"

namespace gripstream {

ManifestChain ChainOf(const RobotModel& robot);
ManifestJoints JointsOf(const RobotModel& robot);

// Reads FOLDER/manifest.yaml and checks that its parts fit together. Throws InputError naming the file and the key.
Manifest ReadManifest(const std::string& folder);
// The checks alone; `file` is for messages.
void CheckManifest(const Manifest& manifest, const std::string& file);

// Of a manifest that has been checked.
RobotModel RobotOf(const Manifest& manifest);
ActionSetup ActionSetupOf(const Manifest& manifest);
// Throws InputError for a policy that is told what only a simulator knows.
ProprioRule ProprioRuleOf(const Manifest& manifest, const std::string& file);
int ProprioSize(const Manifest& manifest);

}  // namespace gripstream
