// Sweeps over a fabric's links: poses and velocities outwards, forces and metrics inwards.
//
// Motion and force are written at the base frame's origin: a link's motion is (w, v) with v the velocity of the point
// of the link that passes the origin, so that a point p of it moves with v + w x p; a force f at p is (p x f, f). Sums
// over a subtree then need no change of frame. R: see fabric_number.h. Inline, no allocation, host and device; nothing
// throws.
#pragma once

#include "control/fabric_number.h"

namespace gripstream {

template <class R>
struct FabricPose {
  M3<R> rotation;
  V3<R> origin;
};

template <class R>
struct Spatial {
  V3<R> w, v;
};

template <class R>
GS_HOST_DEVICE inline R Dot(const Spatial<R>& a, const Spatial<R>& b) {
  return Dot(a.w, b.w) + Dot(a.v, b.v);
}

// Numbers from one row of a metric to the next: odd, so that rows of lanes do not all fall on the same cache lines.
inline constexpr int kFabricRow = kMaxFabricJoints + 1;

// Poses of all links at q.
template <class R>
GS_HOST_DEVICE inline void FabricPoses(const FabricModel& model, const R* q, FabricPose<R>* pose) {
  for (int l = 0; l < model.joints; ++l) {
    const FabricLink& link = model.link[l];
    FabricPose<R>& out = pose[l];
    if (link.parent < 0) {
      for (int i = 0; i < 9; ++i) out.rotation.m[i] = R(link.rotation.m[i]);
      out.origin = Everywhere<R>(link.origin);
    } else {
      const FabricPose<R>& parent = pose[link.parent];
      out = {parent.rotation * link.rotation, parent.origin + parent.rotation * link.origin};
    }
    const R value = q[link.joint];
    R* m = out.rotation.m;
    if (link.slide != 0) {
      out.origin = out.origin + value * V3<R>{m[2], m[5], m[8]};
      continue;
    }
    R c, s;
    SinCos(value, s, c);
    for (int r = 0; r < 9; r += 3) {
      const R x = m[r], y = m[r + 1];
      m[r] = c * x + s * y;
      m[r + 1] = c * y - s * x;
    }
  }
}

// Motion of the links below each joint per unit of its speed, and of the links themselves.
template <class R>
GS_HOST_DEVICE inline void FabricMotions(const FabricModel& model, const FabricPose<R>* pose, const R* qd,
                                         Spatial<R>* axis, Spatial<R>* motion) {
  for (int l = 0; l < model.joints; ++l) {
    const FabricLink& link = model.link[l];
    const R* m = pose[l].rotation.m;
    const V3<R> z{m[2], m[5], m[8]};
    axis[l] = link.slide != 0 ? Spatial<R>{{}, z} : Spatial<R>{z, Cross(pose[l].origin, z)};
    const R speed = qd[link.joint];
    const Spatial<R> parent = link.parent < 0 ? Spatial<R>{} : motion[link.parent];
    motion[l] = {parent.w + speed * axis[l].w, parent.v + speed * axis[l].v};
  }
}

// A symmetric 3 x 3 metric of a point.
template <class R>
struct Sym3 {
  R xx, xy, xz, yy, yz, zz;
};

template <class R>
GS_HOST_DEVICE inline V3<R> operator*(const Sym3<R>& a, const V3<R>& v) {
  return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
          a.xz * v.x + a.yz * v.y + a.zz * v.z};
}

template <class R>
GS_HOST_DEVICE inline void AddOuter(Sym3<R>& a, const R& s, const V3<R>& n) {
  const V3<R> t = s * n;
  a.xx += t.x * n.x;
  a.xy += t.x * n.y;
  a.xz += t.x * n.z;
  a.yy += t.y * n.y;
  a.yz += t.y * n.z;
  a.zz += t.z * n.z;
}

template <class R>
GS_HOST_DEVICE inline R SquaredNorm(const Sym3<R>& a) {
  return a.xx * a.xx + a.yy * a.yy + a.zz * a.zz + 2 * (a.xy * a.xy + a.xz * a.xz + a.yz * a.yz);
}

// A metric over a link's motion: [ww, wv; wv', vv].
template <class R>
struct SpatialMetric {
  Sym3<R> ww, vv;
  M3<R> wv;
};

template <class R>
GS_HOST_DEVICE inline void Add(SpatialMetric<R>& to, const SpatialMetric<R>& from) {
  R* a = &to.ww.xx;
  const R* b = &from.ww.xx;
  static_assert(sizeof(SpatialMetric<R>) == 21 * sizeof(R));
  for (int i = 0; i < 21; ++i) a[i] += b[i];
}

template <class R>
GS_HOST_DEVICE inline Spatial<R> operator*(const SpatialMetric<R>& k, const Spatial<R>& s) {
  const R* m = k.wv.m;
  const V3<R> w = k.ww * s.w + k.wv * s.v;
  const V3<R> v =
      k.vv * s.v + V3<R>{m[0] * s.w.x + m[3] * s.w.y + m[6] * s.w.z, m[1] * s.w.x + m[4] * s.w.y + m[7] * s.w.z,
                         m[2] * s.w.x + m[5] * s.w.y + m[8] * s.w.z};
  return {w, v};
}

// Adds the metric g of a point p of the link: T' g T, T = [-[p]x, 1].
template <class R>
GS_HOST_DEVICE inline void AddPointMetric(SpatialMetric<R>& k, const Sym3<R>& g, const V3<R>& p) {
  k.vv.xx += g.xx;
  k.vv.xy += g.xy;
  k.vv.xz += g.xz;
  k.vv.yy += g.yy;
  k.vv.yz += g.yz;
  k.vv.zz += g.zz;
  // wv = [p]x g, column by column; ww = [p]x g [p]x'.
  const V3<R> c0 = Cross(p, V3<R>{g.xx, g.xy, g.xz}), c1 = Cross(p, V3<R>{g.xy, g.yy, g.yz}),
              c2 = Cross(p, V3<R>{g.xz, g.yz, g.zz});
  R* m = k.wv.m;
  m[0] += c0.x;
  m[1] += c1.x;
  m[2] += c2.x;
  m[3] += c0.y;
  m[4] += c1.y;
  m[5] += c2.y;
  m[6] += c0.z;
  m[7] += c1.z;
  m[8] += c2.z;
  const V3<R> r0 = Cross(p, V3<R>{c0.x, c1.x, c2.x}), r1 = Cross(p, V3<R>{c0.y, c1.y, c2.y}),
              r2 = Cross(p, V3<R>{c0.z, c1.z, c2.z});
  k.ww.xx += r0.x;
  k.ww.xy += r0.y;
  k.ww.xz += r0.z;
  k.ww.yy += r1.y;
  k.ww.yz += r1.z;
  k.ww.zz += r2.z;
}

template <class R>
GS_HOST_DEVICE inline void AddPointForce(Spatial<R>& force, const V3<R>& f, const V3<R>& p) {
  force.w = force.w + Cross(p, f);
  force.v = force.v + f;
}

// Adds the links' metrics, pulled back to the joints, to the lower triangle of `metric` [J, kFabricRow], and the
// links' forces to `force` and `second` [J]. Changes the links' sums.
template <class R>
GS_HOST_DEVICE inline void PullBack(const FabricModel& model, const Spatial<R>* axis, SpatialMetric<R>* link_metric,
                                    Spatial<R>* link_force, Spatial<R>* link_second, R (*metric)[kFabricRow], R* force,
                                    R* second) {
  for (int l = model.joints - 1; l >= 0; --l) {
    const FabricLink& link = model.link[l];
    force[link.joint] += Dot(axis[l], link_force[l]);
    second[link.joint] += Dot(axis[l], link_second[l]);
    const Spatial<R> column = link_metric[l] * axis[l];
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
