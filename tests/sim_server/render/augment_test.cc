// Tests sim_server/render/augment.h and augment_pixel.h.
#include "sim_server/render/augment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <opencv2/imgproc.hpp>
#include <set>

#include "core/error.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

using augment::Change;
using augment::Rgb;

constexpr augment::ColourChange kNoChange = {1, 1, 1, 0};

// One of 16 steps from 0 to 1.
float Part(int i) {
  return static_cast<float>(i & 15) / 15.0f;
}

void ExpectNear(Rgb a, Rgb b, float tolerance) {
  EXPECT_NEAR(a.r, b.r, tolerance);
  EXPECT_NEAR(a.g, b.g, tolerance);
  EXPECT_NEAR(a.b, b.b, tolerance);
}

TEST(AugmentPixel, LeavesEveryColourAsItIsWithoutChange) {
  for (int i = 0; i < 4096; ++i) {
    const Rgb c = {Part(i), Part(i >> 4), Part(i >> 8)};
    ExpectNear(Change(c, kNoChange), c, 2e-6f);
  }
}

TEST(AugmentPixel, BrightnessContrastAndSaturationAreTheirFormulas) {
  const Rgb c = {0.2f, 0.6f, 0.4f};
  ExpectNear(Change(c, {1.5f, 1, 1, 0}), {0.3f, 0.9f, 0.6f}, 1e-6f);
  ExpectNear(Change(c, {2, 1, 1, 0}), {0.4f, 1, 0.8f}, 1e-6f);
  ExpectNear(Change(c, {1, 0.5f, 1, 0}), {0.35f, 0.55f, 0.45f}, 1e-6f);
  const float grey = 0.299f * 0.2f + 0.587f * 0.6f + 0.114f * 0.4f;
  ExpectNear(Change(c, {1, 1, 0, 0}), {grey, grey, grey}, 1e-6f);
  ExpectNear(Change(c, {1, 1, 0.5f, 0}), {(c.r + grey) / 2, (c.g + grey) / 2, (c.b + grey) / 2}, 1e-6f);
}

TEST(AugmentPixel, HueTurnsAsInOpenCvsHsv) {
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
    ExpectNear(Change(c, {1, 1, 1, part}), {expected[0], expected[1], expected[2]}, 2e-4f);
  }
}

class AugmenterTest : public testing::Test {
 protected:
  static constexpr int kWidth = 48, kHeight = 36;
  static constexpr size_t kPixels = size_t{kWidth} * kHeight;
  AugmenterTest() : model_(GraspModel("cube_50")) {}

  // Nothing but what a test switches on.
  static AugmentConfig Quiet() {
    AugmentConfig config;
    config.enabled = true;
    config.colour_probability = config.blur_probability = config.background_probability = 0;
    return config;
  }
  static std::vector<uint8_t> Picture() {
    std::vector<uint8_t> rgb(3 * kPixels);
    for (size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<uint8_t>(MixBits(i / 3) >> (8 * (i % 3)));
    return rgb;
  }
  AugmentMoment At(uint32_t env, uint64_t episode, uint32_t step) const { return {model_.get(), env, episode, step}; }
  // The picture at each moment; `ids` is everybody's segmentation.
  std::vector<std::vector<uint8_t>> Apply(const AugmentConfig& config, const std::vector<AugmentMoment>& moments,
                                          int threads = 1, int32_t id = 0) {
    const mjModel* models[] = {model_.get()};
    Augmenter augmenter(config, 3, models, kWidth, kHeight, threads, &library_);
    std::vector<uint8_t> rgb;
    for (size_t i = 0; i < moments.size(); ++i) {
      const std::vector<uint8_t> one = Picture();
      rgb.insert(rgb.end(), one.begin(), one.end());
    }
    std::vector<int32_t> ids(kPixels * moments.size(), id);
    augmenter.Apply(rgb.data(), ids.data(), moments);
    std::vector<std::vector<uint8_t>> images;
    for (size_t i = 0; i < moments.size(); ++i) {
      images.emplace_back(rgb.begin() + static_cast<long>(3 * kPixels * i),
                          rgb.begin() + static_cast<long>(3 * kPixels * (i + 1)));
    }
    return images;
  }

  ModelPtr model_;
  TextureLibrary library_;
};

TEST_F(AugmenterTest, ChangesNothingWhereNothingIsLikely) {
  EXPECT_EQ(Apply(Quiet(), {At(0, 0, 0)})[0], Picture());
}

TEST_F(AugmenterTest, ColoursGoWithTheEpisodeBlurWithTheStepAndNeitherWithCompanyOrThreads) {
  AugmentConfig colour = Quiet(), blur = Quiet();
  colour.colour_probability = blur.blur_probability = 1;
  const std::vector<AugmentMoment> moments = {At(0, 0, 0), At(0, 0, 1), At(0, 1, 0), At(1, 0, 0)};
  const auto coloured = Apply(colour, moments), blurred = Apply(blur, moments);
  EXPECT_EQ(coloured[0], coloured[1]);
  EXPECT_NE(coloured[0], coloured[2]);
  EXPECT_NE(coloured[0], coloured[3]);
  for (size_t i = 0; i < moments.size(); ++i) {
    EXPECT_NE(coloured[i], Picture());
    EXPECT_NE(blurred[i], Picture());
    EXPECT_EQ(Apply(colour, {moments[i]})[0], coloured[i]);
    EXPECT_EQ(Apply(blur, {moments[i]})[0], blurred[i]);
    for (size_t k = 0; k < i; ++k) EXPECT_NE(blurred[i], blurred[k]);
  }
  AugmentConfig all = colour;
  all.blur_probability = all.background_probability = 0.5;
  EXPECT_EQ(Apply(all, moments, 1), Apply(all, moments, 3));
}

TEST_F(AugmenterTest, PixelsAreThoseOfThePixelFunction) {
  AugmentConfig config = Quiet();
  config.colour_probability = 1;
  config.brightness = config.contrast = {1, 1};
  config.saturation = {0, 0};
  config.hue = 0;
  const std::vector<uint8_t> grey = Apply(config, {At(0, 0, 0)})[0], before = Picture();
  for (size_t i = 0; i < kPixels; ++i) {
    const double expected = 0.299 * before[3 * i] + 0.587 * before[3 * i + 1] + 0.114 * before[3 * i + 2];
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(grey[3 * i + c], expected, 0.51);
  }
}

TEST_F(AugmenterTest, AMotionBlurSpreadsAPointAlongALineAndLosesNothing) {
  augment::Blur blur = {5, {-2, -1, 0, 1, 2}, {-1, -1, 0, 1, 1}, {0.1f, 0.1f, 0.2f, 0.3f, 0.3f}};
  std::vector<uint8_t> rgb(3 * 11 * 9);
  rgb[3 * (4 * 11 + 5)] = 200;  // red at (5, 4)
  int sum = 0;
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 11; ++x) sum += augment::Blurred(rgb.data(), 11, 9, x, y, 0, blur);
  }
  EXPECT_EQ(sum, 200);
  EXPECT_EQ(augment::Blurred(rgb.data(), 11, 9, 5, 4, 0, blur), 40);
  EXPECT_EQ(augment::Blurred(rgb.data(), 11, 9, 3, 3, 0, blur), 60);  // its last tap, two to the right and one down
  EXPECT_EQ(augment::Blurred(rgb.data(), 11, 9, 5, 4, 1, blur), 0);
  AugmentConfig config = Quiet();
  config.blur_probability = 1;
  const std::vector<uint8_t> blurred = Apply(config, {At(0, 0, 0)})[0], before = Picture();
  const auto mean = [](const std::vector<uint8_t>& v) {
    return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
  };
  EXPECT_NEAR(mean(blurred), mean(before), 2);
}

TEST_F(AugmenterTest, ReplacesWhatShowsNothingPlanesAndNamedGeomsOnly) {
  AugmentConfig config = Quiet();
  config.background_probability = 1;
  const int floor = mj_name2id(model_.get(), mjOBJ_GEOM, "floor"),
            table = mj_name2id(model_.get(), mjOBJ_GEOM, "table");
  EXPECT_NE(Apply(config, {At(0, 0, 0)}, 1, -1)[0], Picture());
  EXPECT_NE(Apply(config, {At(0, 0, 0)}, 1, floor)[0], Picture());
  EXPECT_EQ(Apply(config, {At(0, 0, 0)}, 1, table)[0], Picture());
  config.background_geoms = {"table"};
  EXPECT_NE(Apply(config, {At(0, 0, 0)}, 1, table)[0], Picture());
  std::vector<AugmentMoment> episodes;
  for (uint64_t episode = 0; episode < 20; ++episode) episodes.push_back(At(0, episode, 0));
  std::set<uint64_t> different;
  for (const std::vector<uint8_t>& image : Apply(config, episodes, 1, -1)) {
    different.insert(HashName({reinterpret_cast<const char*>(image.data()), image.size()}));
  }
  EXPECT_GT(different.size(), 5u);
}

TEST_F(AugmenterTest, RefusesWrongNamesAndRangesByKey) {
  const auto error_of = [&](const AugmentConfig& config) {
    try {
      Apply(config, {});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  AugmentConfig config = Quiet();
  config.background_geoms = {"tabel"};
  EXPECT_THAT(error_of(config), testing::HasSubstr("render.augment.background_geoms"));
  config = Quiet();
  config.contrast = {1.5, 0.5};
  EXPECT_THAT(error_of(config), testing::HasSubstr("render.augment.contrast"));
  config = Quiet();
  config.background_probability = 1;
  config.backgrounds = "no/such/folder";
  EXPECT_THAT(error_of(config), testing::HasSubstr("no/such/folder"));
}

}  // namespace
}  // namespace gripstream
