// Colour augmentation of kLanes neighbouring pixels: what a CPU loop and a GPU thread both run (see augment.h).
//
// Colours are red, green and blue in [0, 1]. Exact arithmetic only: no instruction set and no GPU rounds otherwise.
// Included by kernel files only (see lanes.h).
#pragma once

#include "sim_server/render/augment_job.h"
#include "sim_server/render/lanes.h"

namespace gripstream::GS_RENDER_ISA {

struct LaneRgb {
  Lanes r, g, b;
};

GS_HOST_DEVICE inline Lanes ClampToUnit(Lanes x) {
  return Min(Max(x, Lanes(0.0f)), Lanes(1.0f));
}

// One component of the fully saturated colour of a hue: 0 at the component's own end of the circle, 1 opposite, in
// between along a ramp. With k = hue + offset in sixths of the circle, -1 <= k < 11, the ramps are those of
// clamp(min(k, 4 - k)) and of the same a turn later, which the two absolute values fold together.
GS_HOST_DEVICE inline Lanes HueComponent(Lanes hue, float offset_less_5) {
  const Lanes turned = Abs(hue + Lanes(offset_less_5)) - Lanes(3.0f);
  return ClampToUnit(Lanes(2.0f) - Abs(turned));
}

// The colour turned about the circle at the same value and saturation (HSV). Its hue is in sixths: red 0, green 2,
// blue 4, and down to -1 between red and blue.
GS_HOST_DEVICE inline LaneRgb TurnHue(LaneRgb c, const float hue_offset[3]) {
  const Lanes most = Max(c.r, Max(c.g, c.b)), chroma = most - Min(c.r, Min(c.g, c.b));
  const Lanes k = FastReciprocal(Max(chroma, Lanes(1e-6f)));  // of no weight where the colour is grey
  const Lanes from_green = (c.b - c.r) * k + Lanes(2.0f), from_blue = (c.r - c.g) * k + Lanes(4.0f);
  const Lanes hue = Select(most <= c.r, (c.g - c.b) * k, Select(most <= c.g, from_green, from_blue));
  return {most - chroma * HueComponent(hue, hue_offset[0]), most - chroma * HueComponent(hue, hue_offset[1]),
          most - chroma * HueComponent(hue, hue_offset[2])};
}

// From bytes: brightness, contrast about middle grey, saturation, hue; clamped after each.
GS_HOST_DEVICE inline LaneRgb ChangeColours(LaneRgb c, const AugmentJob::Colours& by) {
  const Lanes one(1.0f), brightness(by.brightness), contrast(by.contrast), shift(by.contrast_shift);
  const auto bright = [&](Lanes x) { return ClampToUnit(contrast * Min(brightness * x, one) + shift); };
  c = {bright(c.r), bright(c.g), bright(c.b)};
  const Lanes grey = Lanes(by.red) * c.r + Lanes(by.green) * c.g + Lanes(by.blue) * c.b, saturation(by.saturation);
  const auto saturate = [&](Lanes x) { return ClampToUnit(saturation * x + grey); };
  return TurnHue({saturate(c.r), saturate(c.g), saturate(c.b)}, by.hue);
}

// The texel of one side that pixel `at` of `pixels` shows of a stretched picture.
GS_HOST_DEVICE inline int Stretched(int at, int texels, int pixels) {
  return static_cast<int>((int64_t{2} * at + 1) * texels / (int64_t{2} * pixels));
}

// The picture's texels where nothing or background is seen. `columns` are those of the strip's pixels.
GS_HOST_DEVICE inline LaneRgb ReplaceBackground(LaneRgb c, const AugmentJob& job, const uint32_t* texel_row,
                                                const int32_t* ids, const float* columns) {
  const LaneMask behind = Lanes(0.5f) < Lanes::Gather(job.is_background, ids);
  if (!Bits(behind)) return c;
  Lanes picture[3] = {0.0f, 0.0f, 0.0f}, beside[3] = {0.0f, 0.0f, 0.0f};
  GatherTexels(texel_row, Lanes::Load(columns), picture, beside);
  return {Select(behind, picture[0], c.r), Select(behind, picture[1] * Lanes(1.0f / 256), c.g),
          Select(behind, picture[2] * Lanes(1.0f / 65536), c.b)};
}

// The first two stages of kLanes pixels. `ids`, `columns` and `texel_row` are not read where the background stays.
GS_HOST_DEVICE inline void RecolourStrip(const AugmentJob& job, const uint8_t* from, const uint32_t* texel_row,
                                         const int32_t* ids, const float* columns, uint8_t* to) {
  Lanes rgb[3] = {0.0f, 0.0f, 0.0f};
  LoadRgb(from, rgb);
  LaneRgb c = {rgb[0], rgb[1], rgb[2]};
  if (texel_row) c = ReplaceBackground(c, job, texel_row, ids, columns);
  if (job.colours.change) {
    c = ChangeColours(c, job.colours);
    const Lanes most(255.0f), half(0.5f);
    c = {most * c.r + half, most * c.g + half, most * c.b + half};
  }
  StoreRgb(to, c.r, c.g, c.b);
}

}  // namespace gripstream::GS_RENDER_ISA
