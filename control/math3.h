// Three-dimensional vectors, rotations and rigid transforms as plain values.
//
// Quaternions are (w, x, y, z) of unit length; X_AB maps coordinates in frame B to frame A. Everything is inline, free
// of allocation and usable on host and device. Nothing throws.
#pragma once

#include <cmath>

#include "core/rng.h"

namespace gripstream {

struct Vec3 {
  double x = 0, y = 0, z = 0;
};

GS_HOST_DEVICE inline Vec3 operator+(Vec3 a, Vec3 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
GS_HOST_DEVICE inline Vec3 operator-(Vec3 a, Vec3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
GS_HOST_DEVICE inline Vec3 operator*(double s, Vec3 a) {
  return {s * a.x, s * a.y, s * a.z};
}
GS_HOST_DEVICE inline double Dot(Vec3 a, Vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
GS_HOST_DEVICE inline Vec3 Cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
GS_HOST_DEVICE inline double Norm(Vec3 a) {
  return std::sqrt(Dot(a, a));
}
// `a` shortened to at most `limit`.
GS_HOST_DEVICE inline Vec3 ClampNorm(Vec3 a, double limit) {
  const double norm = Norm(a);
  return norm > limit ? (limit / norm) * a : a;
}

struct Quat {
  double w = 1, x = 0, y = 0, z = 0;
};

GS_HOST_DEVICE inline Quat operator*(Quat a, Quat b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
GS_HOST_DEVICE inline Quat Inverse(Quat q) {
  return {q.w, -q.x, -q.y, -q.z};
}
GS_HOST_DEVICE inline Quat Normalized(Quat q) {
  const double s = 1.0 / std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  return {s * q.w, s * q.x, s * q.y, s * q.z};
}
GS_HOST_DEVICE inline Vec3 Rotate(Quat q, Vec3 v) {
  const Vec3 u{q.x, q.y, q.z};
  const Vec3 t = 2.0 * Cross(u, v);
  return v + q.w * t + Cross(u, t);
}
GS_HOST_DEVICE inline Quat AxisAngle(Vec3 unit_axis, double angle_rad) {
  const double s = std::sin(0.5 * angle_rad);
  return {std::cos(0.5 * angle_rad), s * unit_axis.x, s * unit_axis.y, s * unit_axis.z};
}
// Rz(z) Ry(y) Rx(x).
GS_HOST_DEVICE inline Quat EulerZyx(double z_rad, double y_rad, double x_rad) {
  return AxisAngle({0, 0, 1}, z_rad) * AxisAngle({0, 1, 0}, y_rad) * AxisAngle({1, 0, 0}, x_rad);
}
// The rotation vector (axis times angle, rad) of q, angle in [0, pi].
GS_HOST_DEVICE inline Vec3 RotationVector(Quat q) {
  const double sign = q.w < 0 ? -1.0 : 1.0;
  const Vec3 v{sign * q.x, sign * q.y, sign * q.z};
  const double sine = Norm(v);
  const double scale = sine < 1e-9 ? 2.0 : 2.0 * std::atan2(sine, sign * q.w) / sine;
  return scale * v;
}

// X_AB: position of B's origin in A (m) and orientation of B in A.
struct Transform {
  Vec3 pos{};
  Quat quat{};
};

GS_HOST_DEVICE inline Transform operator*(const Transform& a, const Transform& b) {
  return {a.pos + Rotate(a.quat, b.pos), a.quat * b.quat};
}
GS_HOST_DEVICE inline Vec3 operator*(const Transform& a, Vec3 p) {
  return a.pos + Rotate(a.quat, p);
}

}  // namespace gripstream
