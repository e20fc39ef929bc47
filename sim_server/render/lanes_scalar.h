// Lanes of one float: any processor, and what one GPU thread runs.
// Included by lanes.h only.
#pragma once

// The C headers: an inline C++ wrapper compiled under this name could end up, linked, elsewhere.
#include <math.h>
#include <string.h>

#include <cstdint>

namespace gripstream::GS_RENDER_ISA {

inline constexpr int kLanes = 1;
struct LaneMask {
  bool m;
};
struct Lanes {
  float v;
  GS_HOST_DEVICE Lanes(float x) : v(x) {}
  GS_HOST_DEVICE static Lanes Load(const float* p) { return *p; }
  GS_HOST_DEVICE static Lanes Gather(const float* base, const int32_t* index) { return base[*index]; }
  GS_HOST_DEVICE static Lanes Iota() { return 0.0f; }
};
GS_HOST_DEVICE inline Lanes operator+(Lanes a, Lanes b) {
  return a.v + b.v;
}
GS_HOST_DEVICE inline Lanes operator-(Lanes a, Lanes b) {
  return a.v - b.v;
}
GS_HOST_DEVICE inline Lanes operator*(Lanes a, Lanes b) {
  return a.v * b.v;
}
GS_HOST_DEVICE inline Lanes operator/(Lanes a, Lanes b) {
  return a.v / b.v;
}
GS_HOST_DEVICE inline Lanes Max(Lanes a, Lanes b) {
  return a.v > b.v ? a.v : b.v;
}
GS_HOST_DEVICE inline Lanes Min(Lanes a, Lanes b) {
  return a.v < b.v ? a.v : b.v;
}
GS_HOST_DEVICE inline Lanes Sqrt(Lanes a) {
  return sqrtf(a.v);
}
GS_HOST_DEVICE inline Lanes Abs(Lanes a) {
  return fabsf(a.v);
}
GS_HOST_DEVICE inline Lanes Trunc(Lanes a) {
  return static_cast<float>(static_cast<int32_t>(a.v));
}
GS_HOST_DEVICE inline Lanes ReciprocalGuess(Lanes a) {
  int32_t bits;
  memcpy(&bits, &a.v, sizeof bits);
  bits = static_cast<int32_t>(static_cast<uint32_t>(kReciprocalMagic) - static_cast<uint32_t>(bits));
  memcpy(&a.v, &bits, sizeof bits);
  return a;
}
GS_HOST_DEVICE inline Lanes RootGuess(Lanes a) {
  int32_t bits;
  memcpy(&bits, &a.v, sizeof bits);
  bits = kRootMagic - static_cast<int32_t>(static_cast<uint32_t>(bits) >> 1);
  memcpy(&a.v, &bits, sizeof bits);
  return a;
}
GS_HOST_DEVICE inline LaneMask operator<(Lanes a, Lanes b) {
  return {a.v < b.v};
}
GS_HOST_DEVICE inline LaneMask operator<=(Lanes a, Lanes b) {
  return {a.v <= b.v};
}
GS_HOST_DEVICE inline LaneMask operator&(LaneMask a, LaneMask b) {
  return {a.m && b.m};
}
GS_HOST_DEVICE inline Lanes Select(LaneMask mask, Lanes yes, Lanes no) {
  return mask.m ? yes : no;
}
GS_HOST_DEVICE inline Lanes Keep(LaneMask mask, Lanes x) {
  return mask.m ? x : Lanes(0.0f);
}
GS_HOST_DEVICE inline void StoreWhere(LaneMask mask, float* p, Lanes x) {
  if (mask.m) *p = x.v;
}
GS_HOST_DEVICE inline void StoreWhere(LaneMask mask, int32_t* p, int32_t x) {
  if (mask.m) *p = x;
}
GS_HOST_DEVICE inline void SplitBytes(uint32_t texel, Lanes rgb[3]) {
  rgb[0] = static_cast<float>(texel & 0xFF);
  rgb[1] = static_cast<float>(texel & 0xFF00);
  rgb[2] = static_cast<float>(texel & 0xFF0000);
}
GS_HOST_DEVICE inline void GatherTexels(const uint32_t* base, Lanes index, Lanes first[3], Lanes second[3]) {
  const int32_t at = static_cast<int32_t>(index.v);
  SplitBytes(base[at], first);
  SplitBytes(base[at + 1], second);
}
GS_HOST_DEVICE inline Lanes GatherAt(const float* base, Lanes index) {
  return base[static_cast<int32_t>(index.v)];
}
GS_HOST_DEVICE inline LaneMask Equal(const int32_t* p, int32_t x) {
  return {*p == x};
}
GS_HOST_DEVICE inline uint32_t Bits(LaneMask mask) {
  return mask.m ? 1 : 0;
}
GS_HOST_DEVICE inline int FirstOf(uint32_t) {
  return 0;
}
GS_HOST_DEVICE inline void LoadRgb(const uint8_t* p, Lanes rgb[3]) {
  for (int c = 0; c < 3; ++c) rgb[c] = static_cast<float>(p[c]);
}
GS_HOST_DEVICE inline void StoreRgb(uint8_t* p, Lanes r, Lanes g, Lanes b) {
  p[0] = static_cast<uint8_t>(r.v), p[1] = static_cast<uint8_t>(g.v), p[2] = static_cast<uint8_t>(b.v);
}
GS_HOST_DEVICE inline void Store(float* p, Lanes x) {
  *p = x.v;
}
GS_HOST_DEVICE inline void StoreUint16(uint16_t* p, Lanes x) {
  *p = static_cast<uint16_t>(rintf(x.v));
}

GS_HOST_DEVICE inline void StoreUint16Pair(uint16_t* p, Lanes left, Lanes right) {
  StoreUint16(p, left);
  StoreUint16(p + kLanes, right);
}
GS_HOST_DEVICE inline void FinishStores() {}

}  // namespace gripstream::GS_RENDER_ISA
