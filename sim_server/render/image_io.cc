#include "sim_server/render/image_io.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <span>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "sim_server/render/config.h"

namespace gripstream {
namespace {

constexpr int kBarWidth_px = 70;
constexpr int kLeastBarHeight_px = 60;

cv::Mat Enlarge(const cv::Mat& image, int zoom) {
  if (zoom == 1) return image;
  cv::Mat large;
  cv::resize(image, large, {}, zoom, zoom, cv::INTER_NEAREST);  // pixels stay visible
  return large;
}

// The nearest and farthest depth in the image, in quanta; 0, 0 when nothing was hit.
std::pair<int, int> DepthRange(const uint16_t* depth, int count) {
  int low = 0, high = 0;
  for (int i = 0; i < count; ++i) {
    if (depth[i] == 0) continue;
    low = low == 0 ? depth[i] : std::min<int>(low, depth[i]);
    high = std::max<int>(high, depth[i]);
  }
  return {low, high};
}

// Near = 255, far = 40: even the farthest surface differs from the black of "nothing".
cv::Mat ToGrey(const cv::Mat& depth, double low, double high) {
  cv::Mat grey;
  const double span = std::max(high - low, 1.0);
  depth.convertTo(grey, CV_8U, -215.0 / span, 255.0 + 215.0 * low / span);
  return grey;
}

cv::Mat ScaleBar(int height, double low_m, double high_m) {
  cv::Mat ramp(height, kBarWidth_px, CV_16U);
  for (int y = 0; y < height; ++y) {
    ramp.row(y).setTo(
        static_cast<double>(std::lround((low_m + (high_m - low_m) * y / (height - 1)) / kDepthQuantum_m)));
  }
  cv::Mat bar;
  cv::applyColorMap(ToGrey(ramp, low_m / kDepthQuantum_m, high_m / kDepthQuantum_m), bar, cv::COLORMAP_VIRIDIS);
  bar.colRange(16, kBarWidth_px).setTo(cv::Scalar::all(255));
  for (int i = 0; i < 3; ++i) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f m", low_m + (high_m - low_m) * i / 2);
    const int y = std::clamp(height * i / 2, 10, height - 4);
    cv::putText(bar, text, {18, y}, cv::FONT_HERSHEY_SIMPLEX, 0.36, cv::Scalar::all(0), 1, cv::LINE_AA);
  }
  return bar;
}

}  // namespace

cv::Mat ColourDepth(const uint16_t* depth, int width, int height, int zoom, bool scale_bar) {
  const auto [low, high] = DepthRange(depth, width * height);
  cv::Mat image(height, width, CV_16U);
  std::copy_n(depth, width * height, image.ptr<uint16_t>());
  cv::Mat colour;
  cv::applyColorMap(ToGrey(image, low, high), colour, cv::COLORMAP_VIRIDIS);
  colour.setTo(cv::Scalar::all(0), image == 0);
  colour = Enlarge(colour, zoom);
  if (!scale_bar || colour.rows < kLeastBarHeight_px) return colour;
  cv::Mat both;
  cv::hconcat(colour, ScaleBar(colour.rows, low * kDepthQuantum_m, high * kDepthQuantum_m), both);
  return both;
}

cv::Mat FromRgb(const uint8_t* rgb, int width, int height, int zoom) {
  cv::Mat image(height, width, CV_8UC3);
  std::copy_n(rgb, 3 * width * height, image.data);
  cv::Mat bgr;
  cv::cvtColor(image, bgr, cv::COLOR_RGB2BGR);
  return Enlarge(bgr, zoom);
}

void WritePng(const std::string& path, const cv::Mat& image) {
  std::vector<uchar> bytes;
  GS_CHECK(cv::imencode(".png", image, bytes), "OpenCV could not encode a PNG");
  WriteFileAtomically(path, std::as_bytes(std::span(bytes)));
}

}  // namespace gripstream
