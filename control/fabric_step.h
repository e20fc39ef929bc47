// One step of a geometric fabric: from joint positions and speeds and a palm and hand target to
// joint accelerations, and on to the next positions and speeds.
//
//   terms -> metric M, geometric force g, forcing force f -> M acc + ... = 0 -> limits on acceleration -> guard -> q,
//   qd
//
// A term with task map x(q), metric m and acceleration p adds J' m J to M and -J' m p to its force. The geometric part
// is made energy-preserving by what it lacks along qd, so that it bends the path and leaves the speed to the forcing
// terms and the damping:
//
//   acc_g = -M^-1 g,  alpha = -(qd . acc_g) / (qd . qd + 1e-6),  acc = acc_g + alpha qd - M^-1 f - damping qd
//
// For one environment (R = double) or for those in a vector's lanes, with the same bits (fabric_number.h). Inline, no
// allocation, host and device; nothing throws. Environments share the model and nothing else.
#pragma once

#include "control/fabric_guard.h"
#include "control/fabric_model.h"
#include "control/fabric_sweep.h"

namespace gripstream {

template <class R>
struct FabricTargetOf {
  M3<R> rotation{};  // of the palm in the base frame, wanted
  V3<R> origin{};
  const R* synergies = nullptr;  // [S] wanted coordinates
  R damping{};                   // 1/s
};

// Everything a step computes; reused from step to step, worthless between them.
template <class R>
struct FabricWork {
  FabricPose<R> pose[kMaxFabricJoints];
  Spatial<R> axis[kMaxFabricJoints], motion[kMaxFabricJoints];
  SpatialMetric<R> link_metric[kMaxFabricJoints];
  Spatial<R> link_geometric[kMaxFabricJoints], link_forcing[kMaxFabricJoints];
  V3<R> centre[kMaxFabricSpheres];
  R box_distance[kMaxFabricSpheres];  // to the nearest box, surface to surface
  R nearest[kMaxFabricSpheres];       // and to the nearest of all obstacles
  Sym3<R> base[kMaxFabricSpheres];
  V3<R> away[kMaxFabricSpheres];           // minus the mean direction to obstacles
  R metric[kMaxFabricJoints][kFabricRow];  // lower triangle
  R geometric[kMaxFabricJoints], forcing[kMaxFabricJoints];
  R acceleration[kMaxFabricJoints];
};

// tanh(s |e|) / |e|, which is s at 0.
template <class R>
GS_HOST_DEVICE inline R PullPerError(const R& norm, double sharpness) {
  return Select(norm < 1e-9, R(sharpness), Tanh(sharpness * norm) / norm);
}

template <class R>
GS_HOST_DEVICE inline R DampingAt(const FabricAttractor& a, const R& error) {
  return a.damping * (0.5 - 0.5 * Tanh(a.damping_sharpness * (error - a.damping_radius)));
}

template <class R>
GS_HOST_DEVICE inline void AddPosture(const FabricModel& model, const R* q, const R* qd, FabricWork<R>& work) {
  R error = R(0), speed = R(0);
  for (int j = 0; j < model.joints; ++j) {
    error += (q[j] - model.posture[j]) * (q[j] - model.posture[j]);
    speed += qd[j] * qd[j];
  }
  const FabricAttractor& a = model.posture_gain;
  const R scale = a.mass * a.gain * speed * PullPerError(Sqrt(error), a.sharpness);
  for (int j = 0; j < model.joints; ++j) work.geometric[j] += scale * (q[j] - model.posture[j]);
}

template <class R>
GS_HOST_DEVICE inline void AddSynergies(const FabricModel& model, const FabricTargetOf<R>& target, const R* q,
                                        const R* qd, FabricWork<R>& work) {
  R error[kMaxFabricSynergies], speed[kMaxFabricSynergies], norm = R(0);
  for (int s = 0; s < model.synergies; ++s) {
    R x = R(0), v = R(0);
    for (int j = model.hand_begin; j < model.joints; ++j) {
      x += model.synergy[s][j] * q[j];
      v += model.synergy[s][j] * qd[j];
    }
    error[s] = x - target.synergies[s];
    speed[s] = v;
    norm += error[s] * error[s];
  }
  const FabricAttractor& a = model.synergy_gain;
  norm = Sqrt(norm);
  const R pull = a.gain * PullPerError(norm, a.sharpness), damping = DampingAt(a, norm);
  for (int s = 0; s < model.synergies; ++s) {
    const R force = a.mass * (pull * error[s] + damping * speed[s]);
    for (int j = model.hand_begin; j < model.joints; ++j) work.forcing[j] += force * model.synergy[s][j];
  }
}

// Seven points: the palm's origin and one on each side along its axes.
template <class R>
GS_HOST_DEVICE inline void AddPalm(const FabricModel& model, const FabricTargetOf<R>& target, FabricWork<R>& work) {
  const int link = model.palm_link;
  const FabricPose<R>& pose = work.pose[link];
  const M3<R> rotation = pose.rotation * model.palm_rotation;
  const V3<R> origin = pose.origin + pose.rotation * model.palm_origin;
  V3<R> point[7], error[7];
  R norm = R(0);
  for (int i = 0; i < 7; ++i) {
    Vec3 offset{};
    if (i > 0) {
      const double lever = i % 2 == 1 ? model.palm_lever : -model.palm_lever;
      offset = i < 3 ? Vec3{lever, 0, 0} : i < 5 ? Vec3{0, lever, 0} : Vec3{0, 0, lever};
    }
    point[i] = origin + rotation * offset;
    error[i] = point[i] - (target.origin + target.rotation * offset);
    norm += Dot(error[i], error[i]);
  }
  const FabricAttractor& a = model.palm_gain;
  norm = Sqrt(norm);
  const R pull = a.gain * PullPerError(norm, a.sharpness), damping = DampingAt(a, norm);
  const Spatial<R>& motion = work.motion[link];
  const Sym3<R> mass{R(a.mass), R(0), R(0), R(a.mass), R(0), R(a.mass)};
  for (int i = 0; i < 7; ++i) {
    const V3<R> velocity = motion.v + Cross(motion.w, point[i]);
    AddPointForce(work.link_forcing[link], a.mass * (pull * error[i] + damping * velocity), point[i]);
    AddPointMetric(work.link_metric[link], mass, point[i]);
  }
}

template <class R>
GS_HOST_DEVICE inline void AddLimits(const FabricModel& model, const R* q, const R* qd, FabricWork<R>& work) {
  for (int j = 0; j < model.joints; ++j) {
    for (int side = -1; side <= 1; side += 2) {
      const R x = side > 0 ? model.upper[j] - q[j] : q[j] - model.lower[j];
      const R speed = side > 0 ? -qd[j] : qd[j];  // of x
      const auto counts = speed < 0.0 || x < 0.0;
      if (!Any(counts)) continue;
      const R beyond = x - model.limit_offset;
      const R far = Select(beyond > model.limit_least, beyond, R(model.limit_least));
      const R metric = Select(counts, model.limit_metric / (far * far), R(0));
      const R acceleration = model.limit_gain - Select(speed <= 0.0, model.limit_damping * speed, R(0));
      work.metric[j][j] += metric;
      work.forcing[j] += side * metric * acceleration;  // the upper limit's x falls with q
    }
  }
}

// Out of a box through its nearest face, for centres inside: how deep, and the unit vector back in.
template <class R>
GS_HOST_DEVICE inline void OutOfBox(const FabricBox& box, const R* p, R& depth, V3<R>& inwards) {
  depth = R(1e300);
  inwards = {R(0), R(0), R(0)};
  for (int k = 0; k < 3; ++k) {
    for (int side = -1; side <= 1; side += 2) {
      const R way = side < 0 ? p[k] - box.low[k] : box.high[k] - p[k];
      const double sign = -side;
      const auto nearer = way < depth;
      depth = Select(nearer, way, depth);
      inwards = Select(nearer, Everywhere<R>({k == 0 ? sign : 0, k == 1 ? sign : 0, k == 2 ? sign : 0}), inwards);
    }
  }
}

// Surface distance from a sphere to a box, and the unit vector towards it, where it is within `reach`.
template <class R>
GS_HOST_DEVICE inline auto ToBox(const FabricBox& box, const V3<R>& c, double radius, double reach, R& distance,
                                 V3<R>& towards) {
  const R p[3] = {c.x, c.y, c.z};
  R to[3], square = R(0);
  for (int k = 0; k < 3; ++k) {
    const R nearest = Select(p[k] < box.low[k], R(box.low[k]), Select(p[k] > box.high[k], R(box.high[k]), p[k]));
    to[k] = nearest - p[k];
    square += to[k] * to[k];
  }
  const auto near = square < (reach + radius) * (reach + radius);
  if (!Any(near)) return near;
  const R norm = Sqrt(square);
  const auto inside = norm <= 1e-9;
  distance = norm - radius;
  towards = (1.0 / norm) * V3<R>{to[0], to[1], to[2]};
  if (Any(inside)) {
    R depth;
    V3<R> inwards;
    OutOfBox(box, p, depth, inwards);
    distance = Select(inside, -depth - radius, distance);
    towards = Select(inside, inwards, towards);
  }
  return near;
}

// What one obstacle at `distance` in direction `n` adds to a sphere's repulsion, where it is near.
template <class R, class Mask>
GS_HOST_DEVICE inline void AddObstacle(const FabricModel& model, const Mask& near, const R& distance, const V3<R>& n,
                                       const V3<R>& velocity, Sym3<R>& base, V3<R>& towards) {
  const V3<R> none{R(0), R(0), R(0)};
  const V3<R> to = Select(near, n, none);  // no number that is none gets through
  const R d = Select(distance < model.min_distance, R(model.min_distance),
                     Select(distance > model.max_distance, R(model.max_distance), distance));
  const R inverse = 1.0 / d;
  towards = towards + Select(near, inverse, R(0)) * to;
  const R x = model.gate_sharpness * (Dot(to, velocity) + model.gate_speed);
  const auto shut = x < -20.0 || !near, open = x > 20.0;
  if (!Any(!shut)) return;
  R gate = R(1);
  if (Any(!(shut || open))) gate = Select(open, R(1), 0.5 * (Tanh(x) + 1.0));
  AddOuter(base, Select(shut, R(0), gate * inverse), to);
}

// Sphere i's repulsion from all boxes, and from those of the robot's own spheres that it is to keep away from.
template <class R>
GS_HOST_DEVICE inline void FindObstaclesOf(const FabricModel& model, int i, FabricWork<R>& work) {
  const FabricSphere& sphere = model.sphere[i];
  const V3<R> c = work.centre[i];
  const Spatial<R>& motion = work.motion[sphere.link];
  const V3<R> velocity = motion.v + Cross(motion.w, c);
  Sym3<R> base{};
  V3<R> towards{}, n;
  R closest = R(model.engage), distance;
  for (int b = 0; b < model.boxes; ++b) {
    const auto near = ToBox(model.box[b], c, sphere.radius, model.engage, distance, n);
    if (!Any(near)) continue;
    closest = Select(near && distance < closest, distance, closest);
    AddObstacle(model, near, distance, n, velocity, base, towards);
  }
  work.box_distance[i] = closest;
  for (int o = 0; sphere.self_mover != 0 && o < model.spheres; ++o) {
    if (model.sphere[o].self_obstacle == 0) continue;
    const V3<R> to = work.centre[o] - c;
    const R norm = Sqrt(Dot(to, to));
    distance = norm - sphere.radius - model.sphere[o].radius;
    const auto near = distance < model.engage && norm >= 1e-9;
    if (!Any(near)) continue;
    closest = Select(near && distance < closest, distance, closest);
    AddObstacle(model, near, distance, (1.0 / norm) * to, velocity, base, towards);
  }
  work.nearest[i] = closest;
  const R norm = Sqrt(Dot(towards, towards));
  work.away[i] = Select(norm > 1e-9, (-1.0 / norm) * towards, V3<R>{R(0), R(0), R(0)});
  work.base[i] = base;
}

template <class R>
GS_HOST_DEVICE inline void AddRepulsion(const FabricModel& model, FabricWork<R>& work) {
  for (int i = 0; i < model.spheres; ++i) {
    const FabricPose<R>& pose = work.pose[model.sphere[i].link];
    work.centre[i] = pose.origin + pose.rotation * model.sphere[i].offset;
  }
  R square = R(0);
  for (int i = 0; i < model.spheres; ++i) {
    FindObstaclesOf(model, i, work);
    square += SquaredNorm(work.base[i]);
  }
  const auto any = square >= 1e-24;
  if (!Any(any)) return;
  const R normalise = 1.0 / Sqrt(square);
  for (int i = 0; i < model.spheres; ++i) {
    const Sym3<R>& base = work.base[i];
    const auto counts = any && base.xx + base.yy + base.zz > 0.0;
    if (!Any(counts)) continue;
    const int link = model.sphere[i].link;
    const V3<R> c = work.centre[i];
    const Spatial<R>& motion = work.motion[link];
    const V3<R> velocity = motion.v + Cross(motion.w, c);
    const R d = Select(work.nearest[i] > model.min_distance, work.nearest[i], R(model.min_distance));
    const R s = Select(counts, normalise * model.repulsion_metric / (d * d), R(0));
    const V3<R> force = -s * (base * work.away[i]);  // minus metric times a unit acceleration away
    AddPointForce(work.link_forcing[link], model.repulsion_gain * force, c);
    AddPointForce(work.link_geometric[link], model.geometric_gain * Dot(velocity, velocity) * force, c);
    // The forcing and the geometric term bring the same metric.
    const R two = 2.0 * s;
    AddPointMetric(work.link_metric[link],
                   Sym3<R>{two * base.xx, two * base.xy, two * base.xz, two * base.yy, two * base.yz, two * base.zz},
                   c);
  }
}

// Metric and forces of all terms at (q, qd), in `work`.
template <class R>
GS_HOST_DEVICE inline void EvaluateFabric(const FabricModel& model, const FabricTargetOf<R>& target, const R* q,
                                          const R* qd, FabricWork<R>& work) {
  const int n = model.joints;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k <= i; ++k) work.metric[i][k] = R(model.base_metric[i][k]);
    work.geometric[i] = work.forcing[i] = R(0);
    work.link_metric[i] = {};
    work.link_geometric[i] = work.link_forcing[i] = {};
  }
  FabricPoses(model, q, work.pose);
  FabricMotions(model, work.pose, qd, work.axis, work.motion);
  AddPosture(model, q, qd, work);
  AddSynergies(model, target, q, qd, work);
  AddPalm(model, target, work);
  AddLimits(model, q, qd, work);
  AddRepulsion(model, work);
  PullBack(model, work.axis, work.link_metric, work.link_geometric, work.link_forcing, work.metric, work.geometric,
           work.forcing);
}

// The lower triangle of a positive definite matrix becomes its factor L, diagonal inverted.
template <class R>
GS_HOST_DEVICE inline void FactorMetric(R (*m)[kFabricRow], int n) {
  for (int k = 0; k < n; ++k) {
    const R inverse = 1.0 / Sqrt(m[k][k]);
    m[k][k] = inverse;
    R column[kMaxFabricJoints];
    for (int i = k + 1; i < n; ++i) column[i] = m[i][k] *= inverse;
    for (int i = k + 1; i < n; ++i) {
      const R scale = column[i];
      for (int j = k + 1; j <= i; ++j) m[i][j] -= scale * column[j];
    }
  }
}

// Solves for two right sides at once.
template <class R>
GS_HOST_DEVICE inline void SolveFactored(const R (*l)[kFabricRow], int n, R* x, R* y) {
  for (int i = 0; i < n; ++i) {
    R sum_x = x[i], sum_y = y[i];
    for (int k = 0; k < i; ++k) {
      sum_x -= l[i][k] * x[k];
      sum_y -= l[i][k] * y[k];
    }
    x[i] = sum_x * l[i][i];
    y[i] = sum_y * l[i][i];
  }
  for (int i = n; i-- > 0;) {
    const R at_x = x[i] *= l[i][i], at_y = y[i] *= l[i][i];
    for (int k = 0; k < i; ++k) {
      x[k] -= l[i][k] * at_x;
      y[k] -= l[i][k] * at_y;
    }
  }
}

// Joint accelerations of the terms in `work`, before any limit; the metric is factored in place.
template <class R>
GS_HOST_DEVICE inline void SolveFabric(const FabricModel& model, const Same<R>& damping, const R* qd,
                                       FabricWork<R>& work) {
  const int n = model.joints;
  FactorMetric(work.metric, n);
  SolveFactored(work.metric, n, work.geometric, work.forcing);
  R along = R(0), square = R(1e-6);
  for (int j = 0; j < n; ++j) {
    along -= qd[j] * work.geometric[j];
    square += qd[j] * qd[j];
  }
  const R alpha = -along / square;
  for (int j = 0; j < n; ++j)
    work.acceleration[j] = -work.geometric[j] + alpha * qd[j] - work.forcing[j] - damping * qd[j];
}

// Scales all accelerations alike until none is above its limit.
template <class R>
GS_HOST_DEVICE inline void LimitAccelerations(const FabricModel& model, R* acceleration) {
  R scale = R(1);
  for (int j = 0; j < model.joints; ++j) {
    const R size = Abs(acceleration[j]);
    scale = Select(size * scale > model.acceleration[j], model.acceleration[j] / size, scale);
  }
  for (int j = 0; j < model.joints; ++j) acceleration[j] *= scale;
}

// Accelerations of one step, in `work`, boxes not yet guarded against.
template <class R>
GS_HOST_DEVICE inline void AccelerateFabric(const FabricModel& model, const FabricTargetOf<R>& target, const R* q,
                                            const R* qd, FabricWork<R>& work) {
  EvaluateFabric(model, target, q, qd, work);
  SolveFabric(model, target.damping, qd, work);
  LimitAccelerations(model, work.acceleration);
  GuardLimits(model, q, qd, work.acceleration);
}

// On to the next positions and speeds; `qdd` receives the accelerations.
template <class R>
GS_HOST_DEVICE inline void IntegrateFabric(const FabricModel& model, const R* acceleration, R* q, R* qd, R* qdd) {
  const double dt = model.dt_s;
  for (int j = 0; j < model.joints; ++j) {
    qdd[j] = acceleration[j];
    q[j] += dt * qd[j] + 0.5 * dt * dt * qdd[j];
    qd[j] += dt * qdd[j];
  }
}

// One step of model.dt_s of one environment.
GS_HOST_DEVICE inline void StepFabric(const FabricModel& model, const FabricTargetOf<double>& target, double* q,
                                      double* qd, double* qdd, FabricWork<double>& work) {
  AccelerateFabric(model, target, q, qd, work);
  GuardBoxes(model, work.box_distance, q, qd, work.acceleration, work.pose);
  IntegrateFabric(model, work.acceleration, q, qd, qdd);
}

}  // namespace gripstream
