// Tests envs/model.h and envs/binding.h.
#include "envs/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using DataPtr = std::unique_ptr<mjData, void (*)(mjData*)>;

DataPtr MakeData(const mjModel* model) {
  return {mj_makeData(model), mj_deleteData};
}

TEST(ModelSet, ModelsOfAllObjectsHaveTheSameSizesAndTheObjectsOwnMass) {
  TaskConfig config;
  config.objects = {"all"};
  const ModelSet models(config);
  ASSERT_EQ(models.Objects(), 28);
  const int body = models.Binding().object_body;
  for (int i = 0; i < models.Objects(); ++i) {
    const mjModel* model = models.Model(i);
    EXPECT_EQ(model->ngeom, models.Model(0)->ngeom);
    EXPECT_EQ(model->nbvh, models.Model(0)->nbvh);
    EXPECT_EQ(model->nC, models.Model(0)->nC);
    EXPECT_EQ(model->body_simple[body], 0) << models.Object(i).name;
    EXPECT_GT(model->body_mass[body], 0.03) << models.Object(i).name;
    EXPECT_LT(model->body_mass[body], 0.18) << models.Object(i).name;
  }
  // A cube of 40 mm at 500 kg/m3.
  EXPECT_EQ(models.Object(0).name, "cube_40");
  EXPECT_NEAR(models.Model(0)->body_mass[body], 0.04 * 0.04 * 0.04 * 500, 1e-12);
}

TEST(ModelSet, FillersAreInvisibleMasslessAndOutsideEveryCollision) {
  TaskConfig config;
  config.objects = {"cube_50", "mug"};
  config.held_out_objects = {};
  const ModelSet models(config);
  const mjModel* cube = models.Model(0);
  const int body = models.Binding().object_body;
  ASSERT_EQ(cube->body_geomnum[body], 4);  // the mug has four geoms
  for (int k = 1; k < 4; ++k) {
    const int filler = cube->body_geomadr[body] + k;
    EXPECT_EQ(cube->geom_rgba[4 * filler + 3], 0.0f);
    for (int other = 0; other < cube->ngeom; ++other) {
      EXPECT_EQ(cube->geom_contype[filler] & cube->geom_conaffinity[other], 0);
      EXPECT_EQ(cube->geom_contype[other] & cube->geom_conaffinity[filler], 0);
    }
  }
  EXPECT_NEAR(cube->body_mass[body], 0.05 * 0.05 * 0.05 * 500, 1e-12);
}

TEST(ModelSet, FilledModelMovesLikeTheShippedOne) {
  TaskConfig config;
  config.objects = {"cube_50"};
  config.held_out_objects = {"mug"};
  const ModelSet models(config);
  char error[200];
  const std::unique_ptr<mjModel, void (*)(mjModel*)> shipped(
      mj_loadXML((testing::kAssets + "kuka_allegro.xml").c_str(), nullptr, error, sizeof error), mj_deleteModel);
  const DataPtr ours = MakeData(models.Model(0)), theirs = MakeData(shipped.get());
  mj_resetDataKeyframe(models.Model(0), ours.get(), 0);
  mj_resetDataKeyframe(shipped.get(), theirs.get(), 0);
  const int z = models.Binding().object_qpos + 2;
  ours->qpos[z] = theirs->qpos[z] = 0.4;  // a drop on the table
  for (int step = 0; step < 120; ++step) {
    mj_step(models.Model(0), ours.get());
    mj_step(shipped.get(), theirs.get());
  }
  // The full mass matrix rounds differently from the shortened one.
  for (int i = 0; i < shipped->nq; ++i) EXPECT_NEAR(ours->qpos[i], theirs->qpos[i], 1e-6) << i;
}

TEST(ModelSet, KinematicTreeAgreesWithMujocoAtRandomPostures) {
  const ModelSet models(testing::SmallTask());
  const RobotBinding& robot = models.Binding();
  const mjModel* model = models.Model(0);
  const DataPtr data = MakeData(model);
  ASSERT_EQ(robot.tree.Joints(), 23);
  Rng rng = RandomStream(1, "postures").At(0, 0);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> q(23);
    for (size_t j = 0; j < q.size(); ++j) {
      const JointLimit& limit = robot.tree.limits[j];
      q[j] = limit.lower + (limit.upper - limit.lower) * static_cast<double>(rng.Uniform());
      data->qpos[robot.qpos[j]] = q[j];
    }
    mj_kinematics(model, data.get());
    const auto expect_site = [&](const LinkFrame& frame, int site) {
      const Transform pose = FramePose(robot.tree, q, frame);
      const mjtNum* p = data->site_xpos + 3 * site;
      EXPECT_LT(Norm(pose.pos - Vec3{p[0], p[1], p[2]}), 1e-9);
      mjtNum m[4];
      mju_mat2Quat(m, data->site_xmat + 9 * site);
      EXPECT_LT(Norm(RotationVector(pose.quat * Inverse(Quat{m[0], m[1], m[2], m[3]}))), 1e-7);
    };
    expect_site(robot.palm, robot.palm_site);
    expect_site(robot.tips[3], mj_name2id(model, mjOBJ_SITE, "thumb_tip"));
  }
}

TEST(ModelSet, ActuatorListFixesTheJointOrder) {
  TaskConfig config = testing::SmallTask();
  config.binding.actuators = {"iiwa7_act_2", "iiwa7_act_1"};
  config.binding.arm_joints = 2;
  const ModelSet models(config);
  const RobotBinding& robot = models.Binding();
  EXPECT_EQ(robot.tree.joint_names, (std::vector<std::string>{"iiwa7_joint_2", "iiwa7_joint_1"}));
  // The other joints stand where the home posture has them.
  const DataPtr data = MakeData(models.Model(0));
  std::copy(robot.home_qpos.begin(), robot.home_qpos.end(), data->qpos);
  data->qpos[robot.qpos[0]] = 0.4;
  data->qpos[robot.qpos[1]] = -0.7;
  mj_kinematics(models.Model(0), data.get());
  const mjtNum* p = data->site_xpos + 3 * robot.palm_site;
  const std::vector<double> q = {0.4, -0.7};
  EXPECT_LT(Norm(FramePose(robot.tree, q, robot.palm).pos - Vec3{p[0], p[1], p[2]}), 1e-9);
}

TEST(ModelSet, TrainingAndHeldOutObjectsAreKeptApart) {
  const ModelSet models(testing::SmallTask());
  EXPECT_EQ(models.Train(), (std::vector<int>{0, 1, 2}));
  ASSERT_EQ(models.HeldOut(), std::vector<int>{3});
  EXPECT_EQ(models.Object(3).name, "mug");
}

}  // namespace
}  // namespace gripstream
