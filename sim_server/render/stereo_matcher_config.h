// What a user writes under `render.matcher:`. Plain values; no MuJoCo header.
#pragma once

#include <string>

#include "core/config.h"

namespace gripstream {

struct StereoMatcherConfig {
  std::string right;
  std::string method = "sgbm";
  int disparities_px = 64;
  int block_px = 5;
  int uniqueness_percent = 10;
  int speckle_window_px = 50;
  int speckle_range_px = 2;

  void Fields(FieldVisitor& v) {
    v.String("right", right, {.doc = "camera to the right of the depth camera, looking the same way"});
    v.Choice("method", method, {"bm", "sgbm"}, {.doc = "OpenCV's block matching, or semi-global block matching"});
    v.Int("disparities_px", disparities_px,
          {.doc = "disparities looked through; bounds the nearest depth", .unit = "px"}, {16, 1024});
    v.Int("block_px", block_px, {.doc = "side of the blocks compared, odd; at least 5 with bm", .unit = "px"}, {1, 51});
    v.Int("uniqueness_percent", uniqueness_percent, {.doc = "how much better the best match must be", .unit = "%"},
          {0, 100});
    v.Int("speckle_window_px", speckle_window_px,
          {.doc = "patches of fewer pixels that stand out are dropped; 0: none", .unit = "px"}, {0, 10000});
    v.Int("speckle_range_px", speckle_range_px, {.doc = "disparity within a patch", .unit = "px"}, {1, 64});
  }
};

}  // namespace gripstream
