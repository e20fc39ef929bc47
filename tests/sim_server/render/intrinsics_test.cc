// Tests an environment's own intrinsics (SceneView::intrinsics) and body ids (RenderTargets::bodies).
#include <gtest/gtest.h>

#include <cmath>

#include "sim_server/render/mujoco_renderer.h"
#include "sim_server/render/renderer.h"
#include "tests/sim_server/render/scenes.h"

// OSMesa (22.3) keeps some 500 bytes of every context it destroys; colour_test.cc suppresses that for this program.

namespace gripstream {
namespace {

class IntrinsicsTest : public testing::Test {
 protected:
  IntrinsicsTest() : model_(GraspModel("mug")), data_(mj_makeData(model_.get())) {
    RandomiseNearHome(*model_, data_.get(), RandomStream(4, "intrinsics").At(0, 0));
    config_.width = 96, config_.height = 64;
    camera_ = FindCamera(*model_, "depth");
    own_.resize(static_cast<size_t>(model_->ncam));
    // Wide, not square, off the middle.
    own_[static_cast<size_t>(camera_)] = {70.0, 91.0, 41.5, 36.25};
  }
  SceneView View() const {
    SceneView view = ViewOf(model_.get(), data_.get());
    view.intrinsics = own_.data();
    return view;
  }
  const mjModel* Model() const { return model_.get(); }

  ModelPtr model_;
  DataPtr data_;
  RenderConfig config_;
  int camera_;
  std::vector<Projection> own_;
};

TEST_F(IntrinsicsTest, OfAnEnvironmentAreThoseOfItsRays) {
  const mjModel* models[] = {Model()};
  Images images(config_.width, config_.height);
  const SceneView view = View();
  BatchRenderer::Make(config_, "depth", models, 1)->Render({&view, 1}, images.Targets());
  int wrong = 0, hits = 0;
  for (int y = 0; y < config_.height; ++y) {
    for (int x = 0; x < config_.width; ++x) {
      const Hit hit = RayHit(*Model(), data_.get(), camera_, own_[static_cast<size_t>(camera_)], x, y, config_.near_m,
                             config_.far_m);
      const size_t at = static_cast<size_t>(y) * config_.width + x;
      hits += hit.geom >= 0;
      wrong += std::abs(hit.depth_m - images.depth[at]) > 1e-4 || hit.geom != images.geom[at];
    }
  }
  EXPECT_GT(hits, 1000);
  EXPECT_LE(wrong, 3);
}

TEST_F(IntrinsicsTest, OfAnEnvironmentAreThoseOfMujocosRenderer) {
  const mjModel* models[] = {Model()};
  const SceneView view = View();
  const size_t count = static_cast<size_t>(config_.width) * config_.height;
  std::vector<int32_t> ours(count), theirs(count);
  BatchRenderer::Make(config_, "depth", models, 1)->Render({&view, 1}, {.segmentation = ours.data()});
  MujocoRenderer(config_, "depth", models).Render({&view, 1}, {.segmentation = theirs.data()});
  int differ = 0;
  for (size_t i = 0; i < count; ++i) differ += ours[i] != theirs[i];
  EXPECT_LE(differ, static_cast<int>(count / 50));  // silhouettes of its polyhedra
}

TEST_F(IntrinsicsTest, ThatAreTheModelsOwnChangeNothing) {
  for (int i = 0; i < model_->ncam; ++i) {
    own_[static_cast<size_t>(i)] = ProjectionOf(*model_, i, config_.width, config_.height);
  }
  const mjModel* models[] = {Model()};
  const auto renderer = BatchRenderer::Make(config_, "depth", models, 1);
  Images images(config_.width, config_.height);
  const SceneView view = View();
  renderer->Render({&view, 1}, images.Targets());
  EXPECT_EQ(images.depth, RenderScene(*renderer, config_, *model_, data_.get()).depth);
}

TEST_F(IntrinsicsTest, BodyIdsAreThoseOfTheGeoms) {
  const mjModel* models[] = {Model()};
  const SceneView view = View();
  const size_t count = static_cast<size_t>(config_.width) * config_.height;
  std::vector<int32_t> geoms(count), bodies(count);
  BatchRenderer::Make(config_, "depth", models, 1)
      ->Render({&view, 1}, {.segmentation = geoms.data(), .bodies = bodies.data()});
  int seen = 0;
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(bodies[i], geoms[i] < 0 ? -1 : model_->geom_bodyid[geoms[i]]);
    seen += bodies[i] > 0;
  }
  EXPECT_GT(seen, 50);
}

}  // namespace
}  // namespace gripstream
