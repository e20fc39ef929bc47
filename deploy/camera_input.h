// From a camera's frame to the image that the policy was trained on: undistorted, turned into the training camera's
// intrinsics, resized.
//
// A calibration file describes the real camera as OpenCV's camera model has it. The trained camera's pixels are looked
// up in its frames: depth at the nearest pixel, so that no depth is made up between two surfaces; colours as the mean
// over what a pixel covers. Without a calibration frames must have the trained size. Not thread-safe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/config.h"
#include "deploy/manifest.h"
#include "deploy/robot_messages.h"

namespace gripstream {

struct Calibration {
  int width_px = 0, height_px = 0;
  double fx_px = 0, fy_px = 0, cx_px = 0, cy_px = 0;
  std::vector<double> distortion;

  void Fields(FieldVisitor& v) {
    v.Int("width_px", width_px, {.doc = "of the camera's frames", .unit = "px", .required = true}, {1, 16384});
    v.Int("height_px", height_px, {.doc = "of the camera's frames", .unit = "px", .required = true}, {1, 16384});
    v.Float("fx_px", fx_px, {.doc = "focal length", .unit = "px", .required = true}, {1e-3, 1e6});
    v.Float("fy_px", fy_px, {.doc = "focal length", .unit = "px", .required = true}, {1e-3, 1e6});
    v.Float("cx_px", cx_px, {.doc = "principal point; pixel centres at whole numbers", .unit = "px", .required = true});
    v.Float("cy_px", cy_px, {.doc = "principal point", .unit = "px", .required = true});
    v.Floats("distortion", distortion, 0, {.doc = "k1, k2, p1, p2, k3 as OpenCV has them; empty: none"});
  }
};

class CameraInput {
 public:
  // `calibration`: a file, or empty. Throws InputError.
  CameraInput(const ManifestCamera& camera, PixelFormat format, const std::string& calibration);
  CameraInput(CameraInput&&) noexcept;
  ~CameraInput();

  // Why a frame of this head does not fit; empty when it does.
  std::string WhyNot(const CameraFrame& frame) const;
  // Of a frame that fits; `out` has [H, W] metres, or [H, W, 3] colours of 0 to 255.
  void Convert(const CameraFrame& frame, std::span<const std::byte> pixels, std::span<float> out);

  const std::string& Name() const { return camera_.name; }
  size_t Size() const;  // of `out`

 private:
  struct Maps;
  const ManifestCamera camera_;
  const PixelFormat format_;
  std::unique_ptr<Maps> maps_;  // null without a calibration
};

}  // namespace gripstream
