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

#include <cstdint>

#include "core/rng.h"

namespace gripstream::GS_RENDER_ISA {

// 1/x is about the float with the bits (magic - bits of x): 12 % off at most, a start for Newton's iteration.
inline constexpr int32_t kReciprocalMagic = 0x7EF311C3;

// The same for 1/sqrt(x): magic - half the bits of x. With this one the quick root below errs least.
inline constexpr int32_t kRootMagic = 0x5F1FFFF9;

}  // namespace gripstream::GS_RENDER_ISA

#if defined(GS_RENDER_ONE_LANE)
#include "sim_server/render/lanes_scalar.h"
#elif defined(__AVX512F__)
#include "sim_server/render/lanes_avx512.h"
#elif defined(__AVX2__)
#include "sim_server/render/lanes_avx2.h"
#else
#include "sim_server/render/lanes_sse2.h"
#endif

namespace gripstream::GS_RENDER_ISA {

// 1/x for x > 0 to about one part in ten million: three Newton iterations, a third of the time of a division.
GS_HOST_DEVICE inline Lanes FastReciprocal(Lanes x) {
  Lanes y = ReciprocalGuess(x);
  for (int i = 0; i < 3; ++i) y = y * (Lanes(2.0f) - x * y);
  return y;
}

// 1/sqrt(x) for x > 0 to one part in a million: two Newton iterations.
GS_HOST_DEVICE inline Lanes FastReciprocalRoot(Lanes x) {
  const Lanes half = Lanes(0.5f) * x;
  Lanes y = RootGuess(x);
  y = y * (Lanes(1.68191391f) - Lanes(1.407904506f) * half * y * y);
  return y * (Lanes(1.5f) - half * y * y);
}

// The same to seven parts in ten thousand: one iteration, with constants that even out its error.
GS_HOST_DEVICE inline Lanes QuickReciprocalRoot(Lanes x) {
  const Lanes y = RootGuess(x);
  return y * (Lanes(1.68191391f) - Lanes(0.703952253f) * x * y * y);
}

// Whole numbers not below / not above x, for x >= 0.
GS_HOST_DEVICE inline Lanes FloorPositive(Lanes x) {
  return Trunc(x);
}
GS_HOST_DEVICE inline Lanes CeilPositive(Lanes x) {
  const Lanes whole = Trunc(x);
  return whole + Keep(whole < x, Lanes(1.0f));
}

GS_HOST_DEVICE inline LaneMask FirstLanes(int n) {
  return Lanes::Iota() < Lanes(static_cast<float>(n));
}

}  // namespace gripstream::GS_RENDER_ISA
