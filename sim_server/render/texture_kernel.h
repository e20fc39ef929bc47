// Looks up textures: bilinear, flat or on a cube, at a level of detail that the caller's strip shares.
//
// Included by kernel files only (see lanes.h).
#pragma once

#include "sim_server/render/colour_lanes.h"

namespace gripstream::GS_RENDER_ISA {

// The texels on both sides of a texel coordinate whose whole numbers are texel centres, and the weight of the second;
// the second may be `size`, which follows the last. Repeating, or held at the border.
struct TexelPair {
  Lanes first, weight;
};

GS_HOST_DEVICE inline TexelPair Neighbours(Lanes x, float size, float per_size, bool repeat) {
  const Lanes last(size - 1), zero(0.0f);
  if (!repeat) {
    const Lanes held = Min(Max(x, zero), last), whole = Trunc(held);
    return {whole, held - whole};
  }
  const Lanes turned = x - Lanes(size) * Floor(x * Lanes(per_size));  // from 0 to size, up to rounding
  const Lanes held = Min(Max(turned, zero), Lanes(size)), whole = Min(Trunc(held), last);
  return {whole, held - whole};
}

// Bilinear at texel coordinates (x, y) of one face.
GS_HOST_DEVICE inline Colour LookFace(const TextureLevel& t, Lanes face, Lanes x, Lanes y, bool repeat) {
  const TexelPair column = Neighbours(x, t.columns, t.per_column, repeat);
  const TexelPair row = Neighbours(y, t.rows, t.per_row, repeat);
  // Rows and columns are stored with one more, so that what follows lies beside.
  const Lanes stride(t.columns + 1);
  const Lanes above = (face * Lanes(t.rows + 1) + row.first) * stride + column.first;
  const Lanes low = row.weight * Lanes(1.0f / 255), high = Lanes(1.0f / 255) - low;
  const Lanes low_right = low * column.weight, high_right = high * column.weight;
  const Lanes low_left = low - low_right, high_left = high - high_right;
  Lanes sum[3] = {0.0f, 0.0f, 0.0f}, left[3] = {0.0f, 0.0f, 0.0f}, right[3] = {0.0f, 0.0f, 0.0f};
  GatherTexels(t.texels, above, left, right);
  for (int c = 0; c < 3; ++c) sum[c] = high_left * left[c] + high_right * right[c];
  GatherTexels(t.texels, above + stride, left, right);
  for (int c = 0; c < 3; ++c) sum[c] = sum[c] + (low_left * left[c] + low_right * right[c]);
  return {sum[0], Lanes(1.0f / 256) * sum[1], Lanes(1.0f / 65536) * sum[2]};
}

// One face of a cube map, at coordinates in units of half a face from its middle.
GS_HOST_DEVICE inline Colour LookOnFace(const TextureLevel& t, Lanes face, Lanes s, Lanes v, Lanes largest) {
  const float half = 0.5f * t.columns;
  const Lanes scale = Lanes(half) / Max(largest, Lanes(1e-30f)), middle(half - 0.5f);
  return LookFace(t, face, s * scale + middle, v * scale + middle, false);
}

// The level of a cube map whose texels are as wide as a pixel that is `pixel` wide, in units of half a face.
GS_HOST_DEVICE inline const TextureLevel& CubeLevel(const TextureView& t, float pixel) {
  float texels = 0.5f * t.levels[0].columns * pixel;
  int level = 0;
  for (; texels > 1.4f && level + 1 < t.level_count; texels *= 0.5f) ++level;
  return t.levels[level];
}

// The usual convention of cube maps: the face of the largest coordinate, then the two others over it.
GS_HOST_DEVICE inline Colour LookCube(const TextureLevel& t, Vec3 d) {
  const Lanes ax = Abs(d.x), ay = Abs(d.y), az = Abs(d.z), zero(0.0f);
  const LaneMask px = zero < d.x, py = zero < d.y, pz = zero < d.z;
  const LaneMask x_largest = (ay <= ax) & (az <= ax), y_over_z = az <= ay;
  // Mostly all lanes look at one face.
  const uint32_t all = Bits(FirstLanes(kLanes)), x = Bits(x_largest), y = Bits(y_over_z);
  if (x == all && Bits(px) == all) return LookOnFace(t, 0.0f, zero - d.z, zero - d.y, ax);
  if (x == all && Bits(px) == 0) return LookOnFace(t, 1.0f, d.z, zero - d.y, ax);
  if (x == 0 && y == all && Bits(py) == all) return LookOnFace(t, 2.0f, d.x, d.z, ay);
  if (x == 0 && y == 0 && Bits(pz) == all) return LookOnFace(t, 4.0f, d.x, zero - d.y, az);
  if (x == 0 && y == 0 && Bits(pz) == 0) return LookOnFace(t, 5.0f, zero - d.x, zero - d.y, az);
  const auto pick = [&](Lanes on_x, Lanes on_y, Lanes on_z) {
    return Select(x_largest, on_x, Select(y_over_z, on_y, on_z));
  };
  const Lanes face = pick(Select(px, 0.0f, 1.0f), Select(py, 2.0f, 3.0f), Select(pz, 4.0f, 5.0f));
  const Lanes s = pick(Select(px, zero - d.z, d.z), d.x, Select(pz, d.x, zero - d.x));
  const Lanes v = pick(zero - d.y, Select(py, d.z, zero - d.z), zero - d.y);
  return LookOnFace(t, face, s, v, pick(ax, ay, az));
}

// The level whose texels are as wide as a pixel that is `pixel` wide, where p and q are; by the side that a slant does
// not stretch, which is as sharp as anisotropic filters make it.
GS_HOST_DEVICE inline int LevelOf(const Material& m, float pixel) {
  const TextureView& t = *m.texture;
  const auto squared_texels = [](const float row[3], float size) {
    return (row[0] * row[0] + row[1] * row[1]) * size * size;
  };
  const float across = squared_texels(m.across, t.levels[0].columns), down = squared_texels(m.down, t.levels[0].rows);
  float squared = pixel * pixel * (across < down ? across : down);
  int level = 0;
  for (; squared > 2.0f && level + 1 < t.level_count; squared *= 0.25f) ++level;
  return level;
}

// Texture at a point of the geom's surface, both in its frame, or, of meshes with coordinates of their own, at (u, v,
// 0); `pixel` is how wide a pixel is there.
GS_HOST_DEVICE inline Colour TextureAt(const Material& m, Vec3 local, Vec3 normal, float pixel) {
  const TextureView& t = *m.texture;
  if (m.mapping == TextureMapping::kCube) {
    return LookCube(CubeLevel(t, pixel),
                    {Lanes(m.cube[0]) * local.x, Lanes(m.cube[1]) * local.y, Lanes(m.cube[2]) * local.z});
  }
  Lanes p = local.x, q = local.y;
  if (m.mapping == TextureMapping::kBox) {
    const Lanes ax = Abs(normal.x), ay = Abs(normal.y), az = Abs(normal.z);
    const LaneMask x_most = (ay <= ax) & (az <= ax), y_over_z = az <= ay;
    p = Select(x_most, local.y, local.x);
    q = Select(x_most, local.z, Select(y_over_z, local.z, local.y));
  }
  const TextureLevel& level = t.levels[LevelOf(m, pixel)];
  const float w = level.columns, h = level.rows;
  const Lanes u = Lanes(w * m.across[0]) * p + Lanes(w * m.across[1]) * q + Lanes(w * m.across[2] - 0.5f);
  const Lanes v = Lanes(h * m.down[0]) * p + Lanes(h * m.down[1]) * q + Lanes(h * m.down[2] - 0.5f);
  return LookFace(level, 0.0f, u, v, true);
}

}  // namespace gripstream::GS_RENDER_ISA
