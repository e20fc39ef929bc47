// Tests sim_server/render/camera_jitter.h.
#include "sim_server/render/camera_jitter.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/sim_server/render/scenes.h"

namespace gripstream {
namespace {

class CameraJitterTest : public testing::Test {
 protected:
  CameraJitterTest() : model_(GraspModel("cube_50")), data_(mj_makeData(model_.get())) {
    mj_forward(model_.get(), data_.get());
    left_ = FindCamera(*model_, "stereo_left");
    right_ = FindCamera(*model_, "stereo_right");
  }
  CameraJitter Make(const CameraJitterConfig& config, int environments = 1) {
    const mjModel* models[] = {model_.get()};
    return CameraJitter(config, 3, {"stereo_left", "stereo_right"}, models, environments, 160, 120);
  }
  SceneView View() const { return ViewOf(model_.get(), data_.get()); }

  // How far a camera is from where it was: metres, and degrees of the turn between.
  static double Shift(const SceneView& a, const SceneView& b, int camera) {
    return mju_dist3(a.cam_xpos + 3 * camera, b.cam_xpos + 3 * camera);
  }
  static double Turn(const SceneView& a, const SceneView& b, int camera) {
    mjtNum turn[9];
    mju_mulMatTMat(turn, a.cam_xmat + 9 * camera, b.cam_xmat + 9 * camera, 3, 3, 3);
    return std::acos(std::min(1.0, 0.5 * (turn[0] + turn[4] + turn[8] - 1))) * 180 / mjPI;
  }
  // The right camera's position in the left one's frame.
  std::array<mjtNum, 3> Baseline(const SceneView& v) const {
    mjtNum apart[3];
    std::array<mjtNum, 3> baseline;
    mju_sub3(apart, v.cam_xpos + 3 * right_, v.cam_xpos + 3 * left_);
    mju_mulMatTVec3(baseline.data(), v.cam_xmat + 9 * left_, apart);
    return baseline;
  }

  ModelPtr model_;
  DataPtr data_;
  int left_, right_;
};

TEST_F(CameraJitterTest, LeavesCamerasAloneBeforeTheFirstEpisodeAndWithoutRanges) {
  CameraJitter jitter = Make({});
  for (int i = 0; i < 2; ++i) {
    const SceneView moved = jitter.Moved(0, View());
    for (int camera = 0; camera < model_->ncam; ++camera) {
      EXPECT_NEAR(Shift(View(), moved, camera), 0, 1e-12);
      EXPECT_NEAR(Turn(View(), moved, camera), 0, 1e-5);
    }
    jitter.Redraw(0, 0, 1);
  }
}

TEST_F(CameraJitterTest, StaysWithinItsRangesAndReachesThem) {
  CameraJitter jitter = Make({.rotation_deg = 3, .position_m = 0.03});
  double most_shift = 0, most_turn = 0;
  for (uint64_t episode = 0; episode < 200; ++episode) {
    jitter.Redraw(0, 7, episode);
    const SceneView moved = jitter.Moved(0, View());
    most_shift = std::max(most_shift, Shift(View(), moved, left_));
    most_turn = std::max(most_turn, Turn(View(), moved, left_));
    EXPECT_EQ(Shift(View(), moved, FindCamera(*model_, "depth")), 0);
  }
  EXPECT_LE(most_shift, 0.03 * std::sqrt(3.0) + 1e-9);
  EXPECT_GE(most_shift, 0.03);
  EXPECT_LE(most_turn, 3 * std::sqrt(3.0) + 0.1);
  EXPECT_GE(most_turn, 3);
}

TEST_F(CameraJitterTest, FurtherCamerasGoWithTheFirstUpToTheirOwnError) {
  CameraJitter rigid = Make({.rotation_deg = 3, .position_m = 0.03});
  CameraJitter loose =
      Make({.rotation_deg = 3, .position_m = 0.03, .stereo_rotation_deg = 2, .stereo_position_m = 0.003});
  const std::array<mjtNum, 3> before = Baseline(View());
  double most = 0;
  for (uint64_t episode = 0; episode < 50; ++episode) {
    rigid.Redraw(0, 1, episode);
    loose.Redraw(0, 1, episode);
    EXPECT_NEAR(mju_dist3(Baseline(rigid.Moved(0, View())).data(), before.data()), 0, 1e-9);
    most = std::max(most, mju_dist3(Baseline(loose.Moved(0, View())).data(), before.data()));
  }
  EXPECT_GT(most, 0.001);
  EXPECT_LE(most, 0.003 * std::sqrt(3.0) + 1e-9);
}

TEST_F(CameraJitterTest, DependsOnTheEnvironmentAndEpisodeNotOnItsPlaceInTheBatch) {
  CameraJitter jitter = Make({.rotation_deg = 3, .position_m = 0.03}, 3);
  jitter.Redraw(0, 5, 2);
  jitter.Redraw(1, 6, 2);
  jitter.Redraw(2, 5, 2);
  const SceneView a = jitter.Moved(0, View()), b = jitter.Moved(1, View()), c = jitter.Moved(2, View());
  EXPECT_EQ(Shift(a, c, left_), 0);
  EXPECT_GT(Shift(a, b, left_), 0);
  jitter.Redraw(2, 5, 3);
  EXPECT_GT(Shift(jitter.Moved(0, View()), jitter.Moved(2, View()), left_), 0);
}

TEST_F(CameraJitterTest, ChangesTheLensesOfAllCamerasAlikeWithinItsRanges) {
  CameraJitter jitter = Make({.focal_ratio = 0.1, .centre_ratio = 0.02});
  const Projection plain = ProjectionOf(*model_, left_, 160, 120);
  EXPECT_EQ(jitter.Moved(0, View()).intrinsics[left_].fx_px, plain.fx_px);
  double least = 1, most = 1, shift = 0;
  for (uint64_t episode = 0; episode < 100; ++episode) {
    jitter.Redraw(0, 7, episode);
    const Projection* changed = jitter.Moved(0, View()).intrinsics;
    const double ratio = changed[left_].fx_px / plain.fx_px;
    EXPECT_NEAR(changed[left_].fy_px / plain.fy_px, ratio, 1e-12);
    EXPECT_NEAR(changed[right_].fx_px / plain.fx_px, ratio, 1e-12);
    least = std::min(least, ratio), most = std::max(most, ratio);
    shift = std::max(shift, std::abs(changed[left_].cx_px - plain.cx_px));
  }
  EXPECT_NEAR(least, 0.9, 0.01);
  EXPECT_NEAR(most, 1.1, 0.01);
  EXPECT_NEAR(shift, 0.02 * 160, 0.2);
}

TEST_F(CameraJitterTest, RefusesAnUnknownCamera) {
  const mjModel* models[] = {model_.get()};
  EXPECT_THROW(CameraJitter({}, 1, {"stereo_lfet"}, models, 1, 160, 120), InputError);
}

}  // namespace
}  // namespace gripstream
