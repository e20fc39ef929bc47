#include "control/fabric.h"

#include "core/error.h"

namespace gripstream {

void StepFabrics(const FabricModel& model, std::span<const FabricTarget> targets, int steps, std::span<double> q,
                 std::span<double> qd, std::span<double> qdd) {
  const size_t joints = static_cast<size_t>(model.joints), all = joints * targets.size();
  GS_CHECK(q.size() == all && qd.size() == all && qdd.size() == all, "one row of joints per environment");
  FabricWork work;
  for (size_t env = 0; env < targets.size(); ++env) {
    const size_t row = env * joints;
    for (int step = 0; step < steps; ++step) StepFabric(model, targets[env], &q[row], &qd[row], &qdd[row], work);
  }
}

}  // namespace gripstream
