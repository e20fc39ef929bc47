// Tests the CPU renderer against MuJoCo's own on models that others wrote: those inside Python packages that a tester
// may install (dm-control, gymnasium-robotics, robosuite) beside the other wheels,
// or unpack where GRIPSTREAM_FOREIGN_MODELS points. Skips visibly without them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "sim_server/render/mujoco_renderer.h"
#include "sim_server/render/renderer.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

namespace fs = std::filesystem;

const char* const kModels[] = {
    "dm_control/suite/acrobot.xml",
    "dm_control/suite/ball_in_cup.xml",
    "dm_control/suite/cartpole.xml",
    "dm_control/suite/cheetah.xml",
    "dm_control/suite/finger.xml",
    "dm_control/suite/fish.xml",
    "dm_control/suite/hopper.xml",
    "dm_control/suite/humanoid.xml",
    "dm_control/suite/humanoid_CMU.xml",
    "dm_control/suite/pendulum.xml",
    "dm_control/suite/quadruped.xml",
    "dm_control/suite/swimmer.xml",
    "dm_control/suite/walker.xml",
    "gymnasium_robotics/envs/assets/fetch/push.xml",
    "gymnasium_robotics/envs/assets/fetch/slide.xml",
    "gymnasium_robotics/envs/assets/hand/manipulate_block.xml",
    "gymnasium_robotics/envs/assets/hand/reach.xml",
    "gymnasium_robotics/envs/assets/adroit_hand/adroit_door.xml",
    "robosuite/models/assets/arenas/table_arena.xml",
    "robosuite/models/assets/objects/milk.xml",
};

// The folder that holds the packages, or empty.
fs::path SitePackages() {
  if (const char* given = std::getenv("GRIPSTREAM_FOREIGN_MODELS")) return given;
  const fs::path lib = fs::path(GRIPSTREAM_SOURCE_DIR) / "build/deps/venv/lib";
  if (!fs::exists(lib)) return {};
  for (const auto& python : fs::directory_iterator(lib)) {
    if (fs::exists(python.path() / "site-packages/dm_control")) return python.path() / "site-packages";
  }
  return {};
}

// Adds a camera that sees the model's middle from the given side.
void AddCamera(mjSpec* spec, const mjModel& model, const double direction[3]) {
  mjsCamera* camera = mjs_addCamera(mjs_findBody(spec, "world"), nullptr);
  mjs_setName(camera->element, "from_outside");
  const double distance = std::min(1.5 * model.stat.extent, 3.0), up[3] = {0, 0, 1};
  double x[3], y[3], z[3] = {direction[0], direction[1], direction[2]};
  mju_normalize3(z);
  for (int i = 0; i < 3; ++i) camera->pos[i] = model.stat.center[i] + distance * z[i];
  mju_cross(x, up, z);
  mju_normalize3(x);
  mju_cross(y, z, x);
  const double rotation[9] = {x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]};
  mju_mat2Quat(camera->quat, rotation);
}

ModelPtr Load(const fs::path& path) {
  char error[500] = "";
  SpecPtr spec(mj_parseXML(path.c_str(), nullptr, error, sizeof error));
  if (!spec) return nullptr;
  ModelPtr bare(mj_compile(spec.get(), nullptr));
  if (!bare) return nullptr;
  const double direction[3] = {1, 0.3, 0.6};
  AddCamera(spec.get(), *bare, direction);
  ModelPtr model(mj_compile(spec.get(), nullptr));
  if (model) model->vis.quality.numslices = 100, model->vis.quality.numstacks = 50, model->vis.quality.numquads = 200;
  return model;
}

struct Counts {
  int compared = 0, depth = 0, geom = 0;
};

// Pixels that differ though neither image has a silhouette beside them.
Counts Differences(const Images& a, const Images& b) {
  Counts counts;
  for (int y = 1; y + 1 < a.height; ++y) {
    for (int x = 1; x + 1 < a.width; ++x) {
      const size_t at = static_cast<size_t>(y) * a.width + x;
      bool inner = true;
      for (int k = 0; k < 9; ++k) {
        const size_t beside = at + static_cast<size_t>(k % 3) - 1 + (k / 3) * static_cast<size_t>(a.width) - a.width;
        inner = inner && a.geom[beside] == a.geom[at] && b.geom[beside] == b.geom[at];
      }
      if (!inner) continue;
      ++counts.compared;
      counts.depth += std::abs(a.depth[at] - b.depth[at]) > 1e-3f;
      counts.geom += a.geom[at] != b.geom[at];
    }
  }
  return counts;
}

// Mean difference of colour in units of 1/255, without shadows, where both renderers show the same geom.
double ColourError(const mjModel& model, RenderConfig config, const SceneView& view) {
  config.colour = true, config.backend = "cpu";
  const size_t count = static_cast<size_t>(config.width) * config.height;
  std::vector<uint8_t> ours(3 * count), theirs(3 * count);
  std::vector<int32_t> our_geoms(count), their_geoms(count);
  const mjModel* list[] = {&model};
  BatchRenderer::Make(config, "from_outside", list, 1)
      ->Render({&view, 1}, {.segmentation = our_geoms.data(), .rgb = ours.data()});
  MujocoRenderer(config, "from_outside", list, MujocoRenderer::Shadows::kNone)
      .Render({&view, 1}, {.segmentation = their_geoms.data(), .rgb = theirs.data()});
  double sum = 0, compared = 0;
  for (size_t i = 0; i < 3 * count; ++i) {
    if (our_geoms[i / 3] != their_geoms[i / 3]) continue;
    sum += std::abs(ours[i] - theirs[i]);
    ++compared;
  }
  return sum / compared;
}

TEST(ForeignModels, LookAsInMujocosRenderer) {
  const fs::path packages = SitePackages();
  if (packages.empty()) GTEST_SKIP() << "install dm-control, gymnasium-robotics and robosuite into build/deps/venv";
  int models = 0;
  for (const char* name : kModels) {
    const ModelPtr model = Load(packages / name);
    if (!model) continue;  // another version of the package
    ++models;
    const DataPtr data(mj_makeData(model.get()));
    mj_forward(model.get(), data.get());
    RenderConfig config;
    config.width = 160, config.height = 120, config.far_m = 6.5;
    config.near_m = std::clamp(model->vis.map.znear * model->stat.extent, 1e-3, 1.0);
    const mjModel* list[] = {model.get()};
    const Images ours = RenderScene(*BatchRenderer::Make(config, "from_outside", list, 1), config, *model, data.get());
    config.backend = "mujoco";
    Images theirs(config.width, config.height);
    const SceneView view = ViewOf(model.get(), data.get());
    BatchRenderer::Make(config, "from_outside", list, 1)
        ->Render({&view, 1}, {.depth_f32 = theirs.depth.data(), .segmentation = theirs.geom.data()});
    const Counts counts = Differences(ours, theirs);
    EXPECT_LE(counts.depth, counts.compared / 1000) << name;
    EXPECT_LE(counts.geom, counts.compared / 1000) << name;
    EXPECT_LE(ColourError(*model, config, view), 4) << name;
  }
  EXPECT_GE(models, 15);
}

}  // namespace
}  // namespace gripstream
