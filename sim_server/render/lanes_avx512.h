// Lanes of 16 floats in AVX-512.
// Included by lanes.h only.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace gripstream::GS_RENDER_ISA {

inline constexpr int kLanes = 16;
struct LaneMask {
  __mmask16 m;
};
struct Lanes {
  __m512 v;
  Lanes(__m512 x) : v(x) {}
  Lanes(float x) : v(_mm512_set1_ps(x)) {}
  static Lanes Load(const float* p) { return _mm512_loadu_ps(p); }
  static Lanes Gather(const float* base, const int32_t* index) {
    return _mm512_i32gather_ps(_mm512_loadu_si512(index), base, 4);
  }
  static Lanes Iota() { return _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }
};
inline Lanes operator+(Lanes a, Lanes b) {
  return _mm512_add_ps(a.v, b.v);
}
inline Lanes operator-(Lanes a, Lanes b) {
  return _mm512_sub_ps(a.v, b.v);
}
inline Lanes operator*(Lanes a, Lanes b) {
  return _mm512_mul_ps(a.v, b.v);
}
inline Lanes operator/(Lanes a, Lanes b) {
  return _mm512_div_ps(a.v, b.v);
}
inline Lanes Max(Lanes a, Lanes b) {
  return _mm512_max_ps(a.v, b.v);
}
inline Lanes Min(Lanes a, Lanes b) {
  return _mm512_min_ps(a.v, b.v);
}
inline Lanes Sqrt(Lanes a) {
  return _mm512_sqrt_ps(a.v);
}
inline Lanes Abs(Lanes a) {
  return _mm512_abs_ps(a.v);
}
inline Lanes Trunc(Lanes a) {
  return _mm512_cvtepi32_ps(_mm512_cvttps_epi32(a.v));
}
inline Lanes ReciprocalGuess(Lanes a) {
  return _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32(kReciprocalMagic), _mm512_castps_si512(a.v)));
}
inline LaneMask operator<(Lanes a, Lanes b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)};
}
inline LaneMask operator<=(Lanes a, Lanes b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)};
}
inline LaneMask operator&(LaneMask a, LaneMask b) {
  return {static_cast<__mmask16>(a.m & b.m)};
}
inline Lanes Select(LaneMask mask, Lanes yes, Lanes no) {
  return _mm512_mask_blend_ps(mask.m, no.v, yes.v);
}
// x where the mask is true, else 0.
inline Lanes Keep(LaneMask mask, Lanes x) {
  return _mm512_maskz_mov_ps(mask.m, x.v);
}
inline void StoreWhere(LaneMask mask, float* p, Lanes x) {
  _mm512_mask_storeu_ps(p, mask.m, x.v);
}
inline void StoreWhere(LaneMask mask, int32_t* p, int32_t x) {
  _mm512_mask_storeu_epi32(p, mask.m, _mm512_set1_epi32(x));
}
// The three low bytes of base[index], 0 .. 255 each.
inline void GatherBytes(const uint32_t* base, const int32_t* index, Lanes* r, Lanes* g, Lanes* b) {
  const __m512i texel = _mm512_i32gather_epi32(_mm512_loadu_si512(index), base, 4), byte = _mm512_set1_epi32(255);
  *r = _mm512_cvtepi32_ps(_mm512_and_si512(texel, byte));
  *g = _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(texel, 8), byte));
  *b = _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(texel, 16), byte));
}
// Cuts off fractions.
inline void StoreInt(int32_t* p, Lanes x) {
  _mm512_storeu_si512(p, _mm512_cvttps_epi32(x.v));
}
inline void Store(float* p, Lanes x) {
  _mm512_storeu_ps(p, x.v);
}
// Rounds to nearest even; x in [0, 65535].
inline void StoreUint16(uint16_t* p, Lanes x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtusepi32_epi16(_mm512_cvtps_epi32(x.v)));
}

// Two strips side by side. Past the caches when the address allows: images are written once and read elsewhere, and so
// cost no read of what they overwrite. FinishStores makes such writes visible.
inline void StoreUint16Pair(uint16_t* p, Lanes left, Lanes right) {
  const __m512i mixed = _mm512_packus_epi32(_mm512_cvtps_epi32(left.v), _mm512_cvtps_epi32(right.v));
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  const __m512i packed = _mm512_permutexvar_epi64(order, mixed);
  if (reinterpret_cast<uintptr_t>(p) % 64 == 0) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(p), packed);
  } else {
    _mm512_storeu_si512(p, packed);
  }
}
inline void FinishStores() {
  _mm_sfence();
}

}  // namespace gripstream::GS_RENDER_ISA
