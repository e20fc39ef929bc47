// What a manifest says of a task's robot: rates, kinematics, action map, proprioception. Throws InputError for files
// that the task names and that cannot be read.
#pragma once

#include "deploy/manifest.h"
#include "envs/env_batch.h"

namespace gripstream {

// Fills control, task, joints, chain, action, synergies, fabric_body, proprio and state; `level` in [0, 1] is the
// curriculum's at which the policy is to be used.
void DescribeTaskIn(Manifest& manifest, const TaskConfig& task, const EnvBatch& envs, double level);

}  // namespace gripstream
