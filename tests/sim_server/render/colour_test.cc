// Tests sim_server/render/colour.h and texture.h.
#include "sim_server/render/colour.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "sim_server/render/cpu_renderer.h"
#include "sim_server/render/texture.h"
#include "sim_server/render/visual_randomiser.h"
#include "tests/sim_server/render/colour_scenes.h"
#include "tests/sim_server/render/scenes.h"

// OSMesa (22.3) keeps some 500 bytes of every context it destroys.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libOSMesa";
}

namespace gripstream {
namespace {

RenderConfig ColourConfig(int width = 160, int height = 120) {
  RenderConfig config;
  config.width = width, config.height = height, config.colour = true, config.far_m = 6.5;
  return config;
}

struct Picture {
  std::vector<uint8_t> rgb;
  std::vector<int32_t> geom;
};

Picture Render(const ModelPtr& model, const mjData* data, const std::string& camera, RenderConfig config,
               const SceneView* given = nullptr) {
  const size_t count = static_cast<size_t>(config.width) * config.height;
  Picture picture = {std::vector<uint8_t>(3 * count), std::vector<int32_t>(count)};
  const mjModel* models[] = {model.get()};
  const SceneView view = given ? *given : ViewOf(model.get(), data);
  BatchRenderer::Make(config, camera, models, 1)
      ->Render({&view, 1}, {.segmentation = picture.geom.data(), .rgb = picture.rgb.data()});
  return picture;
}

DataPtr AtRest(const ModelPtr& model) {
  DataPtr data(mj_makeData(model.get()));
  if (model->nkey > 0) mj_resetDataKeyframe(model.get(), data.get(), 0);
  mj_forward(model.get(), data.get());
  return data;
}

// Mean difference in units of 1/255 from MuJoCo's renderer without shadows, over pixels where both show the same geom
// (or, for the sky, none).
double MeanError(const ModelPtr& model, const std::string& camera, bool sky) {
  for (int i = 0; i < model->nlight; ++i) model->light_castshadow[i] = 0;
  model->vis.quality.numslices = 60, model->vis.quality.numstacks = 30, model->vis.quality.numquads = 20;
  const DataPtr data = AtRest(model);
  RenderConfig config = ColourConfig();
  config.near_m = 0.02;
  const Picture ours = Render(model, data.get(), camera, config);
  config.backend = "mujoco";
  const Picture theirs = Render(model, data.get(), camera, config);
  double sum = 0;
  int count = 0;
  for (size_t i = 0; i < ours.geom.size(); ++i) {
    if (ours.geom[i] != theirs.geom[i] || (ours.geom[i] < 0) != sky) continue;
    for (size_t k = 0; k < 3; ++k) sum += std::abs(ours.rgb[3 * i + k] - theirs.rgb[3 * i + k]) / 3.0;
    ++count;
  }
  EXPECT_GT(count, 1000);
  return sum / count;
}

TEST(Colour, IsThatOfMujocosRendererWithoutShadows) {
  EXPECT_LT(MeanError(GraspModel("hammer"), "overview", false), 8);
  EXPECT_LT(MeanError(ModelFromText(kMaterials), "c", false), 3);
}

TEST(Colour, OfTranslucentGeomsIsThatOfMujocosRenderer) {
  EXPECT_LT(MeanError(ModelFromText(kTranslucent), "c", false), 2);
  // They change colour only: depth is what lies behind.
  const ModelPtr model = ModelFromText(kTranslucent);
  const DataPtr data = AtRest(model);
  const RenderConfig config = ColourConfig();
  const mjModel* models[] = {model.get()};
  const SceneView view = ViewOf(model.get(), data.get());
  std::vector<uint8_t> alone(3 * 160 * 120), together(alone);
  std::vector<int32_t> geom(160 * 120);
  const auto renderer = BatchRenderer::Make(config, "c", models, 1);
  renderer->Render({&view, 1}, {.rgb = alone.data()});
  renderer->Render({&view, 1}, {.segmentation = geom.data(), .rgb = together.data()});
  EXPECT_EQ(alone, together);
  EXPECT_TRUE(std::find(geom.begin(), geom.end(), 2) != geom.end());
}

TEST(Colour, OfMeshesHasTheirNormalsAndTextureCoordinates) {
  EXPECT_LT(MeanError(ModelFromText(kMeshes), "c", false), 3);
}

TEST(Colour, WithShadowsIsThatOfMujocosRenderer) {
  for (const std::string type : {"directional", "spot"}) {
    const ModelPtr model = ModelFromText(
        "<mujoco><asset><mesh name='ball' builtin='sphere' params='3' scale='.2 .2 .2'/></asset><worldbody>"
        "<light pos='-1.2 -1.2 2' dir='2 2 -3' cutoff='60' exponent='1' type='" +
        type +
        "' diffuse='.7 .7 .7' specular='0 0 0'/><camera name='c' pos='0 -2 1.2' xyaxes='1 0 0 0 .5 .86' fovy='50'/>"
        "<geom type='plane' size='2 2 .1'/><geom size='.2' pos='.6 0 .3'/>"
        "<geom type='box' size='.15 .2 .25' pos='0 0 .3' euler='0 20 30'/><geom type='mesh' mesh='ball' pos='-.6 .3 "
        ".3'/>"
        "</worldbody></mujoco>");
    model->vis.quality.numquads = 100;
    const DataPtr data = AtRest(model);
    RenderConfig config = ColourConfig();
    const Picture plain = Render(model, data.get(), "c", config);
    config.shadows = true;
    const Picture ours = Render(model, data.get(), "c", config);
    config.backend = "mujoco";
    const Picture theirs = Render(model, data.get(), "c", config);
    double error = 0, darker = 0;
    for (size_t i = 0; i < ours.rgb.size(); ++i) {
      error += std::abs(ours.rgb[i] - theirs.rgb[i]);
      darker += plain.rgb[i] - ours.rgb[i];
      EXPECT_LE(ours.rgb[i], plain.rgb[i]);
    }
    EXPECT_LT(error / static_cast<double>(ours.rgb.size()), 3) << type;
    EXPECT_GT(darker / static_cast<double>(ours.rgb.size()), 1) << type;
  }
}

TEST(Colour, OfTheSkyIsThatOfMujocosRenderer) {
  EXPECT_LT(MeanError(ModelFromText(kMaterials), "c", true), 1.5);
}

TEST(Colour, FollowsLightsThatMove) {
  const ModelPtr model = ModelFromText(
      "<mujoco><worldbody><camera name='c' pos='0 0 2'/><geom type='plane' size='1 1 1'/>"
      "<body name='lamp' mocap='true' pos='-.5 0 1'><light pos='0 0 0' dir='0 0 -1' cutoff='20'/></body>"
      "</worldbody></mujoco>");
  const auto brightest = [&](const Picture& picture) {
    const auto most = std::max_element(picture.rgb.begin(), picture.rgb.end());
    return static_cast<int>((most - picture.rgb.begin()) / 3 % 160);
  };
  const DataPtr data = AtRest(model);
  const int left = brightest(Render(model, data.get(), "c", ColourConfig()));
  data->mocap_pos[0] = 0.5;
  mj_forward(model.get(), data.get());
  EXPECT_GT(brightest(Render(model, data.get(), "c", ColourConfig())), left + 40);
  // Without poses lights stay where they are at qpos0.
  SceneView still = ViewOf(model.get(), data.get());
  still.light_xpos = still.light_xdir = nullptr;
  EXPECT_EQ(brightest(Render(model, data.get(), "c", ColourConfig(), &still)), left);
}

TEST(Colour, IsTheSameForAnyNumberOfThreadsAndLeavesDepthAsItIs) {
  const ModelPtr model = GraspModel("mug");
  const mjModel* models[] = {model.get()};
  std::vector<DataPtr> data;
  std::vector<SceneView> views;
  for (uint32_t i = 0; i < 6; ++i) {
    data.emplace_back(mj_makeData(model.get()));
    RandomiseNearHome(*model, data.back().get(), RandomStream(9, "colour").At(i, 0));
    views.push_back(ViewOf(model.get(), data.back().get()));
  }
  const RenderConfig config = ColourConfig(50, 40);
  const size_t count = 6 * 50 * 40;
  std::vector<uint8_t> one(3 * count), three(3 * count);
  std::vector<uint16_t> with(count), without(count);
  BatchRenderer::Make(config, "depth", models, 1)->Render(views, {.depth_u16 = with.data(), .rgb = one.data()});
  BatchRenderer::Make(config, "depth", models, 3)->Render(views, {.rgb = three.data()});
  BatchRenderer::Make(config, "depth", models, 1)->Render(views, {.depth_u16 = without.data()});
  EXPECT_EQ(one, three);
  EXPECT_EQ(with, without);
}

void ExpectSameOnEveryInstructionSet(const ModelPtr& model, const std::string& camera, const Appearance* appearance) {
  const DataPtr data = AtRest(model);
  const mjModel* models[] = {model.get()};
  const RenderConfig config = ColourConfig(75, 50);
  SceneView view = ViewOf(model.get(), data.get());
  view.appearance = appearance;
  std::vector<std::vector<uint8_t>> all;
  for (const RenderKernels& kernels : AvailableKernels()) {
    all.emplace_back(3 * 75 * 50);
    CpuRenderer(config, camera, models, 1, kernels).Render({&view, 1}, {.rgb = all.back().data()});
    EXPECT_EQ(all.back(), all.front()) << kernels.name;
  }
}

TEST(Colour, IsTheSameOnEveryInstructionSet) {
  ExpectSameOnEveryInstructionSet(ModelFromText(kMaterials), "c", nullptr);
  ExpectSameOnEveryInstructionSet(ModelFromText(kTranslucent), "c", nullptr);
  const ModelPtr model = GraspModel("mug");
  const mjModel* models[] = {model.get()};
  TextureLibrary library;
  VisualRandomConfig config;
  config.light_probability = config.background_probability = 1;
  VisualRandomiser randomiser(config, 1, "object", models, 1, &library);
  for (uint64_t episode = 0; episode < 4; ++episode) {
    randomiser.Redraw(0, model.get(), 0, episode);
    ExpectSameOnEveryInstructionSet(model, "overview", randomiser.Of(0));
  }
}

TEST(Colour, MustBeAskedForInTheConfig) {
  const ModelPtr model = GraspModel("mug");
  const DataPtr data = AtRest(model);
  EXPECT_THROW(Render(model, data.get(), "depth", RenderConfig{}), InternalError);
}

ModelPtr TexturedModel() {
  return ModelFromText(
      "<mujoco><asset><texture name='flat' type='2d' builtin='checker' width='8' height='8' rgb1='1 0 0' rgb2='0 0 1'/>"
      "<texture name='same' type='2d' builtin='checker' width='8' height='8' rgb1='1 0 0' rgb2='0 0 1'/>"
      "<texture name='cube' type='cube' builtin='flat' width='8' height='48' rgb1='0 1 0' rgb2='0 0 0'/></asset>"
      "<worldbody><geom size='1'/></worldbody></mujoco>");
}

// A plane of half-side 1 seen from straight above, lit by nothing but its own glow.
Picture GlowingPlane(const std::string& repeat, double height_m) {
  const ModelPtr model = ModelFromText(
      "<mujoco><visual><headlight active='0'/></visual><asset><texture name='t' type='2d' builtin='checker' width='64' "
      "height='64' rgb1='1 0 0' rgb2='0 0 1'/><material name='m' texture='t' emission='1' texrepeat='" +
      repeat + "'/></asset><worldbody><camera name='c' pos='0 0 " + std::to_string(height_m) +
      "' fovy='53.13010235'/><geom type='plane' size='1 1 1' material='m' rgba='1 1 1 1'/></worldbody></mujoco>");
  const DataPtr data = AtRest(model);
  return Render(model, data.get(), "c", ColourConfig(80, 80));
}

TEST(Texture, OfACheckeredPlaneChangesAtTheRightPlaces) {
  // From 2 m the image is 2 m wide: the plane fills it, one 2 x 2 checker board.
  const Picture picture = GlowingPlane("1 1", 2);
  const auto red = [&](int x, int y) { return picture.rgb[3 * (static_cast<size_t>(y) * 80 + x)]; };
  EXPECT_EQ(red(20, 20), red(60, 60));
  EXPECT_EQ(red(20, 60), red(60, 20));
  EXPECT_EQ(std::abs(red(20, 20) - red(20, 60)), 255);
  for (int x = 2; x < 38; ++x) EXPECT_EQ(red(x, 20), red(20, 20)) << x;
  for (int x = 42; x < 78; ++x) EXPECT_EQ(red(x, 20), red(60, 20)) << x;
}

TEST(Texture, SeenFromFarAwayIsItsMean) {
  const Picture picture = GlowingPlane("300 300", 2);
  for (int x = 20; x < 60; ++x) EXPECT_NEAR(picture.rgb[3 * (size_t{40} * 80 + x)], 128, 16);
}

TEST(TextureLibrary, SharesEqualImages) {
  const ModelPtr a = TexturedModel(), b = TexturedModel();
  TextureLibrary library;
  EXPECT_EQ(library.Add(*a, 0), library.Add(*a, 1));
  EXPECT_EQ(library.Add(*a, 0), library.Add(*b, 0));
  EXPECT_NE(library.Add(*a, 0), library.Add(*a, 2));
}

}  // namespace
}  // namespace gripstream
