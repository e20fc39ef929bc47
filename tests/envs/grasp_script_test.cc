// Tests that the grasp task can be solved through the fabric: an open-loop script reaches, closes, lifts and carries.
#include <gtest/gtest.h>

#include <array>
#include <numbers>

#include "envs/action_files.h"
#include "envs/grasp.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using Synergies = std::array<double, 5>;

class Script {
 public:
  explicit Script(const std::string& object) {
    task_.name = "grasp";
    task_.objects = {object};
    task_.held_out_objects = {};
    task_.decimation = 2;
    task_.episode_s = 10;
    task_.start_noise_rad = 0;
    task_.grasp.spawn_z_m = 0;
    task_.grasp.spawn_rotation = {0, 0};
    task_.action.map = "fabric";
    task_.action.palm_low = {-1.2, -0.7, 0, -std::numbers::pi, -0.7854, 2.3562};
    task_.action.palm_high = {0, 0.7, 1, -std::numbers::pi / 2, 0.7854, 3.927};
    task_.action.rest = {-0.85, -0.5, 0.76, 1.25, -1.76, 0.9,  0.64, 0,    0.75, 0.75, 0.75, 0,
                         0.75,  0.75, 0.75, 0,    0.75,  0.75, 0.75, 1.57, 0.5,  0.5,  0.5};
    envs_ = testing::MakeBatch(task_, 1);
    envs_->Reset({});
  }

  // The metrics "lifted" and "in_region" at the end.
  std::array<bool, 2> Run() {
    // Opened and closed hand; closing goes half as far again, which is the squeeze.
    const std::vector<double> open = {0, 0.134, 0.266, 0.619, 0,     0.134, 0.266, 0.619,
                                      0, 0.134, 0.266, 0.619, 1.419, 0.184, 0.178, 0.076};
    const std::vector<double> closed = {0, 0.899, 0.559, 0.726, 0,     0.899, 0.559, 0.726,
                                        0, 0.899, 0.559, 0.726, 1.454, 0.82,  1.075, 0.481};
    const Synergies opened = Coordinates(open), squeezed = Coordinates(closed);
    const Vec3 grip = Rotate(EulerZyx(kEz, kEy, kEx), {0.0749, 0.0048, 0.1037});  // object from palm
    const Vec3 at = Object() - grip, above{0, 0, 0.13};
    Hold(at + above, opened, 120);
    Hold(at, opened, 90);
    Hold(at, squeezed, 60);
    Hold(at + above, squeezed, 60);
    Hold(Vec3{-0.5, 0, 0.75} - grip, squeezed, 150);
    const std::vector<float> metrics = testing::Record(*envs_).Get<float>("metrics", 0);
    EXPECT_EQ(testing::Record(*envs_).One<uint32_t>("episode_step", 0), 480u) << "one episode";
    return {metrics[0] == 1, metrics[1] == 1};
  }

 private:
  static constexpr double kEz = -0.75 * std::numbers::pi, kEy = 0.6104, kEx = std::numbers::pi;

  Synergies Coordinates(const std::vector<double>& hand) const {
    Synergies out;
    table_.Rows("").Project(hand, out);
    return out;
  }
  Vec3 Object() const {
    const std::vector<float> p = testing::Record(*envs_).Get<float>("aux.object_position", 0);
    return {p[0], p[1], p[2]};
  }
  void Hold(Vec3 palm, const Synergies& hand, int steps) {
    std::vector<float> action;
    const auto put = [&](double value, double low, double high) {
      action.push_back(static_cast<float>(2 * (value - low) / (high - low) - 1));
    };
    const double pose[6] = {palm.x, palm.y, palm.z, kEz, kEy, kEx};
    for (size_t i = 0; i < 6; ++i) put(pose[i], task_.action.palm_low[i], task_.action.palm_high[i]);
    for (size_t i = 0; i < 5; ++i) put(hand[i], table_.low[i], table_.high[i]);
    for (const float component : action) EXPECT_LE(std::abs(component), 1) << "the action reaches what it takes";
    for (int step = 0; step < steps; ++step) envs_->Step(action.data());
  }

  TaskConfig task_;
  std::unique_ptr<EnvBatch> envs_;
  const SynergyTable table_ = ReadSynergyTable("", 16);
};

TEST(GraspScript, CarriesTheCubeIntoTheGoalRegion) {
  const std::array<bool, 2> end = Script("cube_50").Run();
  EXPECT_TRUE(end[0]) << "lifted";
  EXPECT_TRUE(end[1]) << "in the goal region";
}

TEST(GraspScript, CarriesMostOfSeveralShapesToo) {
  int carried = 0;
  for (const char* object : {"sphere_60", "cyl_50x80", "capsule_50", "cube_60"}) {
    const bool there = Script(object).Run()[1];
    carried += there ? 1 : 0;
    RecordProperty(object, there ? "carried" : "lost");
  }
  EXPECT_GE(carried, 3);
}

}  // namespace
}  // namespace gripstream
