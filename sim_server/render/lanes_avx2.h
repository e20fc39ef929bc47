// Lanes of 8 floats in AVX2.
// Included by lanes.h only.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace gripstream::GS_RENDER_ISA {

inline constexpr int kLanes = 8;
struct LaneMask {
  __m256 m;
};
struct Lanes {
  __m256 v;
  Lanes(__m256 x) : v(x) {}
  Lanes(float x) : v(_mm256_set1_ps(x)) {}
  static Lanes Load(const float* p) { return _mm256_loadu_ps(p); }
  static Lanes Gather(const float* base, const int32_t* index) {
    return _mm256_i32gather_ps(base, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index)), 4);
  }
  static Lanes Iota() { return _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7); }
};
inline Lanes operator+(Lanes a, Lanes b) {
  return _mm256_add_ps(a.v, b.v);
}
inline Lanes operator-(Lanes a, Lanes b) {
  return _mm256_sub_ps(a.v, b.v);
}
inline Lanes operator*(Lanes a, Lanes b) {
  return _mm256_mul_ps(a.v, b.v);
}
inline Lanes operator/(Lanes a, Lanes b) {
  return _mm256_div_ps(a.v, b.v);
}
inline Lanes Max(Lanes a, Lanes b) {
  return _mm256_max_ps(a.v, b.v);
}
inline Lanes Min(Lanes a, Lanes b) {
  return _mm256_min_ps(a.v, b.v);
}
inline Lanes Sqrt(Lanes a) {
  return _mm256_sqrt_ps(a.v);
}
inline Lanes Abs(Lanes a) {
  return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v);
}
inline Lanes Trunc(Lanes a) {
  return _mm256_cvtepi32_ps(_mm256_cvttps_epi32(a.v));
}
inline Lanes ReciprocalGuess(Lanes a) {
  return _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_set1_epi32(kReciprocalMagic), _mm256_castps_si256(a.v)));
}
inline LaneMask operator<(Lanes a, Lanes b) {
  return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)};
}
inline LaneMask operator<=(Lanes a, Lanes b) {
  return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)};
}
inline LaneMask operator&(LaneMask a, LaneMask b) {
  return {_mm256_and_ps(a.m, b.m)};
}
inline Lanes Select(LaneMask mask, Lanes yes, Lanes no) {
  return _mm256_blendv_ps(no.v, yes.v, mask.m);
}
inline Lanes Keep(LaneMask mask, Lanes x) {
  return _mm256_and_ps(mask.m, x.v);
}
inline void StoreWhere(LaneMask mask, float* p, Lanes x) {
  _mm256_storeu_ps(p, _mm256_blendv_ps(_mm256_loadu_ps(p), x.v, mask.m));
}
inline void StoreWhere(LaneMask mask, int32_t* p, int32_t x) {
  __m256i* q = reinterpret_cast<__m256i*>(p);
  _mm256_storeu_si256(q, _mm256_blendv_epi8(_mm256_loadu_si256(q), _mm256_set1_epi32(x), _mm256_castps_si256(mask.m)));
}
inline void GatherBytes(const uint32_t* base, const int32_t* index, Lanes* r, Lanes* g, Lanes* b) {
  const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index));
  const __m256i texel = _mm256_i32gather_epi32(reinterpret_cast<const int*>(base), at, 4),
                byte = _mm256_set1_epi32(255);
  *r = _mm256_cvtepi32_ps(_mm256_and_si256(texel, byte));
  *g = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(texel, 8), byte));
  *b = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(texel, 16), byte));
}
inline void StoreInt(int32_t* p, Lanes x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_cvttps_epi32(x.v));
}
inline void Store(float* p, Lanes x) {
  _mm256_storeu_ps(p, x.v);
}
inline void StoreUint16(uint16_t* p, Lanes x) {
  const __m256i i = _mm256_cvtps_epi32(x.v);
  const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), packed);
}

inline void StoreUint16Pair(uint16_t* p, Lanes left, Lanes right) {
  const __m256i mixed = _mm256_packus_epi32(_mm256_cvtps_epi32(left.v), _mm256_cvtps_epi32(right.v));
  const __m256i packed = _mm256_permute4x64_epi64(mixed, 0b11'01'10'00);
  if (reinterpret_cast<uintptr_t>(p) % 32 == 0) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p), packed);
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), packed);
  }
}
inline void FinishStores() {
  _mm_sfence();
}

}  // namespace gripstream::GS_RENDER_ISA
