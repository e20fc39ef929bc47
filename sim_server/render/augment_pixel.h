// Colour augmentation one pixel at a time: what a CPU loop and a GPU thread both run. See augment.h.
//
// Pure functions of plain values; colours are red, green and blue in [0, 1]. Exact arithmetic only (add, multiply,
// divide, compare), so that every compiler's code gives the same bits.
#pragma once

#include <math.h>

#include <cstdint>

#include "core/rng.h"
#include "sim_server/render/shade.h"

namespace gripstream::augment {

struct Rgb {
  float r, g, b;
};

struct ColourChange {
  float brightness, contrast, saturation;  // factors
  float hue;                               // part of the colour circle
};

GS_HOST_DEVICE inline float Clamp(float x) {
  return x < 0 ? 0 : x > 1 ? 1 : x;
}
GS_HOST_DEVICE inline float Greatest(float a, float b) {
  return a > b ? a : b;
}
GS_HOST_DEVICE inline float Least(float a, float b) {
  return a < b ? a : b;
}

// Where on the colour circle, [0, 6): red 0, green 2, blue 4; 0 for greys.
GS_HOST_DEVICE inline float Hue(Rgb c, float most, float chroma) {
  const float k = chroma > 0 ? 1 / chroma : 0;
  const float from_red = (c.g - c.b) * k, from_green = (c.b - c.r) * k + 2, from_blue = (c.r - c.g) * k + 4;
  const float hue = most == c.r ? from_red : most == c.g ? from_green : from_blue;
  return hue < 0 ? hue + 6 : hue;
}

// One component of the fully saturated colour `offset` sixths of the circle away: 0 at the hue's own end, 1 opposite.
GS_HOST_DEVICE inline float Component(float hue, float offset) {
  float k = hue + offset;
  k = k >= 6 ? k - 6 : k;
  return Greatest(0, Least(1, Least(k, 4 - k)));
}

// The colour turned by `part` of the circle at the same value and saturation (HSV).
GS_HOST_DEVICE inline Rgb TurnHue(Rgb c, float part) {
  const float most = Greatest(c.r, Greatest(c.g, c.b)), chroma = most - Least(c.r, Least(c.g, c.b));
  float hue = Hue(c, most, chroma) + 6 * part;
  hue = hue < 0 ? hue + 6 : hue >= 6 ? hue - 6 : hue;
  return {most - chroma * Component(hue, 5), most - chroma * Component(hue, 3), most - chroma * Component(hue, 1)};
}

// Brightness, contrast about middle grey, saturation, hue; clamped after each.
GS_HOST_DEVICE inline Rgb Change(Rgb c, const ColourChange& by) {
  c = {Clamp(c.r * by.brightness), Clamp(c.g * by.brightness), Clamp(c.b * by.brightness)};
  const float shift = 0.5f - 0.5f * by.contrast;
  c = {Clamp(c.r * by.contrast + shift), Clamp(c.g * by.contrast + shift), Clamp(c.b * by.contrast + shift)};
  const float grey = (1 - by.saturation) * (0.299f * c.r + 0.587f * c.g + 0.114f * c.b);
  c = {Clamp(by.saturation * c.r + grey), Clamp(by.saturation * c.g + grey), Clamp(by.saturation * c.b + grey)};
  return TurnHue(c, by.hue);
}

// Motion blur as taps along a line: pixels relative to the one that is blurred, and weights that sum to 1.
inline constexpr int kMostTaps = 63;
struct Blur {
  int taps;
  int dx[kMostTaps], dy[kMostTaps];
  float weight[kMostTaps];
};

// Channel `c` of pixel (x, y), rounded; beyond the border the border is repeated. rgb [H, W, 3].
GS_HOST_DEVICE inline uint8_t Blurred(const uint8_t* rgb, int width, int height, int x, int y, int c,
                                      const Blur& blur) {
  float sum = 0.5f;
  for (int i = 0; i < blur.taps; ++i) {
    int at_x = x + blur.dx[i], at_y = y + blur.dy[i];
    at_x = at_x < 0 ? 0 : at_x >= width ? width - 1 : at_x;
    at_y = at_y < 0 ? 0 : at_y >= height ? height - 1 : at_y;
    sum += blur.weight[i] * static_cast<float>(rgb[3 * (static_cast<int64_t>(at_y) * width + at_x) + c]);
  }
  return static_cast<uint8_t>(sum < 255 ? sum : 255.0f);
}

// Pixel (x, y) of a flat texture stretched over the image; packed as there.
GS_HOST_DEVICE inline uint32_t Stretched(const TextureLevel& texture, int x, int y, int width, int height) {
  const int64_t column = (int64_t{2} * x + 1) * texture.width / (2 * width);
  const int64_t row = (int64_t{2} * y + 1) * texture.height / (2 * height);
  return texture.texels[row * (texture.width + 1) + column];
}

}  // namespace gripstream::augment
