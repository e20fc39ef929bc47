// The body of fabric_avx512.cc and fabric_avx2.cc, which name their kernel GS_FABRIC_KERNEL.
#pragma once

#include "control/fabric_kernels.h"
#include "control/fabric_lanes.h"

namespace gripstream {
namespace {

static_assert(kLanes <= kMaxFabricLanes);

// Lane k is environment k; lanes without one repeat the last.
struct LaneEnvs {
  const FabricEnv* env[kLanes];
  int count;

  LaneEnvs(const FabricEnv* envs, int n) : count(n) {
    for (int k = 0; k < kLanes; ++k) env[k] = &envs[k < n ? k : n - 1];
  }
};

Lanes Load(const double* lanes) {
  Lanes out;
  __builtin_memcpy(&out.v, lanes, sizeof out.v);
  return out;
}

void Store(const Lanes& from, double* lanes) {
  __builtin_memcpy(lanes, &from.v, sizeof from.v);
}

Lanes Gather(const LaneEnvs& envs, double* FabricEnv::*row, int j) {
  double lanes[kLanes];
  for (int k = 0; k < kLanes; ++k) lanes[k] = (envs.env[k]->*row)[j];
  return Load(lanes);
}

void Scatter(const Lanes& from, const LaneEnvs& envs, double* FabricEnv::*row, int j) {
  double lanes[kLanes];
  Store(from, lanes);
  for (int k = 0; k < envs.count; ++k) (envs.env[k]->*row)[j] = lanes[k];
}

FabricTargetOf<Lanes> GatherTargets(const FabricModel& model, const LaneEnvs& envs, Lanes* synergies) {
  FabricTargetOf<Lanes> out;
  double palm[12][kLanes], lanes[kLanes];
  for (int k = 0; k < kLanes; ++k) {
    double numbers[12];
    PalmNumbers(envs.env[k]->target.palm, numbers);
    for (int i = 0; i < 12; ++i) palm[i][k] = numbers[i];
  }
  for (int i = 0; i < 9; ++i) out.rotation.m[i] = Load(palm[i]);
  out.origin = {Load(palm[9]), Load(palm[10]), Load(palm[11])};
  for (int s = 0; s < model.synergies; ++s) {
    for (int k = 0; k < kLanes; ++k) lanes[k] = envs.env[k]->target.synergies[s];
    synergies[s] = Load(lanes);
  }
  out.synergies = synergies;
  for (int k = 0; k < kLanes; ++k) lanes[k] = envs.env[k]->target.damping;
  out.damping = Load(lanes);
  return out;
}

// Lane k of `from`, or into it.
void GetLane(const Lanes* from, int n, int k, double* to) {
  for (int i = 0; i < n; ++i)
    __builtin_memcpy(&to[i], reinterpret_cast<const char*>(&from[i].v) + sizeof(double) * k, 8);
}
void SetLane(const double* from, int n, int k, Lanes* to) {
  for (int i = 0; i < n; ++i) __builtin_memcpy(reinterpret_cast<char*>(&to[i].v) + sizeof(double) * k, &from[i], 8);
}

// The guard against boxes, for the lanes that may meet one.
void GuardLanes(const FabricModel& model, const Lanes* q, const Lanes* qd, int count, FabricWork<Lanes>& work) {
  const unsigned near = BitsOf(MayMeetBoxes(model, work.box_distance, q, qd, work.acceleration));
  for (int k = 0; k < count; ++k) {
    if ((near >> k & 1) == 0) continue;
    double distance[kMaxFabricSpheres], one_q[kMaxFabricJoints], one_qd[kMaxFabricJoints], one[kMaxFabricJoints];
    GetLane(work.box_distance, model.spheres, k, distance);
    GetLane(q, model.joints, k, one_q);
    GetLane(qd, model.joints, k, one_qd);
    GetLane(work.acceleration, model.joints, k, one);
    GuardBoxesOfOne(model, distance, one_q, one_qd, one);
    SetLane(one, model.joints, k, work.acceleration);
  }
}

void StepLanes(const FabricModel& model, const FabricEnv* first, int count, int steps) {
  const LaneEnvs envs(first, count);
  Lanes q[kMaxFabricJoints], qd[kMaxFabricJoints], qdd[kMaxFabricJoints], synergies[kMaxFabricSynergies];
  for (int j = 0; j < model.joints; ++j) {
    q[j] = Gather(envs, &FabricEnv::q, j);
    qd[j] = Gather(envs, &FabricEnv::qd, j);
  }
  const FabricTargetOf<Lanes> target = GatherTargets(model, envs, synergies);
  FabricWork<Lanes> work;
  for (int step = 0; step < steps; ++step) {
    AccelerateFabric(model, target, q, qd, work);
    GuardLanes(model, q, qd, count, work);
    IntegrateFabric(model, work.acceleration, q, qd, qdd);
  }
  for (int j = 0; j < model.joints; ++j) {
    Scatter(q[j], envs, &FabricEnv::q, j);
    Scatter(qd[j], envs, &FabricEnv::qd, j);
    if (steps > 0) Scatter(qdd[j], envs, &FabricEnv::qdd, j);
  }
}

}  // namespace

const FabricKernel GS_FABRIC_KERNEL = {GS_FABRIC_NAME, kLanes, StepLanes};

}  // namespace gripstream
