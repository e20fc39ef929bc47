// Pictures of rendered images for people: coloured depth with a scale bar, colour images, PNG files.
//
// Colour images are 8-bit BGR as OpenCV wants them. Pure functions; thread-safe. WritePng throws RunError when the file
// cannot be written.
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <string>

namespace gripstream {

// Depth [H, W] in multiples of kDepthQuantum_m as a colour picture, near = bright, 0 = black, enlarged `zoom` times,
// with a scale bar in metres at the right when the picture is tall enough for one.
cv::Mat ColourDepth(const uint16_t* depth, int width, int height, int zoom = 1, bool scale_bar = true);

// RGB [H, W, 3] as OpenCV's BGR.
cv::Mat FromRgb(const uint8_t* rgb, int width, int height, int zoom = 1);

void WritePng(const std::string& path, const cv::Mat& image);

}  // namespace gripstream
