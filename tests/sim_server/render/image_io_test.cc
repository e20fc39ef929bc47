// Tests sim_server/render/image_io.h and contact_sheet.h.
#include "sim_server/render/image_io.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <opencv2/imgcodecs.hpp>

#include "core/error.h"
#include "sim_server/render/contact_sheet.h"

namespace gripstream {
namespace {

TEST(ColourDepth, PaintsNothingBlackAndNearBrighterThanFar) {
  const uint16_t depth[4] = {0, 5000, 10000, 15000};
  const cv::Mat image = ColourDepth(depth, 4, 1, 1, false);
  const auto sum = [&](int x) {
    const cv::Vec3b c = image.at<cv::Vec3b>(0, x);
    return c[0] + c[1] + c[2];
  };
  EXPECT_EQ(sum(0), 0);
  EXPECT_GT(sum(1), sum(2));
  EXPECT_GT(sum(2), sum(3));
  EXPECT_GT(sum(3), 0);
}

TEST(ColourDepth, AddsAScaleBarToLargePicturesOnlyAndTakesAnAllZeroImage) {
  const std::vector<uint16_t> depth(64 * 48, 0);
  EXPECT_EQ(ColourDepth(depth.data(), 64, 48).cols, 64);
  const cv::Mat large = ColourDepth(depth.data(), 64, 48, 4);
  EXPECT_GT(large.cols, 4 * 64);
  EXPECT_EQ(large.rows, 4 * 48);
}

TEST(WritePng, WritesWhatReadsBackAndNamesAPathItCannotWrite) {
  const std::string path = testing::TempDir() + "render_image_io_test.png";
  cv::Mat image(5, 7, CV_8UC3, cv::Scalar(1, 2, 3));
  WritePng(path, image);
  const cv::Mat back = cv::imread(path);
  EXPECT_EQ(cv::norm(back, image), 0.0);
  std::filesystem::remove(path);
  EXPECT_THROW(WritePng("/nowhere/at/all.png", image), RunError);
}

}  // namespace
}  // namespace gripstream
