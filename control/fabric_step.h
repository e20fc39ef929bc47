// One step of a geometric fabric for one environment: from joint positions and speeds and a palm and hand target to
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
// Inline, no allocation, host and device; nothing throws. Environments share the model and nothing else.
#pragma once

#include <cmath>

#include "control/fabric_guard.h"
#include "control/fabric_model.h"
#include "control/fabric_sweep.h"

namespace gripstream {

struct FabricTarget {
  Transform palm{};                   // wanted pose of the palm in the base frame
  const double* synergies = nullptr;  // [S] wanted coordinates
  double damping = 10;                // 1/s
};

// Everything a step computes; reused from step to step, worthless between them.
struct FabricWork {
  FabricPose pose[kMaxFabricJoints];
  Spatial axis[kMaxFabricJoints], motion[kMaxFabricJoints];
  SpatialMetric link_metric[kMaxFabricJoints];
  Spatial link_geometric[kMaxFabricJoints], link_forcing[kMaxFabricJoints];
  Vec3 centre[kMaxFabricSpheres];
  double box_distance[kMaxFabricSpheres];  // to the nearest box, surface to surface
  Sym3 base[kMaxFabricSpheres];
  Vec3 away[kMaxFabricSpheres];                       // minus the mean direction to obstacles
  double metric[kMaxFabricJoints][kMaxFabricJoints];  // lower triangle
  double geometric[kMaxFabricJoints], forcing[kMaxFabricJoints];
  double acceleration[kMaxFabricJoints];
};

// tanh(s |e|) / |e|, which is s at 0.
GS_HOST_DEVICE inline double PullPerError(double norm, double sharpness) {
  return norm < 1e-9 ? sharpness : std::tanh(sharpness * norm) / norm;
}

GS_HOST_DEVICE inline double DampingAt(const FabricAttractor& a, double error) {
  return a.damping * (0.5 - 0.5 * std::tanh(a.damping_sharpness * (error - a.damping_radius)));
}

GS_HOST_DEVICE inline void AddPosture(const FabricModel& model, const double* q, const double* qd, FabricWork& work) {
  double error = 0, speed = 0;
  for (int j = 0; j < model.joints; ++j) {
    error += (q[j] - model.posture[j]) * (q[j] - model.posture[j]);
    speed += qd[j] * qd[j];
  }
  const FabricAttractor& a = model.posture_gain;
  const double scale = a.mass * a.gain * speed * PullPerError(std::sqrt(error), a.sharpness);
  for (int j = 0; j < model.joints; ++j) work.geometric[j] += scale * (q[j] - model.posture[j]);
}

GS_HOST_DEVICE inline void AddSynergies(const FabricModel& model, const FabricTarget& target, const double* q,
                                        const double* qd, FabricWork& work) {
  double error[kMaxFabricSynergies], speed[kMaxFabricSynergies], norm = 0;
  for (int s = 0; s < model.synergies; ++s) {
    double x = 0, v = 0;
    for (int j = model.hand_begin; j < model.joints; ++j) {
      x += model.synergy[s][j] * q[j];
      v += model.synergy[s][j] * qd[j];
    }
    error[s] = x - target.synergies[s];
    speed[s] = v;
    norm += error[s] * error[s];
  }
  const FabricAttractor& a = model.synergy_gain;
  norm = std::sqrt(norm);
  const double pull = a.gain * PullPerError(norm, a.sharpness), damping = DampingAt(a, norm);
  for (int s = 0; s < model.synergies; ++s) {
    const double force = a.mass * (pull * error[s] + damping * speed[s]);
    for (int j = model.hand_begin; j < model.joints; ++j) work.forcing[j] += force * model.synergy[s][j];
  }
}

// Seven points: the palm's origin and one on each side along its axes.
GS_HOST_DEVICE inline void AddPalm(const FabricModel& model, const FabricTarget& target, FabricWork& work) {
  const int link = model.palm_link;
  const FabricPose& pose = work.pose[link];
  const Mat3 rotation = pose.rotation * model.palm_rotation;
  const Vec3 origin = pose.origin + pose.rotation * model.palm_origin;
  Vec3 point[7], error[7];
  double norm = 0;
  for (int i = 0; i < 7; ++i) {
    Vec3 offset{};
    if (i > 0) {
      const double lever = i % 2 == 1 ? model.palm_lever : -model.palm_lever;
      offset = i < 3 ? Vec3{lever, 0, 0} : i < 5 ? Vec3{0, lever, 0} : Vec3{0, 0, lever};
    }
    point[i] = origin + rotation * offset;
    error[i] = point[i] - target.palm * offset;
    norm += Dot(error[i], error[i]);
  }
  const FabricAttractor& a = model.palm_gain;
  norm = std::sqrt(norm);
  const double pull = a.gain * PullPerError(norm, a.sharpness), damping = DampingAt(a, norm);
  const Spatial& motion = work.motion[link];
  for (int i = 0; i < 7; ++i) {
    const Vec3 velocity = motion.v + Cross(motion.w, point[i]);
    AddPointForce(work.link_forcing[link], a.mass * (pull * error[i] + damping * velocity), point[i]);
    AddPointMetric(work.link_metric[link], {a.mass, 0, 0, a.mass, 0, a.mass}, point[i]);
  }
}

GS_HOST_DEVICE inline void AddLimits(const FabricModel& model, const double* q, const double* qd, FabricWork& work) {
  for (int j = 0; j < model.joints; ++j) {
    for (int side = -1; side <= 1; side += 2) {
      const double x = side > 0 ? model.upper[j] - q[j] : q[j] - model.lower[j];
      const double speed = side > 0 ? -qd[j] : qd[j];  // of x
      if (speed >= 0 && x >= 0) continue;
      const double far = x - model.limit_offset > model.limit_least ? x - model.limit_offset : model.limit_least;
      const double metric = model.limit_metric / (far * far);
      const double acceleration = model.limit_gain - (speed <= 0 ? model.limit_damping * speed : 0.0);
      work.metric[j][j] += metric;
      work.forcing[j] += side * metric * acceleration;  // the upper limit's x falls with q
    }
  }
}

// Surface distance from a sphere to a box, and the unit vector towards it; true when it is within `reach`.
GS_HOST_DEVICE inline bool ToBox(const FabricBox& box, Vec3 c, double radius, double reach, double& distance,
                                 Vec3& towards) {
  const double p[3] = {c.x, c.y, c.z};
  double to[3], square = 0;
  for (int k = 0; k < 3; ++k) {
    to[k] = (p[k] < box.low[k] ? box.low[k] : p[k] > box.high[k] ? box.high[k] : p[k]) - p[k];
    square += to[k] * to[k];
  }
  if (square >= (reach + radius) * (reach + radius)) return false;
  const double norm = std::sqrt(square);
  if (norm > 1e-9) {
    distance = norm - radius;
    towards = (1 / norm) * Vec3{to[0], to[1], to[2]};
    return true;
  }
  // The centre is inside: out through the nearest face.
  int nearest = 0;
  double depth = 1e300, sign = 1;
  for (int k = 0; k < 3; ++k) {
    const double below = p[k] - box.low[k], above = box.high[k] - p[k];
    if (below < depth) depth = below, nearest = k, sign = 1;
    if (above < depth) depth = above, nearest = k, sign = -1;
  }
  distance = -depth - radius;
  towards = {nearest == 0 ? sign : 0, nearest == 1 ? sign : 0, nearest == 2 ? sign : 0};
  return true;
}

// What one obstacle at `distance` in direction `n` adds to a sphere's repulsion.
GS_HOST_DEVICE inline void AddObstacle(const FabricModel& model, double distance, Vec3 n, Vec3 velocity, Sym3& base,
                                       Vec3& towards) {
  const double d = distance < model.min_distance   ? model.min_distance
                   : distance > model.max_distance ? model.max_distance
                                                   : distance;
  towards = towards + (1 / d) * n;
  const double x = model.gate_sharpness * (Dot(n, velocity) + model.gate_speed);
  const double gate = x > 20 ? 1.0 : x < -20 ? 0.0 : 0.5 * (std::tanh(x) + 1);
  if (gate > 0) AddOuter(base, gate / d, n);
}

// Distances, base metrics and directions of every sphere; returns the squared norm of all base metrics together.
GS_HOST_DEVICE inline double FindObstacles(const FabricModel& model, FabricWork& work, double* nearest) {
  double square = 0;
  for (int i = 0; i < model.spheres; ++i) {
    const FabricSphere& sphere = model.sphere[i];
    const FabricPose& pose = work.pose[sphere.link];
    work.centre[i] = pose.origin + pose.rotation * sphere.offset;
  }
  for (int i = 0; i < model.spheres; ++i) {
    const FabricSphere& sphere = model.sphere[i];
    const Vec3 c = work.centre[i];
    const Spatial& motion = work.motion[sphere.link];
    const Vec3 velocity = motion.v + Cross(motion.w, c);
    Sym3 base{};
    Vec3 towards{};
    double closest = model.engage, distance;
    Vec3 n;
    for (int b = 0; b < model.boxes; ++b) {
      if (!ToBox(model.box[b], c, sphere.radius, model.engage, distance, n)) continue;
      if (distance < closest) closest = distance;
      AddObstacle(model, distance, n, velocity, base, towards);
    }
    work.box_distance[i] = closest;
    for (int o = 0; sphere.self_mover != 0 && o < model.spheres; ++o) {
      if (model.sphere[o].self_obstacle == 0) continue;
      const Vec3 to = work.centre[o] - c;
      const double norm = Norm(to);
      distance = norm - sphere.radius - model.sphere[o].radius;
      if (distance >= model.engage || norm < 1e-9) continue;
      if (distance < closest) closest = distance;
      AddObstacle(model, distance, (1 / norm) * to, velocity, base, towards);
    }
    nearest[i] = closest;
    const double norm = Norm(towards);
    work.away[i] = norm > 1e-9 ? (-1 / norm) * towards : Vec3{};
    work.base[i] = base;
    square += SquaredNorm(base);
  }
  return square;
}

GS_HOST_DEVICE inline void AddRepulsion(const FabricModel& model, FabricWork& work) {
  double nearest[kMaxFabricSpheres];
  const double square = FindObstacles(model, work, nearest);
  if (square < 1e-24) return;
  const double normalise = 1 / std::sqrt(square);
  for (int i = 0; i < model.spheres; ++i) {
    const Sym3& base = work.base[i];
    if (base.xx + base.yy + base.zz <= 0) continue;
    const int link = model.sphere[i].link;
    const Vec3 c = work.centre[i];
    const Spatial& motion = work.motion[link];
    const Vec3 velocity = motion.v + Cross(motion.w, c);
    const double d = nearest[i] > model.min_distance ? nearest[i] : model.min_distance;
    const double s = normalise * model.repulsion_metric / (d * d);
    const Vec3 force = -s * (base * work.away[i]);  // minus metric times a unit acceleration away
    AddPointForce(work.link_forcing[link], model.repulsion_gain * force, c);
    AddPointForce(work.link_geometric[link], model.geometric_gain * Dot(velocity, velocity) * force, c);
    // The forcing and the geometric term bring the same metric.
    const double two = 2 * s;
    AddPointMetric(work.link_metric[link],
                   {two * base.xx, two * base.xy, two * base.xz, two * base.yy, two * base.yz, two * base.zz}, c);
  }
}

// Metric and forces of all terms at (q, qd), in `work`.
GS_HOST_DEVICE inline void EvaluateFabric(const FabricModel& model, const FabricTarget& target, const double* q,
                                          const double* qd, FabricWork& work) {
  const int n = model.joints;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k <= i; ++k) work.metric[i][k] = model.base_metric[i][k];
    work.geometric[i] = work.forcing[i] = 0;
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
GS_HOST_DEVICE inline void FactorMetric(double (*m)[kMaxFabricJoints], int n) {
  for (int k = 0; k < n; ++k) {
    const double inverse = 1 / std::sqrt(m[k][k]);
    m[k][k] = inverse;
    double column[kMaxFabricJoints];
    for (int i = k + 1; i < n; ++i) column[i] = m[i][k] *= inverse;
    for (int i = k + 1; i < n; ++i) {
      const double scale = column[i];
      for (int j = k + 1; j <= i; ++j) m[i][j] -= scale * column[j];
    }
  }
}

// Solves for two right sides at once.
GS_HOST_DEVICE inline void SolveFactored(const double (*l)[kMaxFabricJoints], int n, double* x, double* y) {
  for (int i = 0; i < n; ++i) {
    double sum_x = x[i], sum_y = y[i];
    for (int k = 0; k < i; ++k) {
      sum_x -= l[i][k] * x[k];
      sum_y -= l[i][k] * y[k];
    }
    x[i] = sum_x * l[i][i];
    y[i] = sum_y * l[i][i];
  }
  for (int i = n; i-- > 0;) {
    const double at_x = x[i] *= l[i][i], at_y = y[i] *= l[i][i];
    for (int k = 0; k < i; ++k) {
      x[k] -= l[i][k] * at_x;
      y[k] -= l[i][k] * at_y;
    }
  }
}

// Joint accelerations of the terms in `work`, before any limit; the metric is factored in place.
GS_HOST_DEVICE inline void SolveFabric(const FabricModel& model, double damping, const double* qd, FabricWork& work) {
  const int n = model.joints;
  FactorMetric(work.metric, n);
  SolveFactored(work.metric, n, work.geometric, work.forcing);
  double along = 0, square = 1e-6;
  for (int j = 0; j < n; ++j) {
    along -= qd[j] * work.geometric[j];
    square += qd[j] * qd[j];
  }
  const double alpha = -along / square;
  for (int j = 0; j < n; ++j)
    work.acceleration[j] = -work.geometric[j] + alpha * qd[j] - work.forcing[j] - damping * qd[j];
}

// Scales all accelerations alike until none is above its limit.
GS_HOST_DEVICE inline void LimitAccelerations(const FabricModel& model, double* acceleration) {
  double scale = 1;
  for (int j = 0; j < model.joints; ++j) {
    const double size = std::abs(acceleration[j]);
    if (size * scale > model.acceleration[j]) scale = model.acceleration[j] / size;
  }
  for (int j = 0; j < model.joints; ++j) acceleration[j] *= scale;
}

// One step of model.dt_s; `qdd` receives the accelerations.
GS_HOST_DEVICE inline void StepFabric(const FabricModel& model, const FabricTarget& target, double* q, double* qd,
                                      double* qdd, FabricWork& work) {
  EvaluateFabric(model, target, q, qd, work);
  SolveFabric(model, target.damping, qd, work);
  LimitAccelerations(model, work.acceleration);
  GuardFabric(model, work.box_distance, q, qd, work.acceleration, work.pose);
  const double dt = model.dt_s;
  for (int j = 0; j < model.joints; ++j) {
    qdd[j] = work.acceleration[j];
    q[j] += dt * qd[j] + 0.5 * dt * dt * qdd[j];
    qd[j] += dt * qdd[j];
  }
}

}  // namespace gripstream
