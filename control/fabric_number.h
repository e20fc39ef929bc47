// What the fabric computes with: R, the numbers of one environment (double) or of several, one per lane of a vector
// (fabric_lanes.h). Both give the same bits for the same environment: every function below is made of additions,
// multiplications, divisions, square roots and choices alone, without library calls that may round differently.
//
// Inline, host and device; no allocation; nothing throws.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "control/fabric_model.h"

namespace gripstream {

// For double; lanes have the same.
GS_HOST_DEVICE inline double Select(bool yes, double a, double b) {
  return yes ? a : b;
}
GS_HOST_DEVICE inline bool Any(bool mask) {
  return mask;
}
GS_HOST_DEVICE inline double Sqrt(double x) {
  return std::sqrt(x);
}
GS_HOST_DEVICE inline double Floor(double x) {
  return std::floor(x);
}
GS_HOST_DEVICE inline double Abs(double x) {
  return std::fabs(x);
}
// 2^n of a whole number n in [-1000, 1000]. Added to 1.5 x 2^52 its bits are the low ones.
GS_HOST_DEVICE inline double PowerOfTwo(double n) {
  const double shifted = n + 6755399441055744.0;
  uint64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023) << 52;
  double out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

template <class R>
struct SameType {
  using Type = R;
};
template <class R>
using Same = typename SameType<R>::Type;

// Cephes' approximations (Moshier), good to some units in the last place. |x| below 1e5.
template <class R>
GS_HOST_DEVICE inline void SinCos(const R& x, R& sine, R& cosine) {
  const R turns = Floor(x * 0.63661977236758134308 + 0.5);  // quarter turns
  const R r = ((x - turns * (2 * 7.85398125648498535156e-1)) - turns * (2 * 3.77489470793079817668e-8)) -
              turns * (2 * 2.69515142907905952645e-15);
  const R z = r * r;
  const R s =
      r + r * z *
              (((((1.58962301576546568060e-10 * z - 2.50507477628578072866e-8) * z + 2.75573136213857245213e-6) * z -
                 1.98412698295895385996e-4) *
                    z +
                8.33333333332211858878e-3) *
                   z -
               1.66666666666666307295e-1);
  const R c =
      1.0 - 0.5 * z +
      z * z *
          (((((2.08757008419747316778e-9 - 1.13585365213876817300e-11 * z) * z - 2.75573141792967388112e-7) * z +
             2.48015872888517045348e-5) *
                z -
            1.38888888888730564116e-3) *
               z +
           4.16666666666665929218e-2);
  const R quarter = turns - 4.0 * Floor(0.25 * turns);  // 0, 1, 2 or 3
  const auto odd = (quarter > 0.5 && quarter < 1.5) || quarter > 2.5;
  const R a = Select(odd, c, s), b = Select(odd, s, c);
  sine = Select(quarter > 1.5, -a, a);
  cosine = Select(quarter > 0.5 && quarter < 2.5, -b, b);
}

// |x| below 700.
template <class R>
GS_HOST_DEVICE inline R Exp(const R& x) {
  const R n = Floor(x * 1.4426950408889634073599 + 0.5);
  const R r = (x - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6;
  const R z = r * r;
  const R p = r * ((1.26177193074810590878e-4 * z + 3.02994407707441961300e-2) * z + 9.99999999999999999910e-1);
  const R q = ((3.00198505138664455042e-6 * z + 2.52448340349684104192e-3) * z + 2.27265548208155028766e-1) * z + 2.0;
  return (1.0 + 2.0 * (p / (q - p))) * PowerOfTwo(n);
}

template <class R>
GS_HOST_DEVICE inline R Tanh(const R& x) {
  const R size = Select(Abs(x) < 22.0, Abs(x), R(22.0));  // 1 from there on
  const R z = x * x;
  const R p = (-9.64399179425052238628e-1 * z - 9.92877231001918586564e1) * z - 1.61468768441708447952e3;
  const R q = ((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3;
  const R near = x + x * z * (p / q);
  const R far = 1.0 - 2.0 / (Exp(2.0 * size) + 1.0);
  return Select(size < 0.625, near, Select(x < 0.0, -far, far));
}

template <class R>
struct V3 {
  R x, y, z;
};

template <class R>
GS_HOST_DEVICE inline V3<R> operator+(const V3<R>& a, const V3<R>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class R>
GS_HOST_DEVICE inline V3<R> operator-(const V3<R>& a, const V3<R>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class R>
GS_HOST_DEVICE inline V3<R> operator*(const Same<R>& s, const V3<R>& a) {
  return {s * a.x, s * a.y, s * a.z};
}
template <class R>
GS_HOST_DEVICE inline R Dot(const V3<R>& a, const V3<R>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class R>
GS_HOST_DEVICE inline V3<R> Cross(const V3<R>& a, const V3<R>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class R, class Mask>
GS_HOST_DEVICE inline V3<R> Select(const Mask& yes, const V3<R>& a, const V3<R>& b) {
  return {Select(yes, a.x, b.x), Select(yes, a.y, b.y), Select(yes, a.z, b.z)};
}

template <class R>
struct M3 {
  R m[9];  // row-major
};

template <class R>
GS_HOST_DEVICE inline V3<R> operator*(const M3<R>& a, const V3<R>& v) {
  const R* m = a.m;
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
          m[6] * v.x + m[7] * v.y + m[8] * v.z};
}
// By a vector of the model.
template <class R>
GS_HOST_DEVICE inline V3<R> operator*(const M3<R>& a, const Vec3& v) {
  const R* m = a.m;
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
          m[6] * v.x + m[7] * v.y + m[8] * v.z};
}
template <class R>
GS_HOST_DEVICE inline M3<R> operator*(const M3<R>& a, const Mat3& b) {
  M3<R> out;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c)
      out.m[3 * r + c] = a.m[3 * r] * b.m[c] + a.m[3 * r + 1] * b.m[3 + c] + a.m[3 * r + 2] * b.m[6 + c];
  }
  return out;
}
// A number of the model in every environment.
template <class R>
GS_HOST_DEVICE inline V3<R> Everywhere(const Vec3& v) {
  return {R(v.x), R(v.y), R(v.z)};
}

}  // namespace gripstream
