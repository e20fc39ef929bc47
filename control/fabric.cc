#include "control/fabric.h"

#include <algorithm>

#include "control/fabric_kernels.h"

namespace gripstream {
namespace {

void StepOne(const FabricModel& model, const FabricEnv* envs, int count, int steps) {
  FabricWork<double> work;
  for (const FabricEnv& env : std::span(envs, static_cast<size_t>(count))) {
    const FabricTargetOf<double> target = OneTarget(env.target);
    for (int step = 0; step < steps; ++step) StepFabric(model, target, env.q, env.qd, env.qdd, work);
  }
}

constexpr FabricKernel kPlain = {"plain", 1, StepOne};

std::vector<FabricKernel> FindKernels() {
  std::vector<FabricKernel> kernels;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    kernels.push_back(kFabricAvx512);
  if (__builtin_cpu_supports("avx2")) kernels.push_back(kFabricAvx2);
  kernels.push_back(kPlain);
  return kernels;
}

}  // namespace

const std::vector<FabricKernel>& FabricKernels() {
  static const std::vector<FabricKernel> kernels = FindKernels();
  return kernels;
}

void PalmNumbers(const Transform& palm, double* twelve) {
  const Vec3 x = Rotate(palm.quat, {1, 0, 0}), y = Rotate(palm.quat, {0, 1, 0}), z = Rotate(palm.quat, {0, 0, 1});
  const double numbers[12] = {x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z, palm.pos.x, palm.pos.y, palm.pos.z};
  std::copy_n(numbers, 12, twelve);
}

FabricTargetOf<double> OneTarget(const FabricTarget& target) {
  FabricTargetOf<double> out{.synergies = target.synergies, .damping = target.damping};
  double palm[12];
  PalmNumbers(target.palm, palm);
  std::copy_n(palm, 9, out.rotation.m);
  out.origin = {palm[9], palm[10], palm[11]};
  return out;
}

void GuardBoxesOfOne(const FabricModel& model, const double* distance, const double* q, const double* qd,
                     double* acceleration) {
  FabricPose<double> pose[kMaxFabricJoints];
  GuardBoxes(model, distance, q, qd, acceleration, pose);
}

void StepFabrics(const FabricModel& model, std::span<const FabricEnv> envs, int steps) {
  const std::vector<FabricKernel>& kernels = FabricKernels();
  const FabricKernel& wide = kernels.front();
  for (size_t begin = 0; begin < envs.size();) {
    const int count = static_cast<int>(std::min(envs.size() - begin, static_cast<size_t>(wide.lanes)));
    (count == 1 ? kernels.back() : wide).step(model, &envs[begin], count, steps);
    begin += static_cast<size_t>(count);
  }
}

}  // namespace gripstream
