// Sweeps over a fabric's links: poses and velocities outwards, forces and metrics inwards.
//
// Motion and force are written at the base frame's origin: a link's motion is (w, v) with v the velocity of the point
// of the link that passes the origin, so that a point p of it moves with v + w x p; a force f at p is (p x f, f). Sums
// over a subtree then need no change of frame. Inline, no allocation, host and device; nothing throws.
#pragma once

#include <cmath>

#include "control/fabric_model.h"

namespace gripstream {

GS_HOST_DEVICE inline Vec3 operator*(const Mat3& a, Vec3 v) {
  const double* m = a.m;
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
          m[6] * v.x + m[7] * v.y + m[8] * v.z};
}

GS_HOST_DEVICE inline Mat3 operator*(const Mat3& a, const Mat3& b) {
  Mat3 out;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c)
      out.m[3 * r + c] = a.m[3 * r] * b.m[c] + a.m[3 * r + 1] * b.m[3 + c] + a.m[3 * r + 2] * b.m[6 + c];
  }
  return out;
}

struct FabricPose {
  Mat3 rotation;
  Vec3 origin;
};

struct Spatial {
  Vec3 w, v;
};

GS_HOST_DEVICE inline double Dot(const Spatial& a, const Spatial& b) {
  return Dot(a.w, b.w) + Dot(a.v, b.v);
}

// Poses of all links at q.
GS_HOST_DEVICE inline void FabricPoses(const FabricModel& model, const double* q, FabricPose* pose) {
  for (int l = 0; l < model.joints; ++l) {
    const FabricLink& link = model.link[l];
    FabricPose& out = pose[l];
    if (link.parent < 0) {
      out = {link.rotation, link.origin};
    } else {
      const FabricPose& parent = pose[link.parent];
      out = {parent.rotation * link.rotation, parent.origin + parent.rotation * link.origin};
    }
    const double value = q[link.joint];
    double* m = out.rotation.m;
    if (link.slide != 0) {
      out.origin = out.origin + value * Vec3{m[2], m[5], m[8]};
      continue;
    }
    const double c = std::cos(value), s = std::sin(value);
    for (int r = 0; r < 9; r += 3) {
      const double x = m[r], y = m[r + 1];
      m[r] = c * x + s * y;
      m[r + 1] = c * y - s * x;
    }
  }
}

// Motion of the links below each joint per unit of its speed, and of the links themselves.
GS_HOST_DEVICE inline void FabricMotions(const FabricModel& model, const FabricPose* pose, const double* qd,
                                         Spatial* axis, Spatial* motion) {
  for (int l = 0; l < model.joints; ++l) {
    const FabricLink& link = model.link[l];
    const double* m = pose[l].rotation.m;
    const Vec3 z{m[2], m[5], m[8]};
    axis[l] = link.slide != 0 ? Spatial{{}, z} : Spatial{z, Cross(pose[l].origin, z)};
    const double speed = qd[link.joint];
    const Spatial parent = link.parent < 0 ? Spatial{} : motion[link.parent];
    motion[l] = {parent.w + speed * axis[l].w, parent.v + speed * axis[l].v};
  }
}

// A symmetric 3 x 3 metric of a point.
struct Sym3 {
  double xx, xy, xz, yy, yz, zz;
};

GS_HOST_DEVICE inline Vec3 operator*(const Sym3& a, Vec3 v) {
  return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
          a.xz * v.x + a.yz * v.y + a.zz * v.z};
}

GS_HOST_DEVICE inline void AddOuter(Sym3& a, double s, Vec3 n) {
  const Vec3 t = s * n;
  a.xx += t.x * n.x;
  a.xy += t.x * n.y;
  a.xz += t.x * n.z;
  a.yy += t.y * n.y;
  a.yz += t.y * n.z;
  a.zz += t.z * n.z;
}

GS_HOST_DEVICE inline double SquaredNorm(const Sym3& a) {
  return a.xx * a.xx + a.yy * a.yy + a.zz * a.zz + 2 * (a.xy * a.xy + a.xz * a.xz + a.yz * a.yz);
}

// A metric over a link's motion: [ww, wv; wv', vv].
struct SpatialMetric {
  Sym3 ww, vv;
  Mat3 wv;
};

GS_HOST_DEVICE inline void Add(SpatialMetric& to, const SpatialMetric& from) {
  double* a = &to.ww.xx;
  const double* b = &from.ww.xx;
  static_assert(sizeof(SpatialMetric) == 21 * sizeof(double));
  for (int i = 0; i < 21; ++i) a[i] += b[i];
}

GS_HOST_DEVICE inline Spatial operator*(const SpatialMetric& k, const Spatial& s) {
  const double* m = k.wv.m;
  const Vec3 w = k.ww * s.w + k.wv * s.v;
  const Vec3 v =
      k.vv * s.v + Vec3{m[0] * s.w.x + m[3] * s.w.y + m[6] * s.w.z, m[1] * s.w.x + m[4] * s.w.y + m[7] * s.w.z,
                        m[2] * s.w.x + m[5] * s.w.y + m[8] * s.w.z};
  return {w, v};
}

// Adds the metric g of a point p of the link: T' g T, T = [-[p]x, 1].
GS_HOST_DEVICE inline void AddPointMetric(SpatialMetric& k, const Sym3& g, Vec3 p) {
  k.vv.xx += g.xx;
  k.vv.xy += g.xy;
  k.vv.xz += g.xz;
  k.vv.yy += g.yy;
  k.vv.yz += g.yz;
  k.vv.zz += g.zz;
  // wv = [p]x g, column by column; ww = [p]x g [p]x'.
  const Vec3 c0 = Cross(p, {g.xx, g.xy, g.xz}), c1 = Cross(p, {g.xy, g.yy, g.yz}), c2 = Cross(p, {g.xz, g.yz, g.zz});
  double* m = k.wv.m;
  m[0] += c0.x;
  m[1] += c1.x;
  m[2] += c2.x;
  m[3] += c0.y;
  m[4] += c1.y;
  m[5] += c2.y;
  m[6] += c0.z;
  m[7] += c1.z;
  m[8] += c2.z;
  const Vec3 r0 = Cross(p, {c0.x, c1.x, c2.x}), r1 = Cross(p, {c0.y, c1.y, c2.y}), r2 = Cross(p, {c0.z, c1.z, c2.z});
  k.ww.xx += r0.x;
  k.ww.xy += r0.y;
  k.ww.xz += r0.z;
  k.ww.yy += r1.y;
  k.ww.yz += r1.z;
  k.ww.zz += r2.z;
}

GS_HOST_DEVICE inline void AddPointForce(Spatial& force, Vec3 f, Vec3 p) {
  force.w = force.w + Cross(p, f);
  force.v = force.v + f;
}

// Adds the links' metrics, pulled back to the joints, to the lower triangle of `metric` [J, kMaxFabricJoints], and the
// links' forces to `force` and `second` [J]. Changes the links' sums.
GS_HOST_DEVICE inline void PullBack(const FabricModel& model, const Spatial* axis, SpatialMetric* link_metric,
                                    Spatial* link_force, Spatial* link_second, double (*metric)[kMaxFabricJoints],
                                    double* force, double* second) {
  for (int l = model.joints - 1; l >= 0; --l) {
    const FabricLink& link = model.link[l];
    force[link.joint] += Dot(axis[l], link_force[l]);
    second[link.joint] += Dot(axis[l], link_second[l]);
    const Spatial column = link_metric[l] * axis[l];
    for (int a = l; a >= 0; a = model.link[a].parent) {
      const int i = link.joint, k = model.link[a].joint;
      metric[i > k ? i : k][i > k ? k : i] += Dot(axis[a], column);
    }
    if (link.parent < 0) continue;
    Add(link_metric[link.parent], link_metric[l]);
    link_force[link.parent] = {link_force[link.parent].w + link_force[l].w,
                               link_force[link.parent].v + link_force[l].v};
    link_second[link.parent] = {link_second[link.parent].w + link_second[l].w,
                                link_second[link.parent].v + link_second[l].v};
  }
}

}  // namespace gripstream
