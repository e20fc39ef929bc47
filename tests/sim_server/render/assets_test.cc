// Tests sim_server/render/assets.h.
#include "sim_server/render/assets.h"

#include <gtest/gtest.h>

#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

RenderConfig Small() {
  RenderConfig config;
  config.width = 40, config.height = 30, config.colour = true;
  return config;
}

TEST(RenderAssets, GivesEveryCameraTheSameTablesOfAModel) {
  const ModelPtr model = GraspModel("mug");
  RenderAssets assets;
  const ModelAssets& plain = assets.Of(*model, false);
  EXPECT_EQ(plain.shader, nullptr);
  const ModelAssets& coloured = assets.Of(*model, true);
  EXPECT_EQ(&plain, &coloured);
  const ColourShader* shader = coloured.shader.get();
  ASSERT_NE(shader, nullptr);
  EXPECT_EQ(assets.Of(*model, true).shader.get(), shader);
}

TEST(RenderAssets, SharedOrNotGiveTheSameImagesAndCamerasLieSideBySide) {
  constexpr int kEnvs = 3, kPixels = 40 * 30;
  const std::vector<std::string> cameras = {"depth", "stereo_left"};
  const ModelPtr model = GraspModel("mug");
  const mjModel* models[] = {model.get()};
  std::vector<DataPtr> states;
  std::vector<SceneView> views;
  for (uint32_t i = 0; i < kEnvs; ++i) {
    states.emplace_back(mj_makeData(model.get()));
    RandomiseNearHome(*model, states.back().get(), RandomStream(1, "assets").At(i, 0));
    views.push_back(ViewOf(model.get(), states.back().get()));
  }
  const auto assets = std::make_shared<RenderAssets>();
  std::vector<uint16_t> depth(2 * kEnvs * kPixels);
  std::vector<uint8_t> rgb(3 * 2 * kEnvs * kPixels);
  for (size_t c = 0; c < cameras.size(); ++c) {
    std::vector<uint16_t> alone(kEnvs * kPixels);
    std::vector<uint8_t> alone_rgb(3 * kEnvs * kPixels);
    BatchRenderer::Make(Small(), cameras[c], models, 1)
        ->Render(views, {.depth_u16 = alone.data(), .rgb = alone_rgb.data()});
    BatchRenderer::Make(Small(), cameras[c], models, 2, assets)
        ->Render(views, {.depth_u16 = {depth.data() + c * kPixels, 2}, .rgb = {rgb.data() + 3 * c * kPixels, 2}});
    for (size_t i = 0; i < kEnvs; ++i) {
      const size_t at = (2 * i + c) * kPixels;
      EXPECT_TRUE(std::equal(alone.begin() + i * kPixels, alone.begin() + (i + 1) * kPixels, depth.begin() + at));
      EXPECT_TRUE(std::equal(alone_rgb.begin() + 3 * i * kPixels, alone_rgb.begin() + 3 * (i + 1) * kPixels,
                             rgb.begin() + 3 * at));
    }
  }
}

}  // namespace
}  // namespace gripstream
