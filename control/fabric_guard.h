// The last word on a fabric's accelerations: no joint passes a limit and no body sphere enters a box of the world.
//
// A state is safe when braking every joint with its full acceleration, until it stands, meets no limit and no box. The
// guard lets an acceleration through when the state that it leads to is safe; otherwise the joints concerned brake,
// which is safe because the last state was. So from a safe start, rest for instance, every later state is safe. Whether
// braking would meet a box is judged by a bound on how far each sphere can still travel, along as many postures on the
// way as that needs. A sphere that starts inside a box is left alone until the fabric has driven it out.
//
// Inline, no allocation, host and device; nothing throws.
#pragma once

#include <cmath>
#include <cstdint>

#include "control/fabric_model.h"
#include "control/fabric_sweep.h"

namespace gripstream {

static_assert(kMaxFabricJoints <= 32, "sets of joints are bits of a uint32_t");

inline constexpr int kMaxBrakingPostures = 64;

// The acceleration that brings `speed` to rest as fast as the limit allows, and not past it.
GS_HOST_DEVICE inline double Braking(double speed, double limit, double dt) {
  const double needed = speed / dt;
  return needed > limit ? -limit : needed < -limit ? limit : -needed;
}

// How far a joint still travels while it brakes from `speed` in steps of dt.
GS_HOST_DEVICE inline double StopTravel(double speed, double limit, double dt) {
  const double v = std::abs(speed);
  const double last = v - std::floor(v / (limit * dt)) * limit * dt;
  return (v * v - last * last) / (2 * limit) + 0.5 * dt * last;
}

// Joints whose acceleration would take them where they can no longer stop before their limit brake instead.
GS_HOST_DEVICE inline void GuardLimits(const FabricModel& model, const double* q, const double* qd,
                                       double* acceleration) {
  constexpr double kSlack = 1e-9;  // rad, for rounding
  const double dt = model.dt_s;
  for (int j = 0; j < model.joints; ++j) {
    const double next = q[j] + dt * qd[j] + 0.5 * dt * dt * acceleration[j];
    const double speed = qd[j] + dt * acceleration[j];
    const double stop = StopTravel(speed, model.acceleration[j], dt);
    const bool above = next + (speed > 0 ? stop : 0) > model.upper[j] - kSlack && (speed > 0 || next > q[j]);
    const bool below = next - (speed < 0 ? stop : 0) < model.lower[j] + kSlack && (speed < 0 || next < q[j]);
    if (above || below) acceleration[j] = Braking(qd[j], model.acceleration[j], dt);
  }
}

// Distance of a sphere to the nearest box, surface to surface, no greater than `reach`.
GS_HOST_DEVICE inline double NearestBox(const FabricModel& model, Vec3 c, double radius, double reach) {
  const double p[3] = {c.x, c.y, c.z};
  double least = (reach + radius) * (reach + radius);
  for (int b = 0; b < model.boxes; ++b) {
    double square = 0;
    for (int k = 0; k < 3; ++k) {
      const double below = model.box[b].low[k] - p[k], above = p[k] - model.box[b].high[k];
      const double out = below > above ? below : above;
      square += out > 0 ? out * out : 0;
    }
    if (square < least) least = square;
  }
  return std::sqrt(least) - radius;
}

// How far sphere i can travel at most while the joints travel as given.
GS_HOST_DEVICE inline double SphereTravel(const FabricModel& model, int i, const double* travel) {
  double sum = 0;
  for (int j = 0; j < model.joints; ++j) sum += model.sphere[i].lever[j] * travel[j];
  return sum;
}

// One step of braking every joint; adds what each travels to `travelled`.
GS_HOST_DEVICE inline void BrakeStep(const FabricModel& model, double* q, double* qd, double* travelled) {
  const double dt = model.dt_s;
  for (int j = 0; j < model.joints; ++j) {
    const double a = Braking(qd[j], model.acceleration[j], dt);
    const double way = dt * qd[j] + 0.5 * dt * dt * a;
    q[j] += way;
    qd[j] += dt * a;
    travelled[j] += std::abs(way);
  }
}

// Whether every sphere of `spheres` has more room than the joints' travel can take from it.
GS_HOST_DEVICE inline bool HaveRoom(const FabricModel& model, uint64_t spheres, const double* room,
                                    const double* travel) {
  for (int i = 0; i < model.spheres; ++i) {
    if ((spheres >> i & 1) != 0 && room[i] <= SphereTravel(model, i, travel)) return false;
  }
  return true;
}

// A bit per sphere whose braking from (q, qd) is not known to be clear of the boxes. Postures on the way are looked at
// only where the room found at the last one could have been used up.
GS_HOST_DEVICE inline uint64_t UnsafeSpheres(const FabricModel& model, uint64_t watched, const double* margin,
                                             const double* q0, const double* qd0, FabricPose* pose) {
  const int n = model.joints;
  double q[kMaxFabricJoints], qd[kMaxFabricJoints], travel[kMaxFabricJoints], room[kMaxFabricSpheres];
  for (int j = 0; j < n; ++j) q[j] = q0[j], qd[j] = qd0[j];
  for (int posture = 0; posture < kMaxBrakingPostures; ++posture) {
    for (int j = 0; j < n; ++j) travel[j] = StopTravel(qd[j], model.acceleration[j], model.dt_s);
    FabricPoses(model, q, pose);
    uint64_t open = 0, hit = 0;
    for (int i = 0; i < model.spheres; ++i) {
      if ((watched >> i & 1) == 0) continue;
      const FabricSphere& sphere = model.sphere[i];
      const Vec3 c = pose[sphere.link].origin + pose[sphere.link].rotation * sphere.offset;
      room[i] = NearestBox(model, c, sphere.radius, model.engage) - margin[i];
      if (room[i] <= 0) hit |= uint64_t{1} << i;
      if (room[i] < SphereTravel(model, i, travel)) open |= uint64_t{1} << i;
    }
    if (hit != 0) return hit;
    if (open == 0) return 0;
    watched = open;
    for (int j = 0; j < n; ++j) travel[j] = 0;
    int steps = 0;
    do {
      BrakeStep(model, q, qd, travel);
    } while (++steps < kMaxBrakingPostures && HaveRoom(model, watched, room, travel));
  }
  return watched;
}

// Spheres that may meet a box when `acceleration` is taken, out of `watched`; first by a bound from where they are.
GS_HOST_DEVICE inline uint64_t ThreatenedSpheres(const FabricModel& model, uint64_t watched, const double* distance,
                                                 const double* margin, const double* q, const double* qd,
                                                 const double* acceleration, FabricPose* pose) {
  const double dt = model.dt_s;
  double next[kMaxFabricJoints], speed[kMaxFabricJoints], travel[kMaxFabricJoints];
  for (int j = 0; j < model.joints; ++j) {
    next[j] = q[j] + dt * qd[j] + 0.5 * dt * dt * acceleration[j];
    speed[j] = qd[j] + dt * acceleration[j];
    travel[j] = std::abs(next[j] - q[j]) + StopTravel(speed[j], model.acceleration[j], dt);
  }
  uint64_t near = 0;
  for (int i = 0; i < model.spheres; ++i) {
    if ((watched >> i & 1) != 0 && distance[i] - margin[i] < SphereTravel(model, i, travel)) near |= uint64_t{1} << i;
  }
  return near == 0 ? 0 : UnsafeSpheres(model, near, margin, next, speed, pose);
}

// The joints that move the given spheres.
GS_HOST_DEVICE inline uint32_t JointsOf(const FabricModel& model, uint64_t spheres) {
  uint32_t joints = 0;
  for (int i = 0; i < model.spheres; ++i) {
    for (int j = 0; (spheres >> i & 1) != 0 && j < model.joints; ++j) {
      if (model.sphere[i].lever[j] > 0) joints |= uint32_t{1} << j;
    }
  }
  return joints;
}

// `distance`: of each sphere to the nearest box at q, at most model.engage. `pose` is scratch.
GS_HOST_DEVICE inline void GuardFabric(const FabricModel& model, const double* distance, const double* q,
                                       const double* qd, double* acceleration, FabricPose* pose) {
  GuardLimits(model, q, qd, acceleration);
  double margin[kMaxFabricSpheres];
  uint64_t watched = 0;
  for (int i = 0; i < model.spheres; ++i) {
    // Nearer than the margin a sphere may still move, with half of what is left.
    margin[i] = 0.5 * distance[i] < model.guard_margin ? 0.5 * distance[i] : model.guard_margin;
    if (distance[i] > 0) watched |= uint64_t{1} << i;
  }
  for (;;) {
    const uint64_t unsafe = ThreatenedSpheres(model, watched, distance, margin, q, qd, acceleration, pose);
    if (unsafe == 0) return;
    const uint32_t joints = JointsOf(model, unsafe);
    for (int j = 0; j < model.joints; ++j) {
      if ((joints >> j & 1) != 0) acceleration[j] = Braking(qd[j], model.acceleration[j], model.dt_s);
    }
    watched &= ~unsafe;  // their whole chain brakes now, which the last state was safe for
  }
}

}  // namespace gripstream
