// Tests sim_server/render/cpu_renderer.h against MuJoCo's exact ray casting, silhouettes included.
#include <gtest/gtest.h>

#include "sim_server/render/renderer.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

TEST(CpuRendererAgainstRays, GraspSceneIsRightOn200RandomConfigurationsWithEveryObject) {
  RenderConfig config;
  config.width = 80, config.height = 60;
  const std::vector<std::string> names = CatalogueNames();
  ASSERT_EQ(names.size(), 28u);
  RayComparison sum;
  for (int i = 0; i < 200; ++i) {
    ModelPtr model = GraspModel(names[static_cast<size_t>(i) % names.size()]);
    DataPtr data(mj_makeData(model.get()));
    const Rng rng = RandomStream(1, "configuration").At(0, static_cast<uint64_t>(i));
    i % 4 == 0 ? RandomiseGrasp(*model, data.get(), rng) : RandomiseNearHome(*model, data.get(), rng);
    const mjModel* models[] = {model.get()};
    const auto renderer = BatchRenderer::Make(config, i % 2 ? "depth" : "overview", models, 1);
    const Images images = RenderScene(*renderer, config, *model, data.get());
    CompareWithRays(images, *model, data.get(), i % 2 ? "depth" : "overview", config, &sum);
  }
  // Rays that graze an edge to within rounding may fall on either side of it.
  EXPECT_LE(sum.wrong_depth, sum.pixels / 100000) << sum.first;
  EXPECT_LE(sum.wrong_geom, sum.pixels / 10000);  // surfaces that touch
  EXPECT_LE(sum.wrong_normal, sum.pixels / 10000);
}

// `count` random geoms of all six primitives, some of them bounded planes, at random poses before the camera.
std::string RandomPrimitives(Rng rng, int count) {
  const char* types[] = {"plane", "sphere", "capsule", "ellipsoid", "cylinder", "box"};
  std::string xml = "<mujoco><worldbody><camera name='c' pos='0 0 0' fovy='60'/>";
  for (int i = 0; i < count; ++i) {
    char geom[400];
    const float scale = std::exp(rng.Uniform(-5.0f, -1.0f));  // 7 mm to 37 cm
    std::snprintf(geom, sizeof geom, "<geom type='%s' size='%g %g %g' pos='%g %g %g' quat='%g %g %g %g'/>",
                  types[rng.Below(6)], scale * rng.Uniform(0.2f, 1), scale * rng.Uniform(0.2f, 1),
                  scale * rng.Uniform(0.2f, 1), rng.Uniform(-0.8f, 0.8f), rng.Uniform(-0.6f, 0.6f),
                  rng.Uniform(-1.9f, -0.45f), rng.Normal(), rng.Normal(), rng.Normal(), rng.Normal());
    xml += geom;
  }
  return xml + "</worldbody></mujoco>";
}

TEST(CpuRendererAgainstRays, RandomPrimitivesAreRight) {
  RenderConfig config;
  config.width = 97, config.height = 71;  // no multiple of a SIMD width
  RayComparison sum;
  for (uint64_t i = 0; i < 100; ++i) {
    ModelPtr model = ModelFromText(RandomPrimitives(RandomStream(2, "primitives").At(0, i), 25));
    DataPtr data(mj_makeData(model.get()));
    mj_kinematics(model.get(), data.get());
    mj_camlight(model.get(), data.get());
    const mjModel* models[] = {model.get()};
    const auto renderer = BatchRenderer::Make(config, "c", models, 1);
    CompareWithRays(RenderScene(*renderer, config, *model, data.get()), *model, data.get(), "c", config, &sum);
  }
  EXPECT_LE(sum.wrong_depth, sum.pixels / 100000) << sum.first;
  EXPECT_LE(sum.wrong_geom, sum.pixels / 10000);
  EXPECT_LE(sum.wrong_normal, sum.pixels / 2000);  // next to edges the nearer face decides
}

TEST(CpuRendererAgainstRays, InfinitePlanesAreRightInEveryDirectionAndInvisibleFromBelow) {
  RenderConfig config;
  config.width = 64, config.height = 48, config.far_m = 5;
  RayComparison sum;
  for (uint64_t i = 0; i < 60; ++i) {
    Rng rng = RandomStream(3, "planes").At(0, i);
    char xml[600];
    std::snprintf(xml, sizeof xml,
                  "<mujoco><worldbody><camera name='c' fovy='50'/><geom type='plane' size='%g %g 1' pos='%g %g %g' "
                  "quat='%g %g %g %g'/></worldbody></mujoco>",
                  i % 3 == 0 ? 0.5 : 0.0, i % 2 == 0 ? 0.7 : 0.0, rng.Uniform(-1, 1), rng.Uniform(-1, 1),
                  rng.Uniform(-1, 1), rng.Normal(), rng.Normal(), rng.Normal(), rng.Normal());
    ModelPtr model = ModelFromText(xml);
    DataPtr data(mj_makeData(model.get()));
    mj_kinematics(model.get(), data.get());
    mj_camlight(model.get(), data.get());
    const mjModel* models[] = {model.get()};
    const auto renderer = BatchRenderer::Make(config, "c", models, 1);
    CompareWithRays(RenderScene(*renderer, config, *model, data.get()), *model, data.get(), "c", config, &sum);
  }
  EXPECT_LE(sum.wrong_depth, 2) << sum.first;
  EXPECT_LE(sum.wrong_geom, 0);
}

TEST(CpuRendererAgainstRays, FullIntrinsicsWithAnOffCentrePrincipalPointAndOblongPixelsAreRight) {
  RenderConfig config;
  config.width = 80, config.height = 60;
  ModelPtr model = ModelFromText(
      "<mujoco><worldbody><camera name='c' pos='0.1 0.2 1' euler='20 10 30' resolution='80 60' sensorsize='0.004 "
      "0.0025'"
      " focal='0.0031 0.0035' principal='0.0004 -0.0003'/><geom type='plane' size='0 0 1'/>"
      "<geom type='box' size='.1 .2 .3' pos='.2 .3 .1'/><geom type='sphere' size='.1' pos='-.2 -.1 .3'/>"
      "</worldbody></mujoco>");
  DataPtr data(mj_makeData(model.get()));
  mj_kinematics(model.get(), data.get());
  mj_camlight(model.get(), data.get());
  const mjModel* models[] = {model.get()};
  const Projection p = ProjectionOf(*model, 0, 80, 60);
  EXPECT_NEAR(p.fx_px, 0.0031 / 0.004 * 80, 1e-4);
  EXPECT_NEAR(p.fy_px, 0.0035 / 0.0025 * 60, 1e-4);
  RayComparison sum;
  const auto renderer = BatchRenderer::Make(config, "c", models, 1);
  CompareWithRays(RenderScene(*renderer, config, *model, data.get()), *model, data.get(), "c", config, &sum);
  EXPECT_EQ(sum.wrong_depth, 0) << sum.first;
  EXPECT_EQ(sum.wrong_geom, 0);
}

}  // namespace
}  // namespace gripstream
