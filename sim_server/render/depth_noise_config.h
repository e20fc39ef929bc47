// Configuration of depth sensor noise (depth_noise.h). Plain values, no MuJoCo: every binary parses the whole run file.
#pragma once

#include "core/config.h"

namespace gripstream {

struct DepthNoiseConfig {
  bool enabled = false;
  double jitter_px = 0.5;
  double disparity_sigma = 1.0 / 6.0;
  double disparity_step = 1.0;
  double normal_sigma_m = 0.01;
  double dropout = 0.003125;
  double speckle = 0.003125;
  double speckle_spread = 0.25;
  double edge_dropout = 0.5;
  double edge_m = 0.03;
  double stick = 0.00025;
  double stick_length_px = 18;
  double stick_width_px = 3;
  double min_range_m = 0.5;
  double max_range_m = 1.3;

  void Fields(FieldVisitor& v) {
    const FloatRange chance = {0, 1};
    v.Bool("enabled", enabled, {.doc = "whether depth images get sensor noise"});
    v.Float("jitter_px", jitter_px, {.doc = "standard deviation of where depth is looked up", .unit = "px"}, {0, 10});
    v.Float("disparity_sigma", disparity_sigma,
            {.doc = "standard deviation of the disparity before rounding", .unit = "px/8"}, {0, 100});
    v.Float("disparity_step", disparity_step, {.doc = "what disparity is rounded to; 0 = not", .unit = "px/8"},
            {0, 64});
    v.Float("normal_sigma_m", normal_sigma_m, {.doc = "standard deviation of the shift along the normal", .unit = "m"},
            {0, 1});
    v.Float("dropout", dropout, {.doc = "share of pixels set to 0"}, chance);
    v.Float("speckle", speckle, {.doc = "share of pixels set to a random depth in range"}, chance);
    v.Float("speckle_spread", speckle_spread, {.doc = "chance of each of three neighbours to share a speckle"}, chance);
    v.Float("edge_dropout", edge_dropout,
            {.doc = "chance of a pixel at a depth edge to be 0, at the far end of the range"}, chance);
    v.Float("edge_m", edge_m, {.doc = "depth step that makes an edge", .unit = "m"}, {1e-4, 10});
    v.Float("stick", stick, {.doc = "chance of each pixel to start a stick of constant random depth"}, chance);
    v.Float("stick_length_px", stick_length_px, {.doc = "greatest length of a stick", .unit = "px"}, {0, 256});
    v.Float("stick_width_px", stick_width_px, {.doc = "greatest width of a stick", .unit = "px"}, {0, 32});
    v.Float("min_range_m", min_range_m, {.doc = "nearer is 0", .unit = "m"}, {0, 6.5535});
    v.Float("max_range_m", max_range_m, {.doc = "farther is 0", .unit = "m"}, {1e-3, 6.5535});
  }
};

}  // namespace gripstream
