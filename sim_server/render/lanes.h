// A row of neighbouring pixels computed at once: `Lanes` holds kLanes floats, `LaneMask` one truth value each.
//
// Included only by the files that instantiate the kernels, each compiled for one instruction set and each with its own
// namespace GS_RENDER_ISA, so that the linker never mixes code of two sets. Every operation is the IEEE one (no fused
// multiply-add, no approximate reciprocal): all widths give the same bits. Max and Min return the second operand when
// either is NaN, which is what the kernels rely on to drop rays that miss.
#pragma once

#ifndef GS_RENDER_ISA
#error "define GS_RENDER_ISA, the namespace of this instruction set, before including lanes.h"
#endif

#include <immintrin.h>

#include <cstdint>

namespace gripstream::GS_RENDER_ISA {

#if defined(__AVX512F__)

inline constexpr int kLanes = 16;
struct LaneMask {
  __mmask16 m;
};
struct Lanes {
  __m512 v;
  Lanes(__m512 x) : v(x) {}
  Lanes(float x) : v(_mm512_set1_ps(x)) {}
  static Lanes Load(const float* p) { return _mm512_loadu_ps(p); }
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
inline LaneMask operator<(Lanes a, Lanes b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)};
}
inline LaneMask operator<=(Lanes a, Lanes b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)};
}
inline LaneMask operator&(LaneMask a, LaneMask b) {
  return {static_cast<__mmask16>(a.m & b.m)};
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
inline void Store(float* p, Lanes x) {
  _mm512_storeu_ps(p, x.v);
}
// Rounds to nearest even; x in [0, 65535].
inline void StoreUint16(uint16_t* p, Lanes x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtusepi32_epi16(_mm512_cvtps_epi32(x.v)));
}

#elif defined(__AVX2__)

inline constexpr int kLanes = 8;
struct LaneMask {
  __m256 m;
};
struct Lanes {
  __m256 v;
  Lanes(__m256 x) : v(x) {}
  Lanes(float x) : v(_mm256_set1_ps(x)) {}
  static Lanes Load(const float* p) { return _mm256_loadu_ps(p); }
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
inline LaneMask operator<(Lanes a, Lanes b) {
  return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)};
}
inline LaneMask operator<=(Lanes a, Lanes b) {
  return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)};
}
inline LaneMask operator&(LaneMask a, LaneMask b) {
  return {_mm256_and_ps(a.m, b.m)};
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
inline void Store(float* p, Lanes x) {
  _mm256_storeu_ps(p, x.v);
}
inline void StoreUint16(uint16_t* p, Lanes x) {
  const __m256i i = _mm256_cvtps_epi32(x.v);
  const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), packed);
}

#else  // SSE2, which every x86-64 has

inline constexpr int kLanes = 4;
struct LaneMask {
  __m128 m;
};
struct Lanes {
  __m128 v;
  Lanes(__m128 x) : v(x) {}
  Lanes(float x) : v(_mm_set1_ps(x)) {}
  static Lanes Load(const float* p) { return _mm_loadu_ps(p); }
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
inline void StoreWhere(LaneMask mask, float* p, Lanes x) {
  _mm_storeu_ps(p, Blend(mask.m, x.v, _mm_loadu_ps(p)));
}
inline void StoreWhere(LaneMask mask, int32_t* p, int32_t x) {
  __m128i* q = reinterpret_cast<__m128i*>(p);
  const __m128 old = _mm_castsi128_ps(_mm_loadu_si128(q));
  _mm_storeu_si128(q, _mm_castps_si128(Blend(mask.m, _mm_castsi128_ps(_mm_set1_epi32(x)), old)));
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

#endif

inline LaneMask FirstLanes(int n) {
  return Lanes::Iota() < Lanes(static_cast<float>(n));
}

}  // namespace gripstream::GS_RENDER_ISA
