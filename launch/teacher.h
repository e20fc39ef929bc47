// The teacher of a distillation: a policy of another run, checked to see here what it saw there.
#pragma once

#include "distill/distiller.h"
#include "launch/roles.h"
#include "launch/run_config.h"

namespace gripstream {

// Reads distill.teacher. Throws InputError naming what differs when the record of this run does not hold what the
// teacher was trained on, part by part, or when its checkpoint does not fit its own configuration.
Teacher LoadTeacher(const RunConfig& config, const TaskDescription& task);

}  // namespace gripstream
