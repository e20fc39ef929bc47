// The last word on a fabric's accelerations: no joint passes a limit and no body sphere enters a box of the world.
//
// A state is safe when braking every joint with its full acceleration, until it stands, meets no limit and no box. The
// guard lets an acceleration through when the state that it leads to is safe; otherwise the joints concerned brake,
// which is safe because the last state was. So from a safe start, rest for instance, every later state is safe. Whether
// braking would meet a box is judged by a bound on how far each sphere can still travel, along as many postures on the
// way as that needs. A sphere that starts inside a box is left alone until the fabric has driven it out.
//
// The limits are guarded for all lanes at once; boxes, which few environments are ever near, for one environment at a
// time. Inline, no allocation, host and device; nothing throws.
#pragma once

#include <cstdint>

#include "control/fabric_sweep.h"

namespace gripstream {

static_assert(kMaxFabricJoints <= 32, "sets of joints are bits of a uint32_t");

inline constexpr int kMaxBrakingPostures = 64;

// The acceleration that brings `speed` to rest as fast as the limit allows, and not past it.
template <class R>
GS_HOST_DEVICE inline R Braking(const R& speed, double limit, double dt) {
  const R needed = speed / dt;
  return Select(needed > limit, R(-limit), Select(needed < -limit, R(limit), -needed));
}

// How far a joint still travels while it brakes from `speed` in steps of dt.
template <class R>
GS_HOST_DEVICE inline R StopTravel(const R& speed, double limit, double dt) {
  const R v = Abs(speed);
  const R last = v - Floor(v / (limit * dt)) * limit * dt;
  return (v * v - last * last) / (2 * limit) + 0.5 * dt * last;
}

// Joints whose acceleration would take them where they can no longer stop before their limit brake instead.
template <class R>
GS_HOST_DEVICE inline void GuardLimits(const FabricModel& model, const R* q, const R* qd, R* acceleration) {
  constexpr double kSlack = 1e-9;  // rad, for rounding
  const double dt = model.dt_s;
  for (int j = 0; j < model.joints; ++j) {
    const R next = q[j] + dt * qd[j] + 0.5 * dt * dt * acceleration[j];
    const R speed = qd[j] + dt * acceleration[j];
    const R stop = StopTravel(speed, model.acceleration[j], dt);
    const auto rises = speed > 0.0, falls = speed < 0.0;
    const auto above = next + Select(rises, stop, R(0)) > model.upper[j] - kSlack && (rises || next > q[j]);
    const auto below = next - Select(falls, stop, R(0)) < model.lower[j] + kSlack && (falls || next < q[j]);
    acceleration[j] = Select(above || below, Braking(qd[j], model.acceleration[j], dt), acceleration[j]);
  }
}

// Distance of a sphere to the nearest box, surface to surface, no greater than `reach`.
GS_HOST_DEVICE inline double NearestBox(const FabricModel& model, const V3<double>& c, double radius, double reach) {
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
  return Sqrt(least) - radius;
}

// How far sphere i can travel at most while the joints travel as given.
template <class R>
GS_HOST_DEVICE inline R SphereTravel(const FabricModel& model, int i, const R* travel) {
  R sum = R(0);
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
    travelled[j] += Abs(way);
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
                                             const double* q0, const double* qd0, FabricPose<double>* pose) {
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
      const V3<double> c = pose[sphere.link].origin + pose[sphere.link].rotation * sphere.offset;
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

// Nearer to a box than this a sphere may still move with half of what is left.
template <class R>
GS_HOST_DEVICE inline R GuardMargin(const FabricModel& model, const R& distance) {
  return Select(0.5 * distance < model.guard_margin, 0.5 * distance, R(model.guard_margin));
}

// Where a step with `acceleration` leads, and how far each joint travels until it stands when it brakes from there.
template <class R>
GS_HOST_DEVICE inline void StepAndStop(const FabricModel& model, const R* q, const R* qd, const R* acceleration,
                                       R* next, R* speed, R* travel) {
  const double dt = model.dt_s;
  for (int j = 0; j < model.joints; ++j) {
    next[j] = q[j] + dt * qd[j] + 0.5 * dt * dt * acceleration[j];
    speed[j] = qd[j] + dt * acceleration[j];
    travel[j] = Abs(next[j] - q[j]) + StopTravel(speed[j], model.acceleration[j], dt);
  }
}

// Whether the boxes may threaten any sphere at all when `acceleration` is taken, by a bound from where the spheres are:
// where not, GuardBoxes would change nothing.
template <class R>
GS_HOST_DEVICE inline auto MayMeetBoxes(const FabricModel& model, const R* distance, const R* q, const R* qd,
                                        const R* acceleration) {
  R next[kMaxFabricJoints], speed[kMaxFabricJoints], travel[kMaxFabricJoints];
  StepAndStop(model, q, qd, acceleration, next, speed, travel);
  auto near = R(1) < R(0);
  for (int i = 0; i < model.spheres; ++i) {
    const auto watched = distance[i] > 0.0;
    near = near || (watched && distance[i] - GuardMargin(model, distance[i]) < SphereTravel(model, i, travel));
  }
  return near;
}

// Spheres that may meet a box when `acceleration` is taken, out of `watched`; first by a bound from where they are.
GS_HOST_DEVICE inline uint64_t ThreatenedSpheres(const FabricModel& model, uint64_t watched, const double* distance,
                                                 const double* margin, const double* q, const double* qd,
                                                 const double* acceleration, FabricPose<double>* pose) {
  double next[kMaxFabricJoints], speed[kMaxFabricJoints], travel[kMaxFabricJoints];
  StepAndStop(model, q, qd, acceleration, next, speed, travel);
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

// The guard against boxes, of one environment. `distance`: of each sphere to the nearest box at q, at most
// model.engage. `pose` is scratch.
GS_HOST_DEVICE inline void GuardBoxes(const FabricModel& model, const double* distance, const double* q,
                                      const double* qd, double* acceleration, FabricPose<double>* pose) {
  double margin[kMaxFabricSpheres];
  uint64_t watched = 0;
  for (int i = 0; i < model.spheres; ++i) {
    margin[i] = GuardMargin(model, distance[i]);
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
