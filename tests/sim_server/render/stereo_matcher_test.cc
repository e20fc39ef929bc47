// Tests sim_server/render/stereo_matcher.h.
#include "sim_server/render/stereo_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

// A room whose surfaces are full of texture, and cameras 6 cm apart.
ModelPtr TexturedRoom(const std::string& cameras) {
  return ModelFromText(R"(<mujoco>
    <asset>
      <texture name='t' type='2d' builtin='flat' rgb1='.5 .5 .5' mark='random' markrgb='1 1 1' random='0.4' width='256' height='256'/>
      <material name='m' texture='t' texrepeat='3 3' texuniform='true'/>
    </asset>
    <worldbody>
      <light pos='0 0 3' dir='0 .3 -1' diffuse='.5 .5 .5'/>
      <geom name='wall' type='plane' size='5 5 .1' pos='0 1.6 0' zaxis='0 -1 0' material='m'/>
      <geom name='block' type='box' size='.2 .1 .2' pos='-.1 1.1 0' material='m'/>
      )" + cameras + "</worldbody></mujoco>");
}

constexpr char kPair[] =
    "<camera name='left' pos='0 0 0' xyaxes='1 0 0 0 0 1' fovy='45'/>"
    "<camera name='right' pos='.06 0 0' xyaxes='1 0 0 0 0 1' fovy='45'/>"
    "<camera name='turned' pos='.06 0 0' xyaxes='1 .05 0 0 0 1' fovy='45'/>"
    "<camera name='above' pos='.06 0 .02' xyaxes='1 0 0 0 0 1' fovy='45'/>"
    "<camera name='wide' pos='.06 0 0' xyaxes='1 0 0 0 0 1' fovy='60'/>"
    "<camera name='other_side' pos='-.06 0 0' xyaxes='1 0 0 0 0 1' fovy='45'/>";

class StereoMatcherTest : public testing::TestWithParam<std::string> {};

TEST_P(StereoMatcherTest, FindsTheDepthOfTexturedScenes) {
  const ModelPtr model = TexturedRoom(kPair);
  const DataPtr data(mj_makeData(model.get()));
  mj_forward(model.get(), data.get());
  RenderConfig config;
  config.width = 320, config.height = 240, config.colour = true;
  const mjModel* models[] = {model.get()};
  const size_t pixels = 320 * 240;
  const SceneView view = ViewOf(model.get(), data.get());
  const std::vector<SceneView> views(2, view);
  std::vector<uint8_t> left(2 * 3 * pixels), right(2 * 3 * pixels);
  std::vector<uint16_t> truth(2 * pixels), depth(2 * pixels, 7);
  BatchRenderer::Make(config, "left", models, 1)->Render(views, {.depth_u16 = truth.data(), .rgb = left.data()});
  BatchRenderer::Make(config, "right", models, 1)->Render(views, {.rgb = right.data()});
  StereoMatcherConfig matching;
  matching.method = GetParam();
  matching.block_px = GetParam() == "bm" ? 11 : 5;
  const double focal_px = ProjectionOf(*model, FindCamera(*model, "left"), 320, 240).fx_px;
  const std::vector<StereoMatcher::Pair> pairs(2, {focal_px, 0.06});
  StereoMatcher(matching, config, 2).Match(left.data(), right.data(), pairs, depth.data());
  EXPECT_TRUE(std::equal(depth.begin(), depth.begin() + pixels, depth.begin() + pixels));
  int seen = 0, right_within = 0;
  for (int y = 0; y < 240; ++y) {
    for (int x = 64; x < 320; ++x) {  // the margin has no partner
      const size_t at = static_cast<size_t>(y * 320 + x);
      ASSERT_GT(truth[at], 0);
      if (depth[at] == 0) continue;
      ++seen;
      // Half a pixel of disparity, as much as OpenCV's interpolation between whole ones may be off.
      const double z = truth[at] * kDepthQuantum_m;
      right_within += std::fabs(depth[at] * kDepthQuantum_m - z) < 0.5 * z * z / (focal_px * 0.06);
    }
  }
  EXPECT_GT(seen, 0.8 * 240 * 256);
  EXPECT_GT(right_within, 0.9 * seen);
}

INSTANTIATE_TEST_SUITE_P(Methods, StereoMatcherTest, testing::Values("bm", "sgbm"),
                         [](const auto& method) { return method.param; });

TEST(StereoMatcher, RefusesCamerasThatAreNoRectifiedPairByName) {
  const ModelPtr model = TexturedRoom(kPair);
  EXPECT_NO_THROW(CheckRectified(*model, "left", "right"));
  const auto error_of = [&](const std::string& right) {
    try {
      CheckRectified(*model, "left", right);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_THAT(error_of("turned"), AllOf(HasSubstr("render.matcher.right"), HasSubstr("turned"), HasSubstr("left")));
  EXPECT_THAT(error_of("above"), HasSubstr("rows"));
  EXPECT_THAT(error_of("wide"), HasSubstr("lenses"));
  EXPECT_THAT(error_of("other_side"), HasSubstr("to the right"));
  EXPECT_THAT(error_of("left"), HasSubstr("to the right"));
  EXPECT_THAT(error_of("rihgt"), HasSubstr("did you mean 'right'"));
}

TEST(StereoMatcher, RefusesMoreDisparitiesThanColumns) {
  StereoMatcherConfig config;
  RenderConfig image;
  image.width = config.disparities_px;
  EXPECT_THROW(StereoMatcher(config, image, 1), InputError);
  ++image.width;
  EXPECT_NO_THROW(StereoMatcher(config, image, 1));
}

TEST(StereoMatcher, RefusesBlocksThatDoNotFit) {
  StereoMatcherConfig config;
  config.disparities_px = 16;
  for (const int block : {4, 49, 51}) {
    config.block_px = block;
    RenderConfig image;
    image.width = image.height = 48;
    EXPECT_THROW(StereoMatcher(config, image, 1), InputError) << block;
  }
}

}  // namespace
}  // namespace gripstream
