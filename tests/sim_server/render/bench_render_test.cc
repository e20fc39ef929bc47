// Tests sim_server/render/bench_render.h: a tiny run of the benchmark, and that its peer draws the same scene.
#include "sim_server/render/bench_render.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim_server/render/bench_embree.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

TEST(RenderBenchmark, GivesARowForEveryFigureEachMeasuredOrExplained) {
  const ModelPtr model = GraspModel("cube_50");
  const mjModel* models[] = {model.get()};
  RenderBenchOptions options;
  options.samples = 1, options.sample_s = 1e-4, options.environments = 4;
  const std::vector<BenchRow> rows = RenderBenchmark(models, options);
  EXPECT_GE(rows.size(), 5u);
  for (const BenchRow& row : rows) {
    EXPECT_FALSE(row.name.empty());
    EXPECT_EQ(std::isnan(row.ratio), !row.why.empty()) << row.name;
    if (!std::isnan(row.ratio)) {
      EXPECT_NEAR(row.ratio, row.ours / row.peer, 1e-9 * row.ratio) << row.name;
    }
  }
}

TEST(EmbreePeer, DrawsTheSceneThatWeDraw) {
  const ModelPtr model = GraspModel("bottle");
  RenderConfig config;
  const auto peer = EmbreePeer::Make(*model, "depth", config);
  if (!peer) GTEST_SKIP() << "built without libembree-dev";
  const DataPtr data(mj_makeData(model.get()));
  RandomiseNearHome(*model, data.get(), RandomStream(8, "embree").At(0, 0));
  const mjModel* models[] = {model.get()};
  const Images ours = RenderScene(*BatchRenderer::Make(config, "depth", models, 1), config, *model, data.get());
  std::vector<float> theirs(ours.Count());
  peer->Render(ViewOf(model.get(), data.get()), theirs.data());
  int differ = 0;
  for (size_t i = 0; i < ours.Count(); ++i) differ += std::abs(ours.depth[i] - theirs[i]) > 2e-3f;
  EXPECT_LE(differ, static_cast<int>(ours.Count() / 50));  // silhouettes of its polyhedra
}

}  // namespace
}  // namespace gripstream
