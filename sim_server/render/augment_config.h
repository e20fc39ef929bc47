// What a user writes under `render.augment:`. Plain values; no MuJoCo header. Pairs are [low, high] of a uniform draw.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"

namespace gripstream {

struct AugmentConfig {
  bool enabled = false;
  double colour_probability = 1;
  std::vector<double> brightness = {0.5, 1.5}, contrast = {0.5, 1.5}, saturation = {0.5, 1.5};
  double hue = 0.15;
  double blur_probability = 0.1;
  std::vector<int> blur_kernel_px = {9, 17};
  double background_probability = 0.5;
  std::string backgrounds;
  std::vector<std::string> background_geoms;

  void Fields(FieldVisitor& v) {
    const FloatRange chance = {0, 1}, factor = {0, 10};
    v.Bool("enabled", enabled, {.doc = "whether colour images are augmented"});
    v.Float("colour_probability", colour_probability, {.doc = "of an episode with other colours"}, chance);
    v.Floats("brightness", brightness, 2, {.doc = "factor on all colours"}, factor);
    v.Floats("contrast", contrast, 2, {.doc = "factor on the difference to middle grey"}, factor);
    v.Floats("saturation", saturation, 2, {.doc = "factor on the difference to the pixel's grey"}, factor);
    v.Float("hue", hue, {.doc = "greatest shift of the hue, as a part of the colour circle"}, {0, 0.5});
    v.Float("blur_probability", blur_probability, {.doc = "of a step with motion blur"}, chance);
    v.Ints("blur_kernel_px", blur_kernel_px, 2, {.doc = "length of the blur, an odd number", .unit = "px"}, {1, 63});
    v.Float("background_probability", background_probability, {.doc = "of an episode with another background"}, chance);
    v.String("backgrounds", backgrounds, {.doc = "folder of PNG and JPEG images; empty: shipped ones"});
    v.Strings("background_geoms", background_geoms,
              {.doc = "geoms that count as background, besides planes and what shows nothing"});
  }
};

}  // namespace gripstream
