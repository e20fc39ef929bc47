// Tests sim_server/render/augment.h, and augment_image.h on every instruction set.
#include "sim_server/render/augment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/error.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

uint64_t HashOf(const std::vector<uint8_t>& image) {
  return HashName({reinterpret_cast<const char*>(image.data()), image.size()});
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
  static std::vector<uint8_t> RandomBytes(size_t count) {
    std::vector<uint8_t> bytes(count);
    for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(MixBits(i / 3) >> (8 * (i % 3)));
    return bytes;
  }
  const std::vector<uint8_t>& Picture() const { return picture_; }
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
  std::vector<uint8_t> picture_ = RandomBytes(3 * kPixels);
};

// One image of any size with a strip of memory about it that must stay as it is.
struct Frame {
  static constexpr size_t kMargin = 64;
  Frame(int w, int h, const std::vector<uint8_t>& rgb) : width(w), height(h), bytes(rgb.size() + 2 * kMargin, 77) {
    std::copy(rgb.begin(), rgb.end(), bytes.begin() + kMargin);
    for (size_t i = 0; i < rgb.size() / 3; ++i) ids.push_back(static_cast<int32_t>(MixBits(i / 5) % 4) - 1);
  }
  // The job done on a copy.
  std::vector<uint8_t> After(AugmentJob job, const RenderKernels& kernels, int border_px) const {
    Frame frame = *this;
    job.width = width, job.height = height;
    const int64_t stride = int64_t{3} * (width + 2 * border_px);
    std::vector<uint8_t> padded(static_cast<size_t>(stride * (height + 2 * border_px) + kAugmentStrip_bytes));
    std::vector<float> columns(static_cast<size_t>(width + kAugmentStrip));
    kernels.augment(job,
                    {frame.bytes.data() + kMargin, frame.ids.data(), columns.data(), padded.data(), stride, border_px});
    for (size_t i = 0; i < kMargin; ++i) {
      EXPECT_EQ(frame.bytes[i], 77) << kernels.name;
      EXPECT_EQ(frame.bytes[frame.bytes.size() - 1 - i], 77) << kernels.name;
    }
    return {frame.bytes.begin() + kMargin, frame.bytes.end() - kMargin};
  }
  int width, height;
  std::vector<uint8_t> bytes;
  std::vector<int32_t> ids;
};

AugmentJob::Blur SomeBlur() {
  return {5, {-2, -1, 0, 3, 7}, {-3, -1, 0, 1, 2}, {13, 0, 100, 40, 103}};
}

TEST_F(AugmenterTest, EveryInstructionSetGivesTheSameBytesAtEverySizeAndWritesNothingElse) {
  std::vector<uint32_t> texels;
  for (uint32_t i = 0; i < 8 * 6; ++i) texels.push_back(static_cast<uint32_t>(MixBits(i)) & 0xFFFFFFu);
  const float is_background[] = {1, 0, 1, 0};
  AugmentJob job = {};
  job.texels = texels.data(), job.texel_columns = 7, job.texel_rows = 6, job.is_background = is_background + 1;
  job.colours = ColoursOf(1.2f, 1.4f, 0.7f, -0.3f);
  job.blur = SomeBlur();
  const std::vector<RenderKernels> kernels = AvailableKernels();
  for (const auto& [width, height] : {std::pair{1, 1}, {3, 2}, {17, 5}, {61, 9}, {64, 48}, {107, 3}}) {
    const Frame frame(width, height, RandomBytes(size_t{3} * width * height));
    const std::vector<uint8_t> plain = frame.After(job, kernels.back(), 7);
    for (const RenderKernels& one : kernels) EXPECT_EQ(frame.After(job, one, 7), plain) << one.name << " " << width;
  }
}

TEST_F(AugmenterTest, BlurIsTheWeightedSumOfItsTapsWithTheBorderRepeated) {
  constexpr int kW = 45, kH = 11;
  const std::vector<uint8_t> rgb = RandomBytes(3 * kW * kH);
  AugmentJob job = {};
  job.blur = SomeBlur();
  for (const RenderKernels& kernels : AvailableKernels()) {
    const std::vector<uint8_t> blurred = Frame(kW, kH, rgb).After(job, kernels, 9);
    for (int i = 0; i < 3 * kW * kH; ++i) {
      double expected = 0;
      for (int tap = 0; tap < job.blur.taps; ++tap) {
        const int x = std::clamp(i / 3 % kW + job.blur.dx[tap], 0, kW - 1);
        const int y = std::clamp(i / 3 / kW + job.blur.dy[tap], 0, kH - 1);
        expected += job.blur.weight[tap] / 256.0 * rgb[static_cast<size_t>(3 * (y * kW + x) + i % 3)];
      }
      ASSERT_EQ(blurred[static_cast<size_t>(i)], static_cast<int>(expected + 0.5)) << kernels.name << " " << i;
    }
  }
}

TEST_F(AugmenterTest, ABackgroundIsStretchedOverTheImageBehindWhatIsKept) {
  constexpr int kW = 45, kH = 11;
  const std::vector<uint8_t> rgb = RandomBytes(3 * kW * kH);
  const std::vector<uint32_t> texels = {0x0000FF, 0x00FF00, 0x0000FF, 0xFF0000, 0xFFFFFF, 0xFF0000};  // 2 x 2
  const float is_background[] = {1, 0, 1, 0};
  AugmentJob job = {};
  job.texels = texels.data(), job.texel_columns = 2, job.texel_rows = 2, job.is_background = is_background + 1;
  for (const RenderKernels& kernels : AvailableKernels()) {
    const Frame frame(kW, kH, rgb);
    const std::vector<uint8_t> after = frame.After(job, kernels, 0);
    for (size_t i = 0; i < frame.ids.size(); ++i) {
      const bool behind = frame.ids[i] == -1 || frame.ids[i] == 1;
      const size_t right = i % kW >= 22, down = i / kW >= 5;  // the middle pixel and row belong to the second half
      const uint32_t texel = texels[3 * down + right];
      for (size_t c = 0; c < 3; ++c) {
        ASSERT_EQ(after[3 * i + c], behind ? (texel >> (8 * c) & 0xFF) : rgb[3 * i + c]) << kernels.name << " " << i;
      }
    }
  }
}

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

TEST_F(AugmenterTest, WithoutSaturationPixelsShowTheirGrey) {
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

TEST_F(AugmenterTest, AMotionBlurLosesNothingAndLeavesAnEvenImageAsItIs) {
  AugmentConfig config = Quiet();
  config.blur_probability = 1;
  config.blur_kernel_px = {1, 63};  // the longest is longer than the image
  std::vector<AugmentMoment> steps;
  for (uint32_t step = 0; step < 40; ++step) steps.push_back(At(0, 0, step));
  const auto mean = [](const std::vector<uint8_t>& v) {
    return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
  };
  std::set<uint64_t> different;
  for (const std::vector<uint8_t>& blurred : Apply(config, steps)) {
    EXPECT_NEAR(mean(blurred), mean(Picture()), 4);
    different.insert(HashOf(blurred));
  }
  EXPECT_GT(different.size(), 30u);
  picture_ = std::vector<uint8_t>(3 * kPixels, 255);
  for (const std::vector<uint8_t>& blurred : Apply(config, steps)) EXPECT_EQ(blurred, picture_);
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
    different.insert(HashOf(image));
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
  config.blur_kernel_px = {8, 9};
  EXPECT_THAT(error_of(config), testing::HasSubstr("render.augment.blur_kernel_px"));
  config = Quiet();
  config.background_probability = 1;
  config.backgrounds = "no/such/folder";
  EXPECT_THAT(error_of(config), testing::HasSubstr("no/such/folder"));
}

}  // namespace
}  // namespace gripstream
