#include "sim_server/footprint.h"

#include <algorithm>

#include "core/process_memory.h"
#include "envs/env_batch.h"

namespace gripstream {
namespace {

constexpr int kMore = 16;  // environments of each group, beyond those of which every object has one

struct Parts {
  double environments = 0, cameras = 0;
  int objects = 1;
};

Parts Build(SimulatorOptions options, int envs_per_group, double& state) {
  options.index = 0;
  options.sim.processes = 1;
  options.sim.envs = options.groups * envs_per_group;
  options.sim.reserve_bytes_per_env = 0;
  Simulator simulator(options);
  simulator.WarmUp();
  Parts parts;
  for (const MemoryUse& use : simulator.Memory()) {
    if (use.part == kEnvironmentsPart) parts.environments += use.bytes;
    if (use.part == kCamerasPart) parts.cameras += use.bytes;
  }
  parts.objects = static_cast<int>(simulator.ObjectNames().size());
  state = static_cast<double>(simulator.Envs(0).StateBytes());
  return parts;
}

}  // namespace

SimulatorFootprint MeasureSimulator(const SimulatorOptions& options) {
  SimulatorFootprint out;
  // Environments take objects in turn, and each object has a model of its own: what is made once per process or object
  // is made before the line begins.
  const int objects = Build(options, 1, out.state).objects;
  const int most = std::max(1, options.sim.envs / options.groups), begin = std::min(objects, most);
  const Parts few = Build(options, begin, out.state), many = Build(options, begin + kMore, out.state);
  const double more = options.groups * kMore;
  out.environment = std::max(0.0, many.environments - few.environments) / more;
  out.camera = std::max(0.0, many.cameras - few.cameras) / more;
  out.models = std::max(0.0, few.environments - out.environment * options.groups * begin);
  out.cameras = std::max(0.0, few.cameras - out.camera * options.groups * begin);
  ReleaseFreeHeap();
  out.program = static_cast<double>(OwnMemory().anonymous_bytes);
  return out;
}

}  // namespace gripstream
