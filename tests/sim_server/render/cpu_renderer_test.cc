// Tests sim_server/render/cpu_renderer.h: determinism, targets, and input at its limits.
#include "sim_server/render/cpu_renderer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

using testing::Each;
using testing::Eq;
using testing::HasSubstr;

// A batch of environments with different objects, and so different geom counts.
struct Batch {
  std::vector<ModelPtr> models;
  std::vector<DataPtr> data;
  std::vector<const mjModel*> pointers;
  std::vector<SceneView> views;

  explicit Batch(int count) {
    for (const char* name : {"cube_50", "hammer", "dumbbell", "egg"}) {
      models.push_back(GraspModel(name));
      pointers.push_back(models.back().get());
    }
    for (int i = 0; i < count; ++i) {
      const mjModel* model = pointers[static_cast<size_t>(i) % pointers.size()];
      data.emplace_back(mj_makeData(model));
      RandomiseNearHome(*model, data.back().get(), RandomStream(5, "batch").At(static_cast<uint32_t>(i), 0));
      views.push_back(ViewOf(model, data.back().get()));
    }
  }
};

std::vector<uint16_t> DepthOf(BatchRenderer& renderer, std::span<const SceneView> views, const RenderConfig& config) {
  std::vector<uint16_t> depth(views.size() * config.width * config.height, 12345);
  renderer.Render(views, {.depth_u16 = depth.data()});
  return depth;
}

TEST(CpuRenderer, GivesTheSameBytesForAnyNumberOfThreadsAndAnySplitOfTheBatch) {
  const RenderConfig config;
  const Batch batch(37);
  const auto one = BatchRenderer::Make(config, "depth", batch.pointers, 1);
  const std::vector<uint16_t> expected = DepthOf(*one, batch.views, config);
  EXPECT_EQ(DepthOf(*one, batch.views, config), expected);
  for (const int threads : {2, 5}) {
    const auto renderer = BatchRenderer::Make(config, "depth", batch.pointers, threads);
    EXPECT_EQ(DepthOf(*renderer, batch.views, config), expected) << threads << " threads";
  }
  std::vector<uint16_t> parts;
  for (const auto& [begin, count] : {std::pair{0, 1}, {1, 17}, {18, 19}}) {
    const std::span<const SceneView> part = std::span(batch.views).subspan(begin, count);
    for (const uint16_t z : DepthOf(*one, part, config)) parts.push_back(z);
  }
  EXPECT_EQ(parts, expected);
}

TEST(CpuRenderer, EveryInstructionSetGivesTheSameBits) {
  RenderConfig config;
  config.width = 75, config.height = 50;
  const Batch batch(8);
  const size_t count = batch.views.size() * config.width * config.height;
  std::vector<float> expected(count);
  std::vector<uint16_t> expected_u16(count);
  std::vector<int32_t> expected_geom(count);
  for (const RenderKernels& kernels : AvailableKernels()) {
    std::vector<float> depth(count);
    std::vector<uint16_t> u16(count);
    std::vector<int32_t> geom(count);
    CpuRenderer(config, "depth", batch.pointers, 1, kernels)
        .Render(batch.views, {.depth_u16 = u16.data(), .depth_f32 = depth.data(), .segmentation = geom.data()});
    if (kernels.render == AvailableKernels().front().render) {
      expected = depth, expected_u16 = u16, expected_geom = geom;
    }
    EXPECT_EQ(depth, expected) << kernels.name;
    EXPECT_EQ(u16, expected_u16) << kernels.name;
    EXPECT_EQ(geom, expected_geom) << kernels.name;
  }
}

TEST(CpuRenderer, DepthAloneEqualsDepthTogetherWithOtherImages) {
  const RenderConfig config;
  const Batch batch(4);
  const auto renderer = BatchRenderer::Make(config, "depth", batch.pointers, 1);
  const std::vector<uint16_t> alone = DepthOf(*renderer, batch.views, config);
  const size_t count = alone.size();
  std::vector<uint16_t> u16(count);
  std::vector<float> depth(count), normals(3 * count);
  std::vector<int32_t> geom(count);
  renderer->Render(batch.views, {u16.data(), depth.data(), geom.data(), normals.data(), nullptr});
  EXPECT_EQ(u16, alone);
  for (size_t i = 0; i < count; ++i) {
    ASSERT_NEAR(u16[i] * kDepthQuantum_m, depth[i], 0.51 * kDepthQuantum_m);
    ASSERT_EQ(geom[i] < 0, depth[i] == 0);  // nothing here is translucent
  }
}

TEST(CpuRenderer, WritesNothingOutsideItsImages) {
  RenderConfig config;
  config.width = 13, config.height = 7;
  const Batch batch(3);
  const auto renderer = BatchRenderer::Make(config, "depth", batch.pointers, 1);
  const size_t count = 3 * 13 * 7;
  std::vector<uint16_t> depth(count + 64, 7777);
  std::vector<float> metres(count + 64, -7.0f);
  renderer->Render(batch.views, {.depth_u16 = depth.data() + 32, .depth_f32 = metres.data() + 32});
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(depth[i], 7777);
    EXPECT_EQ(depth[count + 32 + i], 7777);
    EXPECT_EQ(metres[count + 32 + i], -7.0f);
  }
}

Images RenderText(const std::string& body, RenderConfig config, const std::vector<double>& sizes = {}) {
  ModelPtr model = ModelFromText("<mujoco><worldbody><camera name='c' fovy='60'/>" + body + "</worldbody></mujoco>");
  for (size_t i = 0; i < sizes.size(); ++i) model->geom_size[i] = sizes[i];
  DataPtr data(mj_makeData(model.get()));
  mj_kinematics(model.get(), data.get());
  mj_camlight(model.get(), data.get());
  const mjModel* models[] = {model.get()};
  return RenderScene(*BatchRenderer::Make(config, "c", models, 1), config, *model, data.get());
}

TEST(CpuRenderer, AnEmptySceneIsAllZero) {
  const Images images = RenderText("", {});
  EXPECT_THAT(images.depth_u16, Each(Eq(0)));
  EXPECT_THAT(images.geom, Each(Eq(-1)));
  EXPECT_THAT(images.normals, Each(Eq(0.0f)));
}

TEST(CpuRenderer, ASinglePixelAndAVeryWideImageWork) {
  RenderConfig config;
  config.width = 1, config.height = 1;
  EXPECT_NEAR(RenderText("<geom type='sphere' size='.1' pos='0 0 -1'/>", config).depth[0], 0.9, 1e-6);
  config.width = 4096, config.height = 3;
  const Images wide = RenderText("<geom type='box' size='9 9 .1' pos='0 0 -1.6'/>", config);
  EXPECT_NEAR(wide.depth[4096 + 2048], 1.5, 1e-5);
  EXPECT_EQ(wide.depth[4096], 0);
}

TEST(CpuRenderer, AGeomThatTheCameraIsInsideOfIsSeenThrough) {
  for (const char* geom : {"type='sphere' size='.5'", "type='box' size='.5 .5 .5'", "type='capsule' size='.3 .4'",
                           "type='ellipsoid' size='.5 .4 .3'", "type='cylinder' size='.3 .4'"}) {
    const Images images =
        RenderText(std::string("<geom ") + geom + "/><geom type='box' size='9 9 .1' pos='0 0 -1.6'/>", {});
    for (const float z : images.depth) ASSERT_NEAR(z, 1.5, 1e-5) << geom;
  }
}

TEST(CpuRenderer, WhatIsNearerThanTheNearPlaneIsCutAwayAndSeenThrough) {
  RenderConfig config;
  config.near_m = 0.2;
  // The front of each geom lies nearer than 0.2 m; nothing of its inside may show in its place.
  for (const char* geom :
       {"type='sphere' size='.1' pos='0 0 -.2'", "type='box' size='.1 .1 .1' pos='0 0 -.2'",
        "type='capsule' size='.08 .1' pos='0 0 -.25'", "type='capsule' size='.09 .2' pos='.05 0 -.2' euler='0 90 0'",
        "type='cylinder' size='.08 .1' pos='0 0 -.25'"}) {
    const Images images =
        RenderText(std::string("<geom ") + geom + "/><geom type='box' size='9 9 .1' pos='0 0 -1.6'/>", config);
    const size_t middle = static_cast<size_t>(config.height / 2) * config.width + config.width / 2;
    EXPECT_NEAR(images.depth[middle], 1.5, 1e-5) << geom;
    for (const float z : images.depth) EXPECT_GE(z, 0.2f) << geom;
  }
}

TEST(CpuRenderer, WhatIsBehindTheCameraIsNotSeen) {
  for (const char* geom : {"type='sphere' size='.1' pos='0 0 .5'", "type='box' size='.1 .1 .1' pos='0 0 .2'",
                           "type='capsule' size='.1 .1' pos='.1 0 .5'", "type='ellipsoid' size='.1 .2 .3' pos='0 0 .5'",
                           "type='cylinder' size='.1 .1' pos='0 .1 .3'", "type='plane' size='0 0 1' pos='0 0 1'"}) {
    EXPECT_THAT(RenderText(std::string("<geom ") + geom + "/>", {}).depth, Each(Eq(0.0f))) << geom;
  }
}

TEST(CpuRenderer, ZeroAndEnormousSizesNeitherCrashNorHideOthers) {
  const std::string wall = "<geom type='box' size='9 9 .1' pos='0 0 -1.6'/>";
  for (const char* type : {"sphere", "capsule", "ellipsoid", "cylinder", "box"}) {
    const std::string geom = std::string("<geom type='") + type + "' size='.1 .1 .1' pos='0.2 0.1 -1'/>";
    const Images images = RenderText(geom + wall, {}, {0, 0, 0});
    for (const float z : images.depth) ASSERT_TRUE(z > 1.49f || z == 0 || std::abs(z - 1) < 0.01f) << type << z;
    for (const float z : RenderText(geom + wall, {}, {1e30, 1e30, 1e30}).depth) ASSERT_TRUE(z >= 0 && z < 2) << type;
  }
}

TEST(CpuRenderer, APoseThatIsNotANumberDrawsNothingAndLeavesOthersAlone) {
  ModelPtr model = GraspModel("cube_50");
  DataPtr data(mj_makeData(model.get()));
  RandomiseNearHome(*model, data.get(), RandomStream(6, "nan").At(0, 0));
  const RenderConfig config;
  const mjModel* models[] = {model.get()};
  const auto renderer = BatchRenderer::Make(config, "depth", models, 1);
  const Images before = RenderScene(*renderer, config, *model, data.get());
  const int table = mj_name2id(model.get(), mjOBJ_GEOM, "table");
  data->geom_xpos[3 * table] = std::numeric_limits<double>::quiet_NaN();
  const Images broken = RenderScene(*renderer, config, *model, data.get());
  int table_pixels = 0;
  for (size_t i = 0; i < before.Count(); ++i) {
    table_pixels += before.geom[i] == table;
    EXPECT_NE(broken.geom[i], table);
    if (before.geom[i] != table) {
      EXPECT_EQ(broken.depth_u16[i], before.depth_u16[i]);
    }
  }
  EXPECT_GT(table_pixels, 100);
  std::fill_n(data->cam_xpos, 3 * model->ncam, std::numeric_limits<double>::infinity());
  EXPECT_THAT(RenderScene(*renderer, config, *model, data.get()).depth, Each(Eq(0.0f)));
}

TEST(CpuRenderer, HidesGroupsAboveTwoAndTransparentGeoms) {
  const std::string wall = "<geom type='box' size='9 9 .1' pos='0 0 -1.6'/>";
  for (const char* hidden : {"group='3'", "group='5'", "rgba='1 0 0 0'"}) {
    const Images images =
        RenderText(std::string("<geom type='sphere' size='.3' pos='0 0 -1' ") + hidden + "/>" + wall, {});
    for (const float z : images.depth) ASSERT_NEAR(z, 1.5, 1e-5) << hidden;
  }
}

TEST(CpuRenderer, DepthGoesThroughTranslucentGeomsAndSegmentationDoesNot) {
  const std::string wall = "<geom type='box' size='9 9 .1' pos='0 0 -1.6'/>";
  for (const char* geom : {"type='sphere' size='.3' pos='0 0 -1'", "type='box' size='.3 .3 .3' pos='0 0 -1'"}) {
    const Images images = RenderText(wall + "<geom rgba='1 0 0 .5' " + geom + "/>", {});
    for (const float z : images.depth) ASSERT_NEAR(z, 1.5, 1e-5) << geom;
    EXPECT_EQ(images.geom[images.Count() / 2 + 32], 1);
    EXPECT_EQ(images.geom[0], 0);
  }
}

TEST(CpuRenderer, ACapsuleOrCylinderFromBehindTheCameraToTheFrontIsSeen) {
  for (const char* type : {"capsule", "cylinder"}) {
    const std::string geom = std::string("<geom type='") + type + "' size='.05 1' pos='0 -.2 0'/>";
    const Images images = RenderText(geom, {});
    int hit = 0;
    for (const float z : images.depth) hit += z > 0;
    EXPECT_GT(hit, 100) << type;
  }
}

std::string MessageOf(const RenderConfig& config, const std::string& camera) {
  ModelPtr model = GraspModel("cube_50");
  const mjModel* models[] = {model.get()};
  try {
    BatchRenderer::Make(config, camera, models, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CpuRenderer, RefusesWhatItCannotRenderByName) {
  RenderConfig config;
  EXPECT_THAT(MessageOf(config, "dpeth"), HasSubstr("did you mean 'depth'"));
  EXPECT_THAT(MessageOf(config, "dpeth"), HasSubstr("stereo_left"));
  config.backend = "cuda";
  EXPECT_THAT(MessageOf(config, "depth"), HasSubstr("no CUDA"));
  config.backend = "cpu", config.near_m = 0.5, config.far_m = 0.4;
  EXPECT_THAT(MessageOf(config, "depth"), HasSubstr("near_m"));
}

}  // namespace
}  // namespace gripstream
