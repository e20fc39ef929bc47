// Lanes of 4 floats in SSE2, which every x86-64 has.
// Included by lanes.h only.
#pragma once

#include <emmintrin.h>

#include <cstdint>

namespace gripstream::GS_RENDER_ISA {

inline constexpr int kLanes = 4;
struct LaneMask {
  __m128 m;
};
struct Lanes {
  __m128 v;
  Lanes(__m128 x) : v(x) {}
  Lanes(float x) : v(_mm_set1_ps(x)) {}
  static Lanes Load(const float* p) { return _mm_loadu_ps(p); }
  static Lanes Gather(const float* base, const int32_t* index) {
    return _mm_setr_ps(base[index[0]], base[index[1]], base[index[2]], base[index[3]]);
  }
  static Lanes Iota() { return _mm_setr_ps(0, 1, 2, 3); }
};
inline Lanes operator+(Lanes a, Lanes b) {
  return _mm_add_ps(a.v, b.v);
}
inline Lanes operator-(Lanes a, Lanes b) {
  return _mm_sub_ps(a.v, b.v);
}
inline Lanes operator*(Lanes a, Lanes b) {
  return _mm_mul_ps(a.v, b.v);
}
inline Lanes operator/(Lanes a, Lanes b) {
  return _mm_div_ps(a.v, b.v);
}
inline Lanes Max(Lanes a, Lanes b) {
  return _mm_max_ps(a.v, b.v);
}
inline Lanes Min(Lanes a, Lanes b) {
  return _mm_min_ps(a.v, b.v);
}
inline Lanes Sqrt(Lanes a) {
  return _mm_sqrt_ps(a.v);
}
inline Lanes Abs(Lanes a) {
  return _mm_andnot_ps(_mm_set1_ps(-0.0f), a.v);
}
inline Lanes Trunc(Lanes a) {
  return _mm_cvtepi32_ps(_mm_cvttps_epi32(a.v));
}
inline Lanes ReciprocalGuess(Lanes a) {
  return _mm_castsi128_ps(_mm_sub_epi32(_mm_set1_epi32(kReciprocalMagic), _mm_castps_si128(a.v)));
}
inline LaneMask operator<(Lanes a, Lanes b) {
  return {_mm_cmplt_ps(a.v, b.v)};
}
inline LaneMask operator<=(Lanes a, Lanes b) {
  return {_mm_cmple_ps(a.v, b.v)};
}
inline LaneMask operator&(LaneMask a, LaneMask b) {
  return {_mm_and_ps(a.m, b.m)};
}
inline Lanes Keep(LaneMask mask, Lanes x) {
  return _mm_and_ps(mask.m, x.v);
}
inline __m128 Blend(__m128 mask, __m128 yes, __m128 no) {
  return _mm_or_ps(_mm_and_ps(mask, yes), _mm_andnot_ps(mask, no));
}
inline Lanes Select(LaneMask mask, Lanes yes, Lanes no) {
  return Blend(mask.m, yes.v, no.v);
}
inline void StoreWhere(LaneMask mask, float* p, Lanes x) {
  _mm_storeu_ps(p, Blend(mask.m, x.v, _mm_loadu_ps(p)));
}
inline void StoreWhere(LaneMask mask, int32_t* p, int32_t x) {
  __m128i* q = reinterpret_cast<__m128i*>(p);
  const __m128 old = _mm_castsi128_ps(_mm_loadu_si128(q));
  _mm_storeu_si128(q, _mm_castps_si128(Blend(mask.m, _mm_castsi128_ps(_mm_set1_epi32(x)), old)));
}
inline void GatherBytes(const uint32_t* base, const int32_t* index, Lanes* r, Lanes* g, Lanes* b) {
  const auto bits = [&](int i) { return static_cast<int>(base[index[i]]); };
  const __m128i texel = _mm_setr_epi32(bits(0), bits(1), bits(2), bits(3)), byte = _mm_set1_epi32(255);
  *r = _mm_cvtepi32_ps(_mm_and_si128(texel, byte));
  *g = _mm_cvtepi32_ps(_mm_and_si128(_mm_srli_epi32(texel, 8), byte));
  *b = _mm_cvtepi32_ps(_mm_and_si128(_mm_srli_epi32(texel, 16), byte));
}
inline void StoreInt(int32_t* p, Lanes x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_cvttps_epi32(x.v));
}
inline void Store(float* p, Lanes x) {
  _mm_storeu_ps(p, x.v);
}
inline void StoreUint16(uint16_t* p, Lanes x) {
  // SSE2 packs signed numbers only: shift the range down by 2^15 and back.
  const __m128i low = _mm_sub_epi32(_mm_cvtps_epi32(x.v), _mm_set1_epi32(32768));
  const __m128i packed = _mm_xor_si128(_mm_packs_epi32(low, low), _mm_set1_epi16(static_cast<short>(0x8000)));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), packed);
}

inline void StoreUint16Pair(uint16_t* p, Lanes left, Lanes right) {
  StoreUint16(p, left);
  StoreUint16(p + kLanes, right);
}
inline void FinishStores() {}

}  // namespace gripstream::GS_RENDER_ISA
