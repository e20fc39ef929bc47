#include "deploy/camera_input.h"

#include <algorithm>
#include <cmath>
#include <opencv2/calib3d.hpp>
#include <opencv2/imgproc.hpp>

#include "core/error.h"

namespace gripstream {
namespace {

constexpr size_t kFewestTerms = 4;

int Type(PixelFormat format) {
  return format == PixelFormat::kDepth16 ? CV_16UC1 : CV_8UC3;
}

size_t PixelBytes(PixelFormat format) {
  return format == PixelFormat::kDepth16 ? 2 : 3;
}

Calibration ReadCalibration(const std::string& path) {
  Calibration calibration;
  ConfigFile(path, std::vector<std::string>()).Read(calibration);
  const size_t terms = calibration.distortion.size();
  if (terms != 0 && (terms < kFewestTerms || terms > 5))
    throw InputError(path, "distortion", std::to_string(terms) + " numbers", "none, 4 or 5: k1, k2, p1, p2, k3");
  return calibration;
}

cv::Mat Matrix(double fx, double fy, double cx, double cy) {
  return (cv::Mat_<double>(3, 3) << fx, 0, cx, 0, fy, cy, 0, 0, 1);
}

}  // namespace

// Where each pixel of the trained camera, `scale` times as fine, lies in the real one's frame.
struct CameraInput::Maps {
  int width_px, height_px;  // of frames
  int scale;
  cv::Mat x, y;
  cv::Mat fine, image;  // scratch
};

CameraInput::CameraInput(const ManifestCamera& camera, PixelFormat format, const std::string& calibration)
    : camera_(camera), format_(format) {
  if (calibration.empty()) return;
  const Calibration c = ReadCalibration(calibration);
  maps_ = std::make_unique<Maps>();
  maps_->width_px = c.width_px;
  maps_->height_px = c.height_px;
  // Colours are averaged over what a pixel covers: several samples where it covers several pixels.
  const double finer = std::max(c.fx_px / camera.fx_px, c.fy_px / camera.fy_px);
  maps_->scale = format == PixelFormat::kDepth16 ? 1 : std::max(1, static_cast<int>(std::lround(finer)));
  const int s = maps_->scale;
  // OpenCV has pixel centres at whole numbers, the manifest at + 0.5.
  const cv::Mat wanted = Matrix(s * camera.fx_px, s * camera.fy_px, s * camera.cx_px - 0.5, s * camera.cy_px - 0.5);
  cv::initUndistortRectifyMap(Matrix(c.fx_px, c.fy_px, c.cx_px, c.cy_px), c.distortion, cv::noArray(), wanted,
                              cv::Size(s * camera.width_px, s * camera.height_px), CV_32FC1, maps_->x, maps_->y);
}

CameraInput::CameraInput(CameraInput&&) noexcept = default;
CameraInput::~CameraInput() = default;

size_t CameraInput::Size() const {
  const size_t pixels = static_cast<size_t>(camera_.width_px) * static_cast<size_t>(camera_.height_px);
  return format_ == PixelFormat::kDepth16 ? pixels : 3 * pixels;
}

std::string CameraInput::WhyNot(const CameraFrame& frame) const {
  const int width = maps_ ? maps_->width_px : camera_.width_px, height = maps_ ? maps_->height_px : camera_.height_px;
  const auto size = [](int64_t w, int64_t h) { return std::to_string(w) + " x " + std::to_string(h); };
  if (frame.format != static_cast<uint32_t>(format_))
    return "frames of camera " + camera_.name + " have format " + std::to_string(frame.format) + ", expected " +
           std::to_string(static_cast<uint32_t>(format_));
  if (frame.width != static_cast<uint32_t>(width) || frame.height != static_cast<uint32_t>(height))
    return "frames of camera " + camera_.name + " are " + size(frame.width, frame.height) + ", expected " +
           size(width, height) + (maps_ ? " of the calibration" : "; a calibration file says how to resize them");
  if (frame.bytes != static_cast<uint64_t>(width) * static_cast<uint64_t>(height) * PixelBytes(format_))
    return "a frame of camera " + camera_.name + " has " + std::to_string(frame.bytes) + " bytes of pixels";
  if (format_ == PixelFormat::kDepth16 && !(frame.depth_unit_m > 0 && frame.depth_unit_m < 1))
    return "frames of camera " + camera_.name + " have a depth unit of " + std::to_string(frame.depth_unit_m) + " m";
  return {};
}

void CameraInput::Convert(const CameraFrame& frame, std::span<const std::byte> pixels, std::span<float> out) {
  GS_CHECK(out.size() == Size() && pixels.size() == frame.bytes, "a frame that was checked");
  cv::Mat image(static_cast<int>(frame.height), static_cast<int>(frame.width), Type(format_),
                const_cast<std::byte*>(pixels.data()));
  if (maps_) {
    const bool depth = format_ == PixelFormat::kDepth16;
    cv::remap(image, maps_->fine, maps_->x, maps_->y, depth ? cv::INTER_NEAREST : cv::INTER_LINEAR,
              cv::BORDER_CONSTANT);
    image = maps_->fine;
    if (maps_->scale > 1) {
      cv::resize(maps_->fine, maps_->image, cv::Size(camera_.width_px, camera_.height_px), 0, 0, cv::INTER_AREA);
      image = maps_->image;
    }
  }
  if (format_ == PixelFormat::kDepth16) {
    const float unit = static_cast<float>(frame.depth_unit_m);
    const uint16_t* raw = image.ptr<uint16_t>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(raw[i]) * unit;
  } else {
    const uint8_t* raw = image.ptr<uint8_t>();
    std::copy_n(raw, out.size(), out.begin());
  }
}

}  // namespace gripstream
