// Tests sim_server/render/mujoco_renderer.h, and our renderer against it.
#include "sim_server/render/mujoco_renderer.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/sim_server/render/scenes.h"

// OSMesa (22.3) keeps some 500 bytes of every context it destroys.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libOSMesa";
}

namespace gripstream {
namespace {

// True where the pixel and its neighbours show one geom: outside the one-pixel band about silhouettes.
bool AwayFromSilhouettes(const std::vector<int32_t>& geom, int width, int height, int x, int y) {
  for (int j = std::max(y - 1, 0); j <= std::min(y + 1, height - 1); ++j) {
    for (int i = std::max(x - 1, 0); i <= std::min(x + 1, width - 1); ++i) {
      if (geom[static_cast<size_t>(j) * width + i] != geom[static_cast<size_t>(y) * width + x]) return false;
    }
  }
  return true;
}

TEST(MujocoRenderer, AgreesWithOursOn200RandomConfigurationsOutsideSilhouettes) {
  RenderConfig config;
  config.width = 160, config.height = 120;
  const std::vector<std::string> names = CatalogueNames();
  int compared = 0, depth_off = 0, geom_off = 0;
  for (size_t i = 0; i < 25; ++i) {
    ModelPtr model = GraspModel(names[i]);
    // MuJoCo draws round geoms as polyhedra; a fine one differs from the true shape by less than the tolerance.
    model->vis.quality.numslices = 80;
    model->vis.quality.numstacks = 40;
    const mjModel* models[] = {model.get()};
    DataPtr data(mj_makeData(model.get()));
    config.backend = "cpu";
    const auto ours = BatchRenderer::Make(config, "depth", models, 1);
    config.backend = "mujoco";
    const auto theirs = BatchRenderer::Make(config, "depth", models, 1);
    for (uint64_t j = 0; j < 8; ++j) {
      RandomiseNearHome(*model, data.get(), RandomStream(4, "osmesa").At(static_cast<uint32_t>(i), j));
      const Images a = RenderScene(*ours, config, *model, data.get());
      Images b(config.width, config.height);
      const SceneView view = ViewOf(model.get(), data.get());
      theirs->Render({&view, 1}, {.depth_f32 = b.depth.data(), .segmentation = b.geom.data()});
      for (int y = 0; y < config.height; ++y) {
        for (int x = 0; x < config.width; ++x) {
          if (!AwayFromSilhouettes(a.geom, config.width, config.height, x, y)) continue;
          const size_t at = static_cast<size_t>(y) * config.width + x;
          ++compared;
          depth_off += std::abs(a.depth[at] - b.depth[at]) > 1e-3f;
          geom_off += a.geom[at] != b.geom[at];
        }
      }
    }
  }
  RecordProperty("pixels", compared);
  RecordProperty("depth_off", depth_off);
  EXPECT_GT(compared, 200 * 160 * 120 / 2);
  EXPECT_LE(depth_off, compared / 1000);
  EXPECT_LE(geom_off, compared / 1000);
}

TEST(MujocoRenderer, GivesAColourPictureWithTheObjectInIt) {
  RenderConfig config;
  config.backend = "mujoco";
  ModelPtr model = GraspModel("cube_70");
  DataPtr data(mj_makeData(model.get()));
  mj_resetDataKeyframe(model.get(), data.get(), 0);
  mj_kinematics(model.get(), data.get());
  mj_camlight(model.get(), data.get());
  const mjModel* models[] = {model.get()};
  const auto renderer = BatchRenderer::Make(config, "depth", models, 1);
  std::vector<uint8_t> rgb(size_t{3} * config.width * config.height);
  std::vector<int32_t> geom(rgb.size() / 3);
  const SceneView view = ViewOf(model.get(), data.get());
  renderer->Render({&view, 1}, {.segmentation = geom.data(), .rgb = rgb.data()});
  const int object = mj_name2id(model.get(), mjOBJ_BODY, "object");
  int pixels = 0, red = 0;
  for (size_t i = 0; i < geom.size(); ++i) {
    if (geom[i] < 0 || model->geom_bodyid[geom[i]] != object) continue;
    ++pixels;
    red += rgb[3 * i] > 2 * rgb[3 * i + 1];
  }
  EXPECT_GT(pixels, 20);
  EXPECT_GT(red, pixels * 8 / 10);
}

}  // namespace
}  // namespace gripstream
