// Tests deploy/camera_input.h.
#include "deploy/camera_input.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "tests/deploy/small_robot.h"

namespace gripstream {
namespace {

using testing::FrameOf;
using ::testing::HasSubstr;

std::string CalibrationFile(const std::string& text) {
  const std::string path = ::testing::TempDir() + "/calibration.yaml";
  std::ofstream(path) << text;
  return path;
}

ManifestCamera Trained(int width, int height, double focal) {
  ManifestCamera camera;
  camera.name = "depth";
  camera.width_px = width;
  camera.height_px = height;
  camera.fx_px = camera.fy_px = focal;
  camera.cx_px = 0.5 * width;
  camera.cy_px = 0.5 * height;
  return camera;
}

TEST(CameraInput, FramesOfTheTrainedSizeAreTakenAsTheyAre) {
  CameraInput input(Trained(4, 3, 4), PixelFormat::kDepth16, "");
  auto frame = FrameOf(4, 3, 0);
  for (size_t i = 0; i < frame.pixels.size(); ++i) frame.pixels[i] = static_cast<uint16_t>(100 * i);
  ASSERT_EQ(input.WhyNot(frame.head), "");
  std::vector<float> out(input.Size());
  input.Convert(frame.head, frame.Bytes(), out);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_FLOAT_EQ(out[i], 0.1f * static_cast<float>(i));
}

TEST(CameraInput, FramesThatDoNotFitAreNamed) {
  const CameraInput input(Trained(4, 3, 4), PixelFormat::kDepth16, "");
  EXPECT_THAT(input.WhyNot(FrameOf(8, 6, 0).head), HasSubstr("8 x 6, expected 4 x 3"));
  auto frame = FrameOf(4, 3, 0);
  frame.head.format = 2;
  EXPECT_THAT(input.WhyNot(frame.head), HasSubstr("format 2"));
  frame = FrameOf(4, 3, 0);
  frame.head.depth_unit_m = 0;
  EXPECT_THAT(input.WhyNot(frame.head), HasSubstr("depth unit"));
  frame = FrameOf(4, 3, 0);
  frame.head.bytes = 7;
  EXPECT_THAT(input.WhyNot(frame.head), HasSubstr("7 bytes"));
}

// A tilted plane, inverse depth linear in the direction, through a lens with known distortion.
TEST(CameraInput, UndistortedPixelsSeeInTheTrainedCamerasDirections) {
  constexpr int kWidth = 320, kHeight = 240;
  constexpr double kFocal = 200, kCx = 165, kCy = 118, kK1 = -0.2, kP1 = 0.003;
  const std::string path = CalibrationFile(
      "width_px: 320\nheight_px: 240\nfx_px: 200\nfy_px: 200\ncx_px: 165\ncy_px: 118\n"
      "distortion: [-0.2, 0, 0.003, 0]\n");
  const ManifestCamera trained = Trained(64, 48, 50);
  CameraInput input(trained, PixelFormat::kDepth16, path);
  const auto depth_m = [](double x, double y) { return 1 / (0.8 + 0.3 * x - 0.2 * y); };
  // Each pixel of the frame shows the direction that the lens maps to it: found by fixed-point iteration.
  auto frame = FrameOf(kWidth, kHeight, 0);
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) {
      const double xd = (u - kCx) / kFocal, yd = (v - kCy) / kFocal;
      double x = xd, y = yd;
      for (int k = 0; k < 50; ++k) {
        const double r2 = x * x + y * y, radial = 1 + kK1 * r2;
        x = (xd - 2 * kP1 * x * y) / radial;
        y = (yd - kP1 * (r2 + 2 * y * y)) / radial;
      }
      frame.pixels[static_cast<size_t>(v * kWidth + u)] = static_cast<uint16_t>(std::lround(1000 * depth_m(x, y)));
    }
  }
  ASSERT_EQ(input.WhyNot(frame.head), "");
  std::vector<float> out(input.Size());
  input.Convert(frame.head, frame.Bytes(), out);
  double worst = 0;
  for (int v = 0; v < 48; ++v) {
    for (int u = 0; u < 64; ++u) {
      const double x = (u + 0.5 - trained.cx_px) / trained.fx_px, y = (v + 0.5 - trained.cy_px) / trained.fy_px;
      worst = std::max(worst, std::abs(static_cast<double>(out[static_cast<size_t>(v * 64 + u)]) - depth_m(x, y)));
    }
  }
  // A nearest pixel is at most 0.7 px away, 0.0036 of direction, times the greatest slope; and depths are rounded to
  // mm.
  EXPECT_LT(worst, 0.0036 * 0.37 / (0.5 * 0.5) + 0.0005);
  EXPECT_GT(worst, 0);
}

TEST(CameraInput, ColoursAreMeansOverWhatAPixelCovers) {
  const std::string path =
      CalibrationFile("width_px: 16\nheight_px: 12\nfx_px: 16\nfy_px: 16\ncx_px: 7.5\ncy_px: 5.5\n");
  CameraInput input(Trained(4, 3, 4), PixelFormat::kRgb8, path);
  std::vector<std::byte> pixels(16 * 12 * 3);
  for (int v = 0; v < 12; ++v)
    for (int u = 0; u < 16; ++u) pixels[static_cast<size_t>(3 * (v * 16 + u))] = std::byte(u % 2 == 0 ? 200 : 100);
  CameraFrame frame{};
  frame.format = static_cast<uint32_t>(PixelFormat::kRgb8);
  frame.width = 16;
  frame.height = 12;
  frame.bytes = static_cast<uint32_t>(pixels.size());
  ASSERT_EQ(input.WhyNot(frame), "");
  std::vector<float> out(input.Size());
  input.Convert(frame, pixels, out);
  for (size_t i = 0; i < out.size(); i += 3) {
    EXPECT_NEAR(out[i], 150, 1);
    EXPECT_EQ(out[i + 1], 0);
  }
}

TEST(CameraInput, BadCalibrationFilesAreRefused) {
  const auto make = [](const std::string& file) { CameraInput(Trained(4, 3, 4), PixelFormat::kDepth16, file); };
  EXPECT_THROW(make("/nowhere.yaml"), InputError);
  EXPECT_THROW(make(CalibrationFile("width_px: 16\n")), InputError);
  EXPECT_THROW(make(CalibrationFile("width_px: 16\nheight_px: 12\nfx_px: 1\nfy_px: 1\ncx_px: 1\ncy_px: 1\n"
                                    "distortion: [1, 2]\n")),
               InputError);
}

}  // namespace
}  // namespace gripstream
