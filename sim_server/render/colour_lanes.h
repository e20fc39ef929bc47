// Colours and powers of a strip of pixels.
//
// Included by kernel files only (see lanes.h).
#pragma once

#include "sim_server/render/shade.h"
#include "sim_server/render/surface_setup.h"

namespace gripstream::GS_RENDER_ISA {

struct Colour {
  Lanes r, g, b;
};
GS_HOST_DEVICE inline Colour operator+(Colour a, Colour b) {
  return {a.r + b.r, a.g + b.g, a.b + b.b};
}
GS_HOST_DEVICE inline Colour operator*(Colour a, Colour b) {
  return {a.r * b.r, a.g * b.g, a.b * b.b};
}
GS_HOST_DEVICE inline Colour operator*(Lanes k, Colour a) {
  return {k * a.r, k * a.g, k * a.b};
}
GS_HOST_DEVICE inline Colour Select(LaneMask mask, Colour yes, Colour no) {
  return {Select(mask, yes.r, no.r), Select(mask, yes.g, no.g), Select(mask, yes.b, no.b)};
}
GS_HOST_DEVICE inline Colour ToColour(const float v[3]) {
  return {v[0], v[1], v[2]};
}
GS_HOST_DEVICE inline Vec3 ToVec(const float v[3]) {
  return {v[0], v[1], v[2]};
}

GS_HOST_DEVICE inline Colour AtMostOne(Colour c) {
  const auto clamp = [](Lanes x) { return Min(Max(x, Lanes(0.0f)), Lanes(1.0f)); };
  return {clamp(c.r), clamp(c.g), clamp(c.b)};
}

// The zero vector stays zero.
GS_HOST_DEVICE inline Vec3 Unit(Vec3 a) {
  return FastReciprocalRoot(Dot(a, a)) * a;
}

GS_HOST_DEVICE inline Lanes Floor(Lanes x) {
  const Lanes whole = Trunc(x);
  return whole - Keep(x < whole, Lanes(1.0f));
}

// cosine^power, not below the lobe's least: never a number so small that processors are slow with it.
GS_HOST_DEVICE inline Lanes FallOff(Lanes cosine, Lobe lobe) {
  Lanes square = Max(cosine, Lanes(lobe.floor)), result(1.0f);
  for (int n = lobe.power; n > 0;) {
    if (n & 1) result = result * square;
    n >>= 1;
    if (n > 0) square = square * square;
  }
  return result;
}

}  // namespace gripstream::GS_RENDER_ISA
