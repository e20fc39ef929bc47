// One image's colour augmentation as plain numbers, for the CPU's kernels and a GPU's; see augment.h for the model.
//
// Plain values; no thread rule; nothing throws.
#pragma once

#include <cstdint>

namespace gripstream {

inline constexpr int kMostTaps = 63;
// Weights of a motion blur are multiples of 1 / kBlurUnit, so that a sum of weighted bytes fits 16 bits.
inline constexpr int kBlurUnit = 256;

struct AugmentJob {
  int width, height;

  // The picture behind, packed as in TextureLevel, stretched over the image; null where the background stays.
  const uint32_t* texels;
  int texel_columns, texel_rows;
  // 1 for geoms that count as background, else 0; [-1] is for pixels that show nothing.
  const float* is_background;

  // Colours in [0, 1]: factors, and what they entail. See ColoursOf.
  struct Colours {
    bool change;
    float brightness;                    // from bytes
    float contrast, contrast_shift;      // the shift keeps middle grey
    float saturation, red, green, blue;  // parts of the colour in the grey that is added
    float hue[3];                        // where red, green and blue are opposite to on the circle, less 5 sixths
  } colours;

  // Motion blur as taps along a line: pixels relative to the one that is blurred; weights that sum to kBlurUnit.
  struct Blur {
    int taps;  // 0: none
    int dx[kMostTaps], dy[kMostTaps], weight[kMostTaps];
  } blur;
};

// Factors of brightness, contrast and saturation; hue is a part of the colour circle in [-0.5, 0.5].
AugmentJob::Colours ColoursOf(float brightness, float contrast, float saturation, float hue);

// What a strip of bytes may be read beyond the last row's end.
inline constexpr int kAugmentStrip_bytes = 256;
// What a strip of pixels may be read beyond a row's end.
inline constexpr int kAugmentStrip = 16;

// One image, and a thread's scratch memory.
struct AugmentCanvas {
  uint8_t* rgb;                 // [H, W, 3] the image, changed in place
  const int32_t* segmentation;  // [H, W] geom ids or -1; not read where the background stays
  float* columns;               // [W + kAugmentStrip] the picture's column for every pixel of a row
  // [H + 2 border, stride] the image to blur with its outermost pixels repeated, then kAugmentStrip_bytes; not touched
  // without blur. No tap is farther away than border_px.
  uint8_t* padded;
  int64_t padded_stride;  // bytes, 3 (W + 2 border)
  int border_px;
};

}  // namespace gripstream
