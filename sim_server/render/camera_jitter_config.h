// Configuration of camera jitter (camera_jitter.h). Plain values, no MuJoCo: every binary parses the whole run file.
#pragma once

#include "core/config.h"

namespace gripstream {

struct CameraJitterConfig {
  double rotation_deg = 0;
  double position_m = 0;
  double stereo_rotation_deg = 0;
  double stereo_position_m = 0;
  double focal_ratio = 0;
  double centre_ratio = 0;

  void Fields(FieldVisitor& v) {
    v.Float("rotation_deg", rotation_deg, {.doc = "greatest turn of the camera about each axis", .unit = "deg"},
            {0, 45});
    v.Float("position_m", position_m, {.doc = "greatest shift of the camera along each axis", .unit = "m"}, {0, 1});
    v.Float("stereo_rotation_deg", stereo_rotation_deg,
            {.doc = "greatest turn of a further camera relative to the first", .unit = "deg"}, {0, 45});
    v.Float("stereo_position_m", stereo_position_m,
            {.doc = "greatest shift of a further camera relative to the first", .unit = "m"}, {0, 1});
    v.Float("focal_ratio", focal_ratio, {.doc = "greatest change of the focal lengths, as a part of them"}, {0, 0.5});
    v.Float("centre_ratio", centre_ratio, {.doc = "greatest shift of the principal point, as a part of the width"},
            {0, 0.5});
  }
};

}  // namespace gripstream
