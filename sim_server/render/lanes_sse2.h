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
inline Lanes RootGuess(Lanes a) {
  const __m128i half = _mm_srli_epi32(_mm_castps_si128(a.v), 1);
  return _mm_castsi128_ps(_mm_sub_epi32(_mm_set1_epi32(kRootMagic), half));
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
inline void SplitBytes(__m128i texel, Lanes rgb[3]) {
  rgb[0] = _mm_cvtepi32_ps(_mm_and_si128(texel, _mm_set1_epi32(0xFF)));
  rgb[1] = _mm_cvtepi32_ps(_mm_and_si128(texel, _mm_set1_epi32(0xFF00)));
  rgb[2] = _mm_cvtepi32_ps(_mm_and_si128(texel, _mm_set1_epi32(0xFF0000)));
}
inline void GatherTexels(const uint32_t* base, Lanes index, Lanes first[3], Lanes second[3]) {
  int32_t at[kLanes];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm_cvttps_epi32(index.v));
  const auto bits = [&](int i) { return static_cast<int>(base[i]); };
  SplitBytes(_mm_setr_epi32(bits(at[0]), bits(at[1]), bits(at[2]), bits(at[3])), first);
  SplitBytes(_mm_setr_epi32(bits(at[0] + 1), bits(at[1] + 1), bits(at[2] + 1), bits(at[3] + 1)), second);
}
inline Lanes GatherAt(const float* base, Lanes index) {
  int32_t at[kLanes];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm_cvttps_epi32(index.v));
  return Lanes::Gather(base, at);
}
inline LaneMask Equal(const int32_t* p, int32_t x) {
  const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm_castsi128_ps(_mm_cmpeq_epi32(v, _mm_set1_epi32(x)))};
}
inline uint32_t Bits(LaneMask mask) {
  return static_cast<uint32_t>(_mm_movemask_ps(mask.m));
}
inline int FirstOf(uint32_t bits) {
  return __builtin_ctz(bits);
}
inline void LoadRgb(const uint8_t* p, Lanes rgb[3]) {
  for (int c = 0; c < 3; ++c) {
    rgb[c] = _mm_cvtepi32_ps(_mm_setr_epi32(p[c], p[3 + c], p[6 + c], p[9 + c]));
  }
}
inline void StoreRgb(uint8_t* p, Lanes r, Lanes g, Lanes b) {
  int32_t channels[3][kLanes];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(channels[0]), _mm_cvttps_epi32(r.v));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(channels[1]), _mm_cvttps_epi32(g.v));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(channels[2]), _mm_cvttps_epi32(b.v));
  for (int i = 0; i < kLanes; ++i) {
    for (int c = 0; c < 3; ++c) *p++ = static_cast<uint8_t>(channels[c][i]);
  }
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
