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
inline Lanes RootGuess(Lanes a) {
  const __m256i half = _mm256_srli_epi32(_mm256_castps_si256(a.v), 1);
  return _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_set1_epi32(kRootMagic), half));
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
inline void SplitBytes(__m256i texel, Lanes rgb[3]) {
  rgb[0] = _mm256_cvtepi32_ps(_mm256_and_si256(texel, _mm256_set1_epi32(0xFF)));
  rgb[1] = _mm256_cvtepi32_ps(_mm256_and_si256(texel, _mm256_set1_epi32(0xFF00)));
  rgb[2] = _mm256_cvtepi32_ps(_mm256_and_si256(texel, _mm256_set1_epi32(0xFF0000)));
}
inline void GatherTexels(const uint32_t* base, Lanes index, Lanes first[3], Lanes second[3]) {
  const __m256i at = _mm256_cvttps_epi32(index.v);
  const auto gather = [base](__m128i four) {
    return _mm256_castsi256_ps(_mm256_i32gather_epi64(reinterpret_cast<const long long*>(base), four, 4));
  };
  const __m256 low = gather(_mm256_castsi256_si128(at)), high = gather(_mm256_extracti128_si256(at, 1));
  const auto in_order = [](__m256 x) { return _mm256_permute4x64_epi64(_mm256_castps_si256(x), 0b11'01'10'00); };
  SplitBytes(in_order(_mm256_shuffle_ps(low, high, 0b10'00'10'00)), first);
  SplitBytes(in_order(_mm256_shuffle_ps(low, high, 0b11'01'11'01)), second);
}
inline Lanes GatherAt(const float* base, Lanes index) {
  return _mm256_i32gather_ps(base, _mm256_cvttps_epi32(index.v), 4);
}
inline LaneMask Equal(const int32_t* p, int32_t x) {
  const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return {_mm256_castsi256_ps(_mm256_cmpeq_epi32(v, _mm256_set1_epi32(x)))};
}
inline uint32_t Bits(LaneMask mask) {
  return static_cast<uint32_t>(_mm256_movemask_ps(mask.m));
}
inline int FirstOf(uint32_t bits) {
  return __builtin_ctz(bits);
}
inline void LoadRgb(const uint8_t* p, Lanes rgb[3]) {
  const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m256i packed = _mm256_set_m128i(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + 16)), first);
  const __m256i halves = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 1, 2, 6, 3, 4, 5, 7));
  const __m256i open = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
  const __m256i pixels = _mm256_shuffle_epi8(halves, open), low = _mm256_set1_epi32(0xFF);
  rgb[0] = _mm256_cvtepi32_ps(_mm256_and_si256(pixels, low));
  rgb[1] = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(pixels, 8), low));
  rgb[2] = _mm256_cvtepi32_ps(_mm256_srli_epi32(pixels, 16));
}
inline void StoreRgb(uint8_t* p, Lanes r, Lanes g, Lanes b) {
  const __m256i green = _mm256_slli_epi32(_mm256_cvttps_epi32(g.v), 8);
  const __m256i blue = _mm256_slli_epi32(_mm256_cvttps_epi32(b.v), 16);
  const __m256i pixels = _mm256_or_si256(_mm256_or_si256(_mm256_cvttps_epi32(r.v), green), blue);
  const __m256i drop =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  const __m256i close = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
  const __m256i packed = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(pixels, drop), close);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(packed));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p + 16), _mm256_extracti128_si256(packed, 1));
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
