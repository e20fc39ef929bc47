// Tests meshes and height fields: sim_server/render/mesh_asset.h and the CPU renderer's drawing of them.
#include "sim_server/render/mesh_asset.h"

#include <gtest/gtest.h>

#include <numbers>

#include "core/error.h"
#include "sim_server/render/cpu_renderer.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

// A bumpy closed surface of 2 * slices * (stacks - 1) triangles, as MJCF vertex and face lists.
std::string BumpyMesh(const std::string& name, int slices, int stacks) {
  std::string vertices, faces;
  const auto vertex = [&](double x, double y, double z) {
    vertices += std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(z) + " ";
  };
  const auto face = [&](int a, int b, int c) {
    faces += std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(c) + " ";
  };
  vertex(0, 0, -0.2), vertex(0, 0, 0.2);
  for (int i = 1; i < stacks; ++i) {
    for (int j = 0; j < slices; ++j) {
      const double a = std::numbers::pi * (1.0 * i / stacks - 0.5), b = 2 * std::numbers::pi * j / slices;
      const double r = 0.2 * (1 + 0.15 * std::sin(3 * b) * std::cos(a) * std::cos(5 * a));
      vertex(r * std::cos(a) * std::cos(b), r * std::cos(a) * std::sin(b), r * std::sin(a));
    }
  }
  const auto at = [&](int i, int j) { return 2 + (i - 1) * slices + j % slices; };
  for (int j = 0; j < slices; ++j) {
    face(0, at(1, j + 1), at(1, j));
    face(1, at(stacks - 1, j), at(stacks - 1, j + 1));
    for (int i = 1; i + 1 < stacks; ++i) {
      face(at(i, j), at(i, j + 1), at(i + 1, j));
      face(at(i, j + 1), at(i + 1, j + 1), at(i + 1, j));
    }
  }
  return "<mesh name='" + name + "' vertex='" + vertices + "' face='" + faces + "'/>";
}

ModelPtr MeshScene(int slices, int stacks, const std::string& body) {
  return ModelFromText("<mujoco><asset>" + BumpyMesh("bumpy", slices, stacks) +
                       "</asset><worldbody><camera name='c' fovy='50'/>" + body + "</worldbody></mujoco>");
}

DataPtr Posed(const ModelPtr& model) {
  DataPtr data(mj_makeData(model.get()));
  mj_kinematics(model.get(), data.get());
  mj_camlight(model.get(), data.get());
  return data;
}

RayComparison Compare(const ModelPtr& model, const RenderConfig& config) {
  const DataPtr data = Posed(model);
  const mjModel* models[] = {model.get()};
  RayComparison sum;
  const auto renderer = BatchRenderer::Make(config, "c", models, 1);
  CompareWithRays(RenderScene(*renderer, config, *model, data.get()), *model, data.get(), "c", config, &sum);
  return sum;
}

TEST(Meshes, AreRightAgainstRaysCoarseAndFineTogetherWithPrimitives) {
  RenderConfig config;
  config.width = 160, config.height = 120;
  for (const auto& [slices, stacks] : {std::pair{5, 4}, {24, 16}, {120, 90}}) {
    const ModelPtr model = MeshScene(slices, stacks,
                                     "<geom type='mesh' mesh='bumpy' pos='-.1 .05 -.8' euler='10 20 30'/>"
                                     "<geom type='mesh' mesh='bumpy' pos='.2 -.1 -1.1' euler='70 20 -30'/>"
                                     "<geom type='box' size='.3 .02 .3' pos='0 0 -1' euler='0 0 20'/>");
    const RayComparison sum = Compare(model, config);
    EXPECT_LE(sum.wrong_depth, 2) << slices << " slices: " << sum.first;
    EXPECT_LE(sum.wrong_geom, 2) << slices;
    EXPECT_LE(sum.wrong_normal, sum.pixels / 200) << slices;  // near edges of small faces
  }
}

TEST(Meshes, HaveNoGapsBetweenTriangles) {
  // A mesh that fills the image: every pixel must be hit.
  RenderConfig config;
  config.width = 300, config.height = 200;
  const ModelPtr model = MeshScene(200, 150, "<geom type='mesh' mesh='bumpy' pos='0 0 -.3'/>");
  const DataPtr data = Posed(model);
  const mjModel* models[] = {model.get()};
  const Images images = RenderScene(*BatchRenderer::Make(config, "c", models, 1), config, *model, data.get());
  int missed = 0;
  for (int y = 80; y < 120; ++y) {
    for (int x = 100; x < 200; ++x) missed += images.depth[static_cast<size_t>(y) * 300 + x] == 0;
  }
  EXPECT_EQ(missed, 0);
}

TEST(Meshes, AcrossTheCamerasPlaneAndAroundTheCameraAreRight) {
  RenderConfig config;
  // The mesh reaches behind the camera on one side.
  const ModelPtr beside = MeshScene(40, 30, "<geom type='mesh' mesh='bumpy' pos='.22 0 -.1'/>");
  const RayComparison sum = Compare(beside, config);
  EXPECT_LE(sum.wrong_depth, 2) << sum.first;
  // From inside nothing of it is seen.
  const ModelPtr inside = MeshScene(40, 30, "<geom type='mesh' mesh='bumpy' pos='0 0 -.05'/>");
  const DataPtr data = Posed(inside);
  const mjModel* models[] = {inside.get()};
  const Images images = RenderScene(*BatchRenderer::Make(config, "c", models, 1), config, *inside, data.get());
  for (const float z : images.depth) ASSERT_EQ(z, 0);
}

TEST(Meshes, AreRightAtTheImagesEdgesAndBeyond) {
  RenderConfig config;
  int seen = 0;
  for (const char* pos : {"-.65 0 -1", "-.7 0 -1", "-.75 .1 -1", "-.82 0 -1", ".62 .4 -1", "0 .55 -1", "0 -.62 -1",
                          "0 .75 -1", "0 0 -2.15", "0 0 .3", ".2 0 .15"}) {
    const ModelPtr model =
        MeshScene(24, 16, std::string("<geom type='mesh' mesh='bumpy' euler='10 20 30' pos='") + pos + "'/>");
    const RayComparison sum = Compare(model, config);
    EXPECT_LE(sum.wrong_depth, 1) << pos << ": " << sum.first;
    const DataPtr data = Posed(model);
    const mjModel* models[] = {model.get()};
    const Images images = RenderScene(*BatchRenderer::Make(config, "c", models, 1), config, *model, data.get());
    for (const float z : images.depth) seen += z > 0;
  }
  EXPECT_GT(seen, 200);
}

TEST(Meshes, GiveTheSameBitsOnEveryInstructionSet) {
  RenderConfig config;
  config.width = 75, config.height = 50;
  const ModelPtr model = MeshScene(24, 16, "<geom type='mesh' mesh='bumpy' pos='-.1 .05 -.6' euler='10 20 30'/>");
  const DataPtr data = Posed(model);
  const mjModel* models[] = {model.get()};
  std::vector<std::vector<float>> all;
  for (const RenderKernels& kernels : AvailableKernels()) {
    CpuRenderer renderer(config, "c", models, 1, kernels);
    all.push_back(RenderScene(renderer, config, *model, data.get()).depth);
    EXPECT_EQ(all.back(), all.front()) << kernels.name;
  }
}

TEST(Meshes, OfLargeModelsAreDrawn) {
  const ModelPtr model = MeshScene(400, 251, "<geom type='mesh' mesh='bumpy' pos='0 0 -.8'/>");
  ASSERT_EQ(model->mesh_facenum[0], 200000);
  RenderConfig config;
  const RayComparison sum = Compare(model, config);
  EXPECT_LE(sum.wrong_depth, 2) << sum.first;
}

TEST(MeshLibrary, SharesEqualMeshesBetweenGeomsAndModels) {
  const char* geoms = "<geom type='mesh' mesh='bumpy'/><geom type='mesh' mesh='bumpy'/>";
  const ModelPtr a = MeshScene(8, 6, geoms), b = MeshScene(8, 6, geoms), c = MeshScene(9, 6, geoms);
  MeshLibrary library;
  const MeshAsset* first = library.Add(*a, 0);
  EXPECT_EQ(library.Add(*a, 1), first);
  EXPECT_EQ(library.Add(*b, 0), first);
  EXPECT_NE(library.Add(*c, 0), first);
  EXPECT_EQ(first->triangle_count % kMeshPadding, 0);
}

TEST(HeightFields, AreRightAgainstRays) {
  RenderConfig config;
  config.width = 120, config.height = 90;
  std::string elevation;
  Rng rng = RandomStream(7, "hills").At(0, 0);
  for (int i = 0; i < 12 * 9; ++i) elevation += std::to_string(rng.Uniform()) + " ";
  const ModelPtr model = ModelFromText(
      "<mujoco><asset><hfield name='hills' nrow='9' ncol='12' size='.6 .4 .2 .1' elevation='" + elevation +
      "'/></asset><worldbody><camera name='c' pos='0 -1.1 .8' xyaxes='1 0 0 0 .6 .8' fovy='50'/>"
      "<geom type='hfield' hfield='hills' euler='5 -8 20'/><geom type='sphere' size='.1' pos='0 0 .2'/>"
      "</worldbody></mujoco>");
  const RayComparison sum = Compare(model, config);
  EXPECT_LE(sum.wrong_depth, 3) << sum.first;
  EXPECT_LE(sum.wrong_geom, 3);
}

TEST(SoftBodies, AreRefusedByName) {
  const ModelPtr model = ModelFromText(
      "<mujoco><worldbody><camera name='c'/><flexcomp name='cloth' type='grid' count='4 4 1' spacing='.05 .05 .05' "
      "radius='.005' dim='2'/></worldbody></mujoco>");
  const mjModel* models[] = {model.get()};
  try {
    BatchRenderer::Make({}, "c", models, 1);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("cloth"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace gripstream
