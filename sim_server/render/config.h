// Size of images, range of depth and which renderer. Plain values; reading them is strict (core/config.h); no MuJoCo
// header.
#pragma once

#include <string>

#include "core/config.h"

namespace gripstream {

// A depth image stores multiples of this, so that the largest depth is 6.5535 m.
inline constexpr double kDepthQuantum_m = 1e-4;

struct RenderConfig {
  int width = 64;
  int height = 48;
  std::string backend = "cpu";
  double near_m = 0.01;
  double far_m = 2.0;
  bool shadows = false;
  int shadow_px = 1024;
  bool colour = false;  // whether colour images can be asked for: set by who makes the renderer, no key

  void Fields(FieldVisitor& v) {
    v.Int("width", width, {.doc = "image width", .unit = "px"}, {1, 4096});
    v.Int("height", height, {.doc = "image height", .unit = "px"}, {1, 4096});
    v.Choice("backend", backend, {"cpu", "cuda", "mujoco"},
             {.doc = "who renders: our own renderer on the CPU or a GPU, or MuJoCo's (for checks and videos)"});
    v.Float("near_m", near_m, {.doc = "surfaces nearer than this along the optical axis are cut away", .unit = "m"},
            {1e-4, 1.0});
    v.Float("far_m", far_m, {.doc = "depth beyond this is 0", .unit = "m"}, {1e-3, 6.5535});
    v.Bool("shadows", shadows, {.doc = "whether lights cast hard shadows in colour images"});
    v.Int("shadow_px", shadow_px, {.doc = "side of the depth image that a light sees for its shadows", .unit = "px"},
          {16, 4096});
  }
};

}  // namespace gripstream
