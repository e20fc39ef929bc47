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
inline Lanes RootGuess(Lanes a) {
  const __m512i half = _mm512_srli_epi32(_mm512_castps_si512(a.v), 1);
  return _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32(kRootMagic), half));
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
// The three low bytes of a texel where they stand: multiples of 1, 256 and 65536.
inline void SplitBytes(__m512i texel, Lanes rgb[3]) {
  rgb[0] = _mm512_cvtepi32_ps(_mm512_and_si512(texel, _mm512_set1_epi32(0xFF)));
  rgb[1] = _mm512_cvtepi32_ps(_mm512_and_si512(texel, _mm512_set1_epi32(0xFF00)));
  rgb[2] = _mm512_cvtepi32_ps(_mm512_and_si512(texel, _mm512_set1_epi32(0xFF0000)));
}
// base[index] and base[index + 1], split so; the index in whole numbers.
inline void GatherTexels(const uint32_t* base, Lanes index, Lanes first[3], Lanes second[3]) {
  const __m512i at = _mm512_cvttps_epi32(index.v);
  const __m512i low = _mm512_i32gather_epi64(_mm512_castsi512_si256(at), base, 4);
  const __m512i high = _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(at, 1), base, 4);
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  SplitBytes(_mm512_permutex2var_epi32(low, even, high), first);
  SplitBytes(_mm512_permutex2var_epi32(low, odd, high), second);
}
// base[index], the index in whole numbers.
inline Lanes GatherAt(const float* base, Lanes index) {
  return _mm512_i32gather_ps(_mm512_cvttps_epi32(index.v), base, 4);
}
// Lanes where p holds x.
inline LaneMask Equal(const int32_t* p, int32_t x) {
  return {_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(p), _mm512_set1_epi32(x))};
}
// Bit i = lane i.
inline uint32_t Bits(LaneMask mask) {
  return mask.m;
}
// The lowest bit that is set; at least one must be.
inline int FirstOf(uint32_t bits) {
  return __builtin_ctz(bits);
}
// kLanes pixels of three bytes each; reads no byte more.
inline void LoadRgb(const uint8_t* p, Lanes rgb[3]) {
  const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m128i last = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 32));
  const __m512i packed = _mm512_inserti64x4(_mm512_castsi256_si512(first), _mm256_castsi128_si256(last), 1);
  const __m512i quarters = _mm512_setr_epi32(0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0, 9, 10, 11, 0);
  const __m512i open = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
  const __m512i pixels = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(quarters, packed), open);
  const __m512i low = _mm512_set1_epi32(0xFF);
  rgb[0] = _mm512_cvtepi32_ps(_mm512_and_si512(pixels, low));
  rgb[1] = _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(pixels, 8), low));
  rgb[2] = _mm512_cvtepi32_ps(_mm512_srli_epi32(pixels, 16));
}
// kLanes pixels of three bytes each, 0 .. 255; cuts off fractions.
inline void StoreRgb(uint8_t* p, Lanes r, Lanes g, Lanes b) {
  const __m512i green = _mm512_slli_epi32(_mm512_cvttps_epi32(g.v), 8);
  const __m512i blue = _mm512_slli_epi32(_mm512_cvttps_epi32(b.v), 16);
  const __m512i pixels = _mm512_or_si512(_mm512_or_si512(_mm512_cvttps_epi32(r.v), green), blue);
  const __m512i drop = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  const __m512i close = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15);
  const __m512i packed = _mm512_permutexvar_epi32(close, _mm512_shuffle_epi8(pixels, drop));
  // Two stores, not one with a mask: that would hold up a load of the next pixels.
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_castsi512_si256(packed));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 32), _mm512_extracti32x4_epi32(packed, 2));
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
