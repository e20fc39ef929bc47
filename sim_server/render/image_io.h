// Pictures of rendered images for people: coloured depth with a scale bar, shaded previews, PNG files.
//
// Colour images are 8-bit BGR as OpenCV wants them. Pure functions; thread-safe. WritePng throws RunError when the file
// cannot be written.
#pragma once

#include <mujoco/mujoco.h>

#include <cstdint>
#include <opencv2/core.hpp>
#include <string>

namespace gripstream {

// Depth [H, W] in multiples of kDepthQuantum_m as a colour picture, near = bright, 0 = black, enlarged `zoom` times,
// with a scale bar in metres at the right when the picture is tall enough for one.
cv::Mat ColourDepth(const uint16_t* depth, int width, int height, int zoom = 1, bool scale_bar = true);

// Every pixel's geom colour times how much it faces the camera: what a scene looks like without lights or textures.
// segmentation [H, W] geom ids, normals [H, W, 3] as in renderer.h.
cv::Mat ShadedPreview(const mjModel& model, const int32_t* segmentation, const float* normals, int width, int height,
                      int zoom = 1);

// RGB [H, W, 3] as OpenCV's BGR.
cv::Mat FromRgb(const uint8_t* rgb, int width, int height, int zoom = 1);

void WritePng(const std::string& path, const cv::Mat& image);

}  // namespace gripstream
