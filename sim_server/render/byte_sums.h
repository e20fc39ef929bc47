// Weighted sums of bytes in lanes: `ByteSums` holds kBytes of them, in 16 bits each, beside the floats of lanes.h.
//
// Even and odd bytes are summed apart, so that none has to change its place. Weights add up to 256 at most. Whole
// numbers, and so the same on every instruction set. Included by kernel files only (see lanes.h).
#pragma once

#include "sim_server/render/lanes.h"

namespace gripstream::GS_RENDER_ISA {

#if defined(GS_RENDER_ONE_LANE)

inline constexpr int kBytes = 1;
struct ByteSums {
  uint32_t sum = 128;
  GS_HOST_DEVICE void Add(const uint8_t* p, int weight) { sum += static_cast<uint32_t>(weight) * *p; }
  // 256ths of the sums, rounded.
  GS_HOST_DEVICE void Store(uint8_t* p) const { *p = static_cast<uint8_t>(sum >> 8); }
};

#elif defined(__AVX512F__)

inline constexpr int kBytes = 64;
struct ByteSums {
  __m512i even = _mm512_set1_epi16(128), odd = even;
  void Add(const uint8_t* p, int weight) {
    const __m512i v = _mm512_loadu_si512(p), w = _mm512_set1_epi32(weight * 0x10001);
    even = _mm512_add_epi16(even, _mm512_mullo_epi16(_mm512_and_si512(v, _mm512_set1_epi16(0xFF)), w));
    odd = _mm512_add_epi16(odd, _mm512_mullo_epi16(_mm512_srli_epi16(v, 8), w));
  }
  void Store(uint8_t* p) const {
    const __m512i high = _mm512_andnot_si512(_mm512_set1_epi16(0xFF), odd);
    _mm512_storeu_si512(p, _mm512_or_si512(_mm512_srli_epi16(even, 8), high));
  }
};

#elif defined(__AVX2__)

inline constexpr int kBytes = 32;
struct ByteSums {
  __m256i even = _mm256_set1_epi16(128), odd = even;
  void Add(const uint8_t* p, int weight) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), w = _mm256_set1_epi32(weight * 0x10001);
    even = _mm256_add_epi16(even, _mm256_mullo_epi16(_mm256_and_si256(v, _mm256_set1_epi16(0xFF)), w));
    odd = _mm256_add_epi16(odd, _mm256_mullo_epi16(_mm256_srli_epi16(v, 8), w));
  }
  void Store(uint8_t* p) const {
    const __m256i high = _mm256_andnot_si256(_mm256_set1_epi16(0xFF), odd);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_or_si256(_mm256_srli_epi16(even, 8), high));
  }
};

#else

inline constexpr int kBytes = 16;
struct ByteSums {
  __m128i even = _mm_set1_epi16(128), odd = even;
  void Add(const uint8_t* p, int weight) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)), w = _mm_set1_epi32(weight * 0x10001);
    even = _mm_add_epi16(even, _mm_mullo_epi16(_mm_and_si128(v, _mm_set1_epi16(0xFF)), w));
    odd = _mm_add_epi16(odd, _mm_mullo_epi16(_mm_srli_epi16(v, 8), w));
  }
  void Store(uint8_t* p) const {
    const __m128i high = _mm_andnot_si128(_mm_set1_epi16(0xFF), odd);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_or_si128(_mm_srli_epi16(even, 8), high));
  }
};

#endif

}  // namespace gripstream::GS_RENDER_ISA
