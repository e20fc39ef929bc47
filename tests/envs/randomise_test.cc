// Tests envs/randomise.h and envs/own_models.h: every parameter differs between environments and changes the motion.
#include "envs/randomise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "control/kinematic_tree.h"
#include "envs/own_models.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using testing::MakeBatch;

// The grasp task with joint targets, so that the robot moves alike whatever the fabric does, fully open, nothing
// random.
TaskConfig BareTask() {
  TaskConfig task = testing::SmallTask();
  task.objects = {"cube_50"};
  task.name = "grasp";
  task.decimation = 2;
  task.episode_s = 20;
  task.action.map = "joint_targets";
  task.curriculum.start = 50;
  task.grasp.spawn_x = task.grasp.spawn_y = task.grasp.spawn_rotation = {0, 0};
  task.grasp.spawn_z_m = 0;
  RandomiseConfig& r = task.randomise;
  r.enabled = true;
  r.robot_friction = r.object_friction = r.stiffness = r.damping = r.object_mass = {1, 1, 1, 1};
  r.joint_friction = {0, 0, 0, 0};
  r.push = r.start_position = r.start_velocity = r.velocity_target = {0, 0};
  for (auto* noise :
       {&r.position_noise, &r.position_bias, &r.velocity_noise, &r.velocity_bias, &r.object_position_noise,
        &r.object_position_bias, &r.object_rotation_noise, &r.object_rotation_bias})
    *noise = {0, 0};
  return task;
}

// Both environments do the same; the largest difference of their states afterwards.
double Difference(const TaskConfig& task, const std::function<void(EnvBatch&)>& prepare = {}) {
  const auto envs = MakeBatch(task, 2);
  envs->Reset({});
  if (prepare) prepare(*envs);
  for (int step = 0; step < 60; ++step) {
    std::vector<float> actions = testing::RandomActions(*envs, 0, step / 20);
    const size_t n = actions.size() / 2;
    std::copy_n(actions.begin(), n, actions.begin() + n);
    envs->Step(actions.data());
  }
  const std::vector<mjtNum> a = testing::StateOf(*envs, 0), b = testing::StateOf(*envs, 1);
  double most = 0;
  for (int i = 1; i <= envs->Model(0)->nq; ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// The object slides over the table, which shows friction against it and nothing of mass.
void Slide(EnvBatch& envs) {
  std::vector<mjtNum> state;
  for (int env = 0; env < 2; ++env) {
    state = testing::StateOf(envs, env);
    const mjModel* m = envs.Model(env);
    state[1 + m->nq + envs.Robot().object_dof] = 1.0;
    envs.Physics().WriteState(env, state.data());
  }
}

// The object falls on the fingers, which yield to its weight and over which it slides off.
void DropOnFingers(EnvBatch& envs) {
  const RobotBinding& robot = envs.Robot();
  std::vector<double> q;
  for (const int address : robot.qpos) q.push_back(robot.home_qpos[static_cast<size_t>(address)]);
  const Vec3 finger = FramePose(robot.tree, q, robot.tips[1]).pos;
  for (int env = 0; env < 2; ++env) {
    std::vector<mjtNum> state = testing::StateOf(envs, env);
    mjtNum* object = &state[1 + static_cast<size_t>(robot.object_qpos)];
    object[0] = finger.x, object[1] = finger.y, object[2] = finger.z + 0.06;
    envs.Physics().WriteState(env, state.data());
  }
}

TEST(Randomise, NothingRandomMakesEnvironmentsEqual) {
  EXPECT_EQ(Difference(BareTask()), 0);
  EXPECT_EQ(Difference(BareTask(), Slide), 0);
  EXPECT_EQ(Difference(BareTask(), DropOnFingers), 0);
}

TEST(Randomise, EachPartChangesTheMotion) {
  const auto with = [](const std::function<void(RandomiseConfig&)>& change) {
    TaskConfig task = BareTask();
    change(task.randomise);
    return task;
  };
  EXPECT_GT(Difference(with([](auto& r) { r.stiffness = {1, 1, 0.5, 2}; })), 1e-3);
  EXPECT_GT(Difference(with([](auto& r) { r.damping = {1, 1, 0.5, 2}; })), 1e-3);
  EXPECT_GT(Difference(with([](auto& r) { r.joint_friction = {0, 0, 0, 5}; })), 1e-4);
  EXPECT_GT(Difference(with([](auto& r) { r.object_friction = {1, 1, 0.1, 0.9}; }), Slide), 1e-3);
  EXPECT_GT(Difference(with([](auto& r) { r.start_position = {0, 0.3}; })), 1e-3);
  EXPECT_GT(Difference(with([](auto& r) { r.start_velocity = {0, 1}; })), 1e-6);
  EXPECT_GT(Difference(with([](auto& r) { r.push = {0, 10}, r.push_distance_m = 10; })), 1e-3);
  EXPECT_GT(Difference(with([](auto& r) { r.object_mass = {1, 1, 0.5, 3}; }), DropOnFingers), 1e-3);
  EXPECT_GT(Difference(with([](auto& r) {
                         r.object_friction = {1, 1, 0, 0}, r.robot_friction = {1, 1, 0.1, 1};
                       }),
                       DropOnFingers),
            1e-3)
      << "contacts take the greater of two: the object's is out of the way";
}

TEST(Randomise, EveryNumberDiffersBetweenTheEnvironmentsOfABatch) {
  TaskConfig task = BareTask();
  task.randomise = {};
  task.randomise.enabled = true;
  const auto envs = MakeBatch(task, 8);
  envs->Reset({});
  const RobotBinding& robot = envs->Robot();
  const auto distinct = [&](const std::function<mjtNum(const mjModel&)>& number) {
    std::set<mjtNum> seen;
    for (int env = 0; env < 8; ++env) seen.insert(number(*envs->PhysicsModel(env)));
    return seen.size();
  };
  const int palm_geom = envs->Model(0)->body_geomadr[envs->Model(0)->site_bodyid[robot.palm_site]];
  const int object_geom = envs->Model(0)->body_geomadr[robot.object_body];
  EXPECT_EQ(distinct([&](const mjModel& m) { return m.geom_friction[3 * palm_geom]; }), 8u);
  EXPECT_EQ(distinct([&](const mjModel& m) { return m.geom_friction[3 * object_geom]; }), 8u);
  EXPECT_EQ(distinct([&](const mjModel& m) { return m.body_mass[robot.object_body]; }), 8u);
  EXPECT_EQ(distinct([&](const mjModel& m) { return m.body_inertia[3 * robot.object_body]; }), 8u);
  for (size_t j = 0; j < robot.actuators.size(); ++j) {
    const int id = robot.actuators[j];
    EXPECT_EQ(distinct([&](const mjModel& m) { return m.actuator_gainprm[mjNGAIN * id]; }), 8u);
    EXPECT_EQ(distinct([&](const mjModel& m) { return m.actuator_biasprm[mjNBIAS * id + 2]; }), 8u);
    EXPECT_EQ(distinct([&](const mjModel& m) { return m.dof_frictionloss[robot.dofs[j]]; }), 8u);
  }
}

TEST(Randomise, PushesStopWhereTheHandIsFar) {
  TaskConfig task = BareTask();
  task.randomise.push = {0, 10};
  task.randomise.push_distance_m = 0.01;
  EXPECT_EQ(Difference(task), 0);
}

TEST(Randomise, SpawnDiffersBetweenEnvironments) {
  TaskConfig task = BareTask();
  task.grasp.spawn_x = {0, 0.3};
  EXPECT_GT(Difference(task), 1e-3);
}

TEST(Randomise, NoiseAndBiasChangeWhatIsSeenAndNotWhatIs) {
  TaskConfig task = BareTask();
  task.grasp.proprio = "teacher";
  task.randomise.position_noise = task.randomise.object_position_noise = {0, 0.05};
  const auto envs = MakeBatch(task, 2), clean = MakeBatch(BareTask(), 2);
  envs->Reset({});
  clean->Reset({});
  const std::vector<float> actions(2 * 23, 0.1f);
  std::set<float> seen;
  for (int step = 0; step < 5; ++step) {
    envs->Step(actions.data());
    clean->Step(actions.data());
    const testing::Record noisy(*envs), exact(*clean);
    EXPECT_EQ(noisy.Get<float>("state", 0), exact.Get<float>("state", 0));
    const std::vector<float> row = noisy.Get<float>("obs.proprio", 0), truth = exact.Get<float>("obs.proprio", 0);
    for (size_t j = 0; j < 23; ++j) {
      EXPECT_NE(row[j], truth[j]);
      EXPECT_LE(std::abs(row[j] - truth[j]), 0.05f + 1e-6f);
      seen.insert(row[j] - truth[j]);
    }
  }
  EXPECT_GT(seen.size(), 100u) << "new noise in every step and joint";
}

TEST(Randomise, BiasHoldsForAnEpisode) {
  TaskConfig task = BareTask();
  task.randomise.position_bias = {0, 0.1};
  const auto envs = MakeBatch(task, 2), clean = MakeBatch(BareTask(), 2);
  envs->Reset({});
  clean->Reset({});
  const std::vector<float> actions(2 * 23, 0.1f);
  std::vector<float> first;
  for (int step = 0; step < 5; ++step) {
    envs->Step(actions.data());
    clean->Step(actions.data());
    const float bias = testing::Record(*envs).Get<float>("obs.proprio", 0)[3] -
                       testing::Record(*clean).Get<float>("obs.proprio", 0)[3];
    first.push_back(bias);
    EXPECT_NEAR(bias, first.front(), 1e-6);
  }
  EXPECT_NE(first.front(), 0);
}

TEST(Randomise, RampsGoFromTheirStartToTheirEnd) {
  EXPECT_EQ(RampAt({10, 20}, 0), 10);
  EXPECT_EQ(RampAt({10, 20}, 0.3), 13);
  EXPECT_EQ(RampAt({10, 20}, 1), 20);
  const Range half = RangeAt({1, 1, 0.5, 2}, 0.5);
  EXPECT_EQ(half.low, 0.75);
  EXPECT_EQ(half.high, 1.5);
}

TEST(Randomise, DrawsStayInTheirRangesAndFillThem) {
  const ModelSet models(testing::SmallTask());
  RandomiseConfig config;
  double low = 9, high = 0;
  for (uint32_t env = 0; env < 300; ++env) {
    const PhysicsDraw draw = DrawPhysics(config, models.Binding(), 1, RandomStream(1, "physics").At(env, 0));
    for (const double x : {draw.robot_friction, draw.object_friction}) EXPECT_TRUE(x >= 0.5 && x <= 1.2);
    EXPECT_TRUE(draw.object_mass >= 0.5 && draw.object_mass <= 3);
    for (size_t j = 0; j < 23; ++j) {
      low = std::min(low, draw.stiffness[j]), high = std::max(high, draw.stiffness[j]);
      EXPECT_LE(draw.joint_friction[j], j < 7 ? 5 : 0.05);
    }
  }
  EXPECT_NEAR(low, 0.5, 0.01);
  EXPECT_NEAR(high, 2, 0.01);
}

class OwnModelsTest : public ::testing::Test {
 protected:
  OwnModelsTest() : models_(testing::SmallTask()), own_(models_, 2) {
    for (size_t j = 0; j < 23; ++j) {
      draw_.stiffness[j] = 1 + 0.01 * static_cast<double>(j);
      draw_.damping[j] = 0.8, draw_.joint_friction[j] = 0.1;
    }
    draw_.robot_friction = 0.7, draw_.object_friction = 0.6, draw_.object_mass = 2.5;
  }
  ModelSet models_;
  OwnModels own_;
  PhysicsDraw draw_;
};

// A full copy, edited by hand and passed through mj_setConst, is what the light one must equal.
TEST_F(OwnModelsTest, StepsLikeAFullCopyWithTheSameNumbers) {
  own_.Set(0, 1, draw_);
  const RobotBinding& robot = models_.Binding();
  const std::unique_ptr<mjModel, void (*)(mjModel*)> full(mj_copyModel(nullptr, models_.Model(1)), mj_deleteModel);
  const std::unique_ptr<mjData, void (*)(mjData*)> a(mj_makeData(full.get()), mj_deleteData),
      b(mj_makeData(full.get()), mj_deleteData);
  for (int geom = 0; geom < full->ngeom; ++geom) {
    const int body = full->geom_bodyid[geom];
    const bool robot_part = body > 0 && body != robot.object_body && full->body_rootid[body] != robot.object_body;
    full->geom_friction[3 * geom] *= robot_part ? 0.7 : 0.6;
  }
  for (size_t j = 0; j < 23; ++j) {
    const int id = robot.actuators[j];
    full->actuator_gainprm[mjNGAIN * id] *= draw_.stiffness[j];
    full->actuator_biasprm[mjNBIAS * id + 1] *= draw_.stiffness[j];
    full->actuator_biasprm[mjNBIAS * id + 2] *= 0.8;
    full->dof_frictionloss[robot.dofs[j]] = 0.1;
  }
  full->body_mass[robot.object_body] *= 2.5;
  for (int k = 0; k < 3; ++k) full->body_inertia[3 * robot.object_body + k] *= 2.5;
  mj_setConst(full.get(), a.get());
  for (mjData* data : {a.get(), b.get()}) {
    mj_resetData(full.get(), data);
    std::ranges::copy(robot.home_qpos, data->qpos);
    for (size_t j = 0; j < 23; ++j) data->ctrl[robot.actuators[j]] = data->qpos[robot.qpos[j]] + 0.2;
    data->qpos[robot.object_qpos + 2] = 0.35;
  }
  for (int step = 0; step < 200; ++step) {
    mj_step(full.get(), a.get());
    mj_step(own_.Model(0), b.get());
  }
  for (int i = 0; i < full->nq; ++i) EXPECT_EQ(a->qpos[i], b->qpos[i]) << i;
}

TEST_F(OwnModelsTest, SharedModelAndOtherEnvironmentsStayAsTheyWere) {
  own_.Set(1, 0, draw_);
  const mjtNum before = own_.Model(1)->geom_friction[0];
  const mjtNum shared = models_.Model(0)->geom_friction[0], mass = models_.Model(0)->body_mass[1];
  draw_.robot_friction = draw_.object_friction = 3;
  own_.Set(0, 0, draw_);
  EXPECT_EQ(own_.Model(1)->geom_friction[0], before);
  EXPECT_EQ(models_.Model(0)->geom_friction[0], shared);
  EXPECT_EQ(models_.Model(0)->body_mass[1], mass);
  EXPECT_EQ(own_.Model(0)->nq, models_.Model(0)->nq);
}

TEST_F(OwnModelsTest, HeavierObjectFallsAlikeAndIsHarderToPush) {
  own_.Set(0, 0, draw_);
  const mjModel* m = own_.Model(0);
  const int object = models_.Binding().object_body, dof = models_.Binding().object_dof;
  EXPECT_NEAR(m->body_mass[object], 2.5 * models_.Model(0)->body_mass[object], 1e-12);
  EXPECT_NEAR(m->dof_invweight0[dof], models_.Model(0)->dof_invweight0[dof] / 2.5, 1e-9);
}

}  // namespace
}  // namespace gripstream
