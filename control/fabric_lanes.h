// Several environments' numbers as one: eight to a vector with AVX-512, four with AVX2. Only for the files that are
// compiled for one of these (fabric_avx512.cc, fabric_avx2.cc). The types are local to such a file, and with them every
// function instantiated for them, so that no code for one machine is ever linked into what another runs.
#pragma once

#include <immintrin.h>

#include "control/fabric_number.h"

namespace gripstream {
namespace {

#if defined(__AVX512F__)

constexpr int kLanes = 8;

struct LaneMask {
  __mmask8 bits;
};
inline unsigned BitsOf(LaneMask a) {
  return a.bits;
}
inline LaneMask operator&&(LaneMask a, LaneMask b) {
  return {static_cast<__mmask8>(a.bits & b.bits)};
}
inline LaneMask operator||(LaneMask a, LaneMask b) {
  return {static_cast<__mmask8>(a.bits | b.bits)};
}
inline LaneMask operator!(LaneMask a) {
  return {static_cast<__mmask8>(~a.bits)};
}

using LaneVector = __m512d;
inline LaneVector Spread(double x) {
  return _mm512_set1_pd(x);
}
inline LaneMask Less(LaneVector a, LaneVector b) {
  return {_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)};
}
inline LaneMask AtMost(LaneVector a, LaneVector b) {
  return {_mm512_cmp_pd_mask(a, b, _CMP_LE_OQ)};
}
inline LaneVector Choose(LaneMask yes, LaneVector a, LaneVector b) {
  return _mm512_mask_blend_pd(yes.bits, b, a);
}
inline LaneVector SqrtOf(LaneVector a) {
  return _mm512_sqrt_pd(a);
}
inline LaneVector FloorOf(LaneVector a) {
  return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
inline LaneVector AbsOf(LaneVector a) {
  return _mm512_abs_pd(a);
}
inline LaneVector ToExponent(LaneVector a) {
  const __m512i bits = _mm512_add_epi64(_mm512_castpd_si512(a), _mm512_set1_epi64(1023));
  return _mm512_castsi512_pd(_mm512_slli_epi64(bits, 52));
}

#else

constexpr int kLanes = 4;

struct LaneMask {
  __m256d bits;
};
inline unsigned BitsOf(LaneMask a) {
  return static_cast<unsigned>(_mm256_movemask_pd(a.bits));
}
inline LaneMask operator&&(LaneMask a, LaneMask b) {
  return {_mm256_and_pd(a.bits, b.bits)};
}
inline LaneMask operator||(LaneMask a, LaneMask b) {
  return {_mm256_or_pd(a.bits, b.bits)};
}
inline LaneMask operator!(LaneMask a) {
  return {_mm256_xor_pd(a.bits, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)))};
}

using LaneVector = __m256d;
inline LaneVector Spread(double x) {
  return _mm256_set1_pd(x);
}
inline LaneMask Less(LaneVector a, LaneVector b) {
  return {_mm256_cmp_pd(a, b, _CMP_LT_OQ)};
}
inline LaneMask AtMost(LaneVector a, LaneVector b) {
  return {_mm256_cmp_pd(a, b, _CMP_LE_OQ)};
}
inline LaneVector Choose(LaneMask yes, LaneVector a, LaneVector b) {
  return _mm256_blendv_pd(b, a, yes.bits);
}
inline LaneVector SqrtOf(LaneVector a) {
  return _mm256_sqrt_pd(a);
}
inline LaneVector FloorOf(LaneVector a) {
  return _mm256_floor_pd(a);
}
inline LaneVector AbsOf(LaneVector a) {
  return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}
inline LaneVector ToExponent(LaneVector a) {
  const __m256i bits = _mm256_add_epi64(_mm256_castpd_si256(a), _mm256_set1_epi64x(1023));
  return _mm256_castsi256_pd(_mm256_slli_epi64(bits, 52));
}

#endif

struct Lanes {
  LaneVector v;

  Lanes() = default;
  Lanes(double x) : v(Spread(x)) {}
  explicit Lanes(LaneVector x) : v(x) {}

  Lanes& operator+=(const Lanes& b) { return *this = *this + b; }
  Lanes& operator-=(const Lanes& b) { return *this = *this - b; }
  Lanes& operator*=(const Lanes& b) { return *this = *this * b; }

  friend Lanes operator+(const Lanes& a, const Lanes& b) { return Lanes(a.v + b.v); }
  friend Lanes operator-(const Lanes& a, const Lanes& b) { return Lanes(a.v - b.v); }
  friend Lanes operator*(const Lanes& a, const Lanes& b) { return Lanes(a.v * b.v); }
  friend Lanes operator/(const Lanes& a, const Lanes& b) { return Lanes(a.v / b.v); }
  friend Lanes operator-(const Lanes& a) { return Lanes(-a.v); }
  friend LaneMask operator<(const Lanes& a, const Lanes& b) { return Less(a.v, b.v); }
  friend LaneMask operator>(const Lanes& a, const Lanes& b) { return Less(b.v, a.v); }
  friend LaneMask operator<=(const Lanes& a, const Lanes& b) { return AtMost(a.v, b.v); }
  friend LaneMask operator>=(const Lanes& a, const Lanes& b) { return AtMost(b.v, a.v); }
};

inline Lanes Select(LaneMask yes, const Lanes& a, const Lanes& b) {
  return Lanes(Choose(yes, a.v, b.v));
}
inline bool Any(LaneMask mask) {
  return BitsOf(mask) != 0;
}
inline Lanes Sqrt(const Lanes& x) {
  return Lanes(SqrtOf(x.v));
}
inline Lanes Floor(const Lanes& x) {
  return Lanes(FloorOf(x.v));
}
inline Lanes Abs(const Lanes& x) {
  return Lanes(AbsOf(x.v));
}
inline Lanes PowerOfTwo(const Lanes& n) {
  return Lanes(ToExponent((n + 6755399441055744.0).v));
}

}  // namespace
}  // namespace gripstream
