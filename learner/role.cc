#include "learner/role.h"

#include <cstdio>

#include "core/error.h"
#include "learner/training_run.h"

namespace gripstream {

void CheckCheckpoint(const LearnerRoleOptions&) {}
int Train(LearnerEnd& wire, const LearnerRoleOptions& options) { return TrainingRun(wire, options).Run(); }
int EvaluateCheckpoint(LearnerEnd&, const LearnerRoleOptions&, const std::string&) { return 0; }
void TrainingRun::SaveCheckpoint() { saved_iteration_ = iteration_; }
void TrainingRun::Resume() {}

}  // namespace gripstream
