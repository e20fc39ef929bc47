// 32-bit whole numbers in lanes, for random bits: `Words` holds kLanes of them, beside the floats of lanes.h.
//
// Arithmetic is modulo 2^32 and so the same on every instruction set. Included by kernel files only (see lanes.h).
#pragma once

#include "sim_server/render/lanes.h"

namespace gripstream::GS_RENDER_ISA {

// The two halves of a product of 64 bits.
template <class Word>
struct WideProduct {
  Word high, low;
};

GS_HOST_DEVICE inline WideProduct<uint32_t> MultiplyWide(uint32_t a, uint32_t b) {
  const uint64_t product = uint64_t{a} * b;
  return {static_cast<uint32_t>(product >> 32), static_cast<uint32_t>(product)};
}

#if defined(GS_RENDER_ONE_LANE)

struct Words {
  uint32_t v;
  GS_HOST_DEVICE Words(uint32_t x) : v(x) {}
  GS_HOST_DEVICE static Words Iota() { return 0u; }
};
GS_HOST_DEVICE inline Words operator^(Words a, Words b) {
  return a.v ^ b.v;
}
GS_HOST_DEVICE inline Words operator&(Words a, Words b) {
  return a.v & b.v;
}
GS_HOST_DEVICE inline Words operator+(Words a, Words b) {
  return a.v + b.v;
}
template <int kBits>
GS_HOST_DEVICE inline Words ShiftRight(Words a) {
  return a.v >> kBits;
}
GS_HOST_DEVICE inline WideProduct<Words> MultiplyWide(uint32_t a, Words b) {
  const WideProduct<uint32_t> product = MultiplyWide(a, b.v);
  return {product.high, product.low};
}
GS_HOST_DEVICE inline Lanes ToLanes(Words a) {
  return static_cast<float>(static_cast<int32_t>(a.v));
}
GS_HOST_DEVICE inline Lanes LoadUint16(const uint16_t* p) {
  return static_cast<float>(*p);
}
GS_HOST_DEVICE inline void GatherUint16Pair(const uint16_t* base, Lanes index, Lanes* left, Lanes* right) {
  const int32_t at = static_cast<int32_t>(index.v);
  *left = static_cast<float>(base[at]), *right = static_cast<float>(base[at + 1]);
}

#elif defined(__AVX512F__)

struct Words {
  __m512i v;
  Words(__m512i x) : v(x) {}
  Words(uint32_t x) : v(_mm512_set1_epi32(static_cast<int>(x))) {}
  static Words Iota() { return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }
};
inline Words operator^(Words a, Words b) {
  return _mm512_xor_si512(a.v, b.v);
}
inline Words operator&(Words a, Words b) {
  return _mm512_and_si512(a.v, b.v);
}
inline Words operator+(Words a, Words b) {
  return _mm512_add_epi32(a.v, b.v);
}
template <int kBits>
inline Words ShiftRight(Words a) {
  return _mm512_srli_epi32(a.v, kBits);
}
inline WideProduct<Words> MultiplyWide(uint32_t a, Words b) {
  const __m512i factor = _mm512_set1_epi64(static_cast<long long>(a));
  // Shuffles, not shifts: they do not wait for the multiplier's port.
  const auto swapped = [](__m512i x) { return _mm512_shuffle_epi32(x, _MM_PERM_CDAB); };
  const __m512i even = _mm512_mul_epu32(factor, b.v), odd = _mm512_mul_epu32(factor, swapped(b.v));
  constexpr __mmask16 kOdd = 0xAAAA;
  return {_mm512_mask_mov_epi32(swapped(even), kOdd, odd), _mm512_mask_mov_epi32(even, kOdd, swapped(odd))};
}
inline Lanes ToLanes(Words a) {
  return _mm512_cvtepi32_ps(a.v);
}
inline Lanes LoadUint16(const uint16_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
}
inline void GatherUint16Pair(const uint16_t* base, Lanes index, Lanes* left, Lanes* right) {
  const __m512i both = _mm512_i32gather_epi32(_mm512_cvttps_epi32(index.v), base, 2);
  *left = _mm512_cvtepi32_ps(_mm512_and_si512(both, _mm512_set1_epi32(0xFFFF)));
  *right = _mm512_cvtepi32_ps(_mm512_srli_epi32(both, 16));
}

#elif defined(__AVX2__)

struct Words {
  __m256i v;
  Words(__m256i x) : v(x) {}
  Words(uint32_t x) : v(_mm256_set1_epi32(static_cast<int>(x))) {}
  static Words Iota() { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
};
inline Words operator^(Words a, Words b) {
  return _mm256_xor_si256(a.v, b.v);
}
inline Words operator&(Words a, Words b) {
  return _mm256_and_si256(a.v, b.v);
}
inline Words operator+(Words a, Words b) {
  return _mm256_add_epi32(a.v, b.v);
}
template <int kBits>
inline Words ShiftRight(Words a) {
  return _mm256_srli_epi32(a.v, kBits);
}
inline WideProduct<Words> MultiplyWide(uint32_t a, Words b) {
  const __m256i factor = _mm256_set1_epi64x(static_cast<long long>(a));
  const auto swapped = [](__m256i x) { return _mm256_shuffle_epi32(x, 0b10'11'00'01); };
  const __m256i even = _mm256_mul_epu32(factor, b.v), odd = _mm256_mul_epu32(factor, swapped(b.v));
  return {_mm256_blend_epi32(swapped(even), odd, 0xAA), _mm256_blend_epi32(even, swapped(odd), 0xAA)};
}
inline Lanes ToLanes(Words a) {
  return _mm256_cvtepi32_ps(a.v);
}
inline Lanes LoadUint16(const uint16_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
inline void GatherUint16Pair(const uint16_t* base, Lanes index, Lanes* left, Lanes* right) {
  const __m256i at = _mm256_cvttps_epi32(index.v);
  const __m256i both = _mm256_i32gather_epi32(reinterpret_cast<const int*>(base), at, 2);
  *left = _mm256_cvtepi32_ps(_mm256_and_si256(both, _mm256_set1_epi32(0xFFFF)));
  *right = _mm256_cvtepi32_ps(_mm256_srli_epi32(both, 16));
}

#else

struct Words {
  __m128i v;
  Words(__m128i x) : v(x) {}
  Words(uint32_t x) : v(_mm_set1_epi32(static_cast<int>(x))) {}
  static Words Iota() { return _mm_setr_epi32(0, 1, 2, 3); }
};
inline Words operator^(Words a, Words b) {
  return _mm_xor_si128(a.v, b.v);
}
inline Words operator&(Words a, Words b) {
  return _mm_and_si128(a.v, b.v);
}
inline Words operator+(Words a, Words b) {
  return _mm_add_epi32(a.v, b.v);
}
template <int kBits>
inline Words ShiftRight(Words a) {
  return _mm_srli_epi32(a.v, kBits);
}
inline WideProduct<Words> MultiplyWide(uint32_t a, Words b) {
  const __m128i factor = _mm_set1_epi64x(static_cast<long long>(a));
  const __m128i even = _mm_mul_epu32(factor, b.v), odd = _mm_mul_epu32(factor, _mm_srli_epi64(b.v, 32));
  const __m128i low = _mm_set1_epi64x(0xFFFFFFFFll);
  return {_mm_or_si128(_mm_srli_epi64(even, 32), _mm_andnot_si128(low, odd)),
          _mm_or_si128(_mm_and_si128(low, even), _mm_slli_epi64(odd, 32))};
}
inline Lanes ToLanes(Words a) {
  return _mm_cvtepi32_ps(a.v);
}
inline Lanes LoadUint16(const uint16_t* p) {
  const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm_cvtepi32_ps(_mm_unpacklo_epi16(four, _mm_setzero_si128()));
}
inline void GatherUint16Pair(const uint16_t* base, Lanes index, Lanes* left, Lanes* right) {
  int32_t indices[kLanes];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(indices), _mm_cvttps_epi32(index.v));
  const auto at = [&](int i, int side) { return static_cast<float>(base[indices[i] + side]); };
  *left = _mm_setr_ps(at(0, 0), at(1, 0), at(2, 0), at(3, 0));
  *right = _mm_setr_ps(at(0, 1), at(1, 1), at(2, 1), at(3, 1));
}

#endif

}  // namespace gripstream::GS_RENDER_ISA
