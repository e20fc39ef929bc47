// Tests sim_server/render/augment_kernel.h: colours, one lane at a time.
#define GS_RENDER_ISA augment_test
#define GS_RENDER_ONE_LANE
#include "sim_server/render/augment_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <opencv2/imgproc.hpp>

#include "core/rng.h"

namespace gripstream::augment_test {
namespace {

struct Rgb {
  float r, g, b;
};

Rgb Change(Rgb c, float brightness, float contrast, float saturation, float hue) {
  const LaneRgb changed =
      ChangeColours({255 * c.r, 255 * c.g, 255 * c.b}, ColoursOf(brightness, contrast, saturation, hue));
  return {changed.r.v, changed.g.v, changed.b.v};
}

void ExpectNear(Rgb a, Rgb b, float tolerance) {
  EXPECT_NEAR(a.r, b.r, tolerance);
  EXPECT_NEAR(a.g, b.g, tolerance);
  EXPECT_NEAR(a.b, b.b, tolerance);
}

// One of 16 steps from 0 to 1.
float Part(int i) {
  return static_cast<float>(i & 15) / 15.0f;
}

TEST(AugmentKernel, LeavesEveryColourAsItIsWithoutChange) {
  for (int i = 0; i < 4096; ++i) {
    const Rgb c = {Part(i), Part(i >> 4), Part(i >> 8)};
    ExpectNear(Change(c, 1, 1, 1, 0), c, 2e-6f);
  }
}

TEST(AugmentKernel, BrightnessContrastAndSaturationAreTheirFormulas) {
  const Rgb c = {0.2f, 0.6f, 0.4f};
  ExpectNear(Change(c, 1.5f, 1, 1, 0), {0.3f, 0.9f, 0.6f}, 1e-6f);
  ExpectNear(Change(c, 2, 1, 1, 0), {0.4f, 1, 0.8f}, 1e-6f);
  ExpectNear(Change(c, 1, 0.5f, 1, 0), {0.35f, 0.55f, 0.45f}, 1e-6f);
  ExpectNear(Change(c, 1, 2, 1, 0), {0, 0.7f, 0.3f}, 1e-6f);
  const float grey = 0.299f * 0.2f + 0.587f * 0.6f + 0.114f * 0.4f;
  ExpectNear(Change(c, 1, 1, 0, 0), {grey, grey, grey}, 1e-6f);
  ExpectNear(Change(c, 1, 1, 0.5f, 0), {(c.r + grey) / 2, (c.g + grey) / 2, (c.b + grey) / 2}, 1e-6f);
}

TEST(AugmentKernel, HueTurnsAsInOpenCvsHsv) {
  Rng rng = RandomStream(1, "hue").At(0, 0);
  for (int i = 0; i < 2000; ++i) {
    const Rgb c = {rng.Uniform(), rng.Uniform(), rng.Uniform()};
    const float part = rng.Uniform(-0.5f, 0.5f);
    cv::Mat pixel(1, 1, CV_32FC3, cv::Scalar(c.r, c.g, c.b)), hsv, back;
    cv::cvtColor(pixel, hsv, cv::COLOR_RGB2HSV);
    cv::Vec3f& h = hsv.at<cv::Vec3f>(0, 0);
    h[0] = std::fmod(h[0] + 360 * part + 360, 360.0f);
    cv::cvtColor(hsv, back, cv::COLOR_HSV2RGB);
    const cv::Vec3f expected = back.at<cv::Vec3f>(0, 0);
    ExpectNear(Change(c, 1, 1, 1, part), {expected[0], expected[1], expected[2]}, 2e-4f);
  }
}

TEST(AugmentKernel, HueTurnsTheCirclesCornersIntoEachOtherAndLeavesGreys) {
  const Rgb corners[] = {{1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1}, {1, 0, 1}};
  for (int from = 0; from < 6; ++from) {
    for (int by = -3; by <= 3; ++by) {
      ExpectNear(Change(corners[from], 1, 1, 1, static_cast<float>(by) / 6), corners[(from + by + 6) % 6], 2e-6f);
    }
    ExpectNear(Change({Part(3 * from), Part(3 * from), Part(3 * from)}, 1, 1, 1, Part(from)),
               {Part(3 * from), Part(3 * from), Part(3 * from)}, 1e-6f);
  }
}

}  // namespace
}  // namespace gripstream::augment_test
