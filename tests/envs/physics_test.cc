// Tests envs/physics.h with the MuJoCo backend.
#include "envs/physics.h"

#include <gtest/gtest.h>

#include <cstring>

#include "envs/model.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using DataPtr = std::unique_ptr<mjData, void (*)(mjData*)>;

// A batch whose environments hold different objects, in motion: joints pushed about, the object in the air.
class PhysicsTest : public ::testing::Test {
 protected:
  static constexpr int kEnvs = 6;

  PhysicsTest() : models_(Config()) {
    for (int env = 0; env < kEnvs; ++env) list_.push_back(models_.Model(env % models_.Objects()));
  }
  static TaskConfig Config() {
    TaskConfig config = testing::SmallTask();
    config.objects = {"cube_50", "capsule_50", "L_block", "sphere_60"};
    return config;
  }
  std::unique_ptr<BatchPhysics> Make(int threads) const {
    std::unique_ptr<BatchPhysics> physics = MakeMujocoPhysics(list_[0], kEnvs, threads);
    physics->SetModels(list_);
    const std::vector<int> all = {0, 1, 2, 3, 4, 5};
    physics->Reset(
        all, [this](int env, const SimView& sim) { Start(env, sim.qpos, sim.ctrl); }, Nothing());
    return physics;
  }
  void Start(int env, mjtNum* qpos, mjtNum* ctrl) const {
    const RobotBinding& robot = models_.Binding();
    std::copy(robot.home_qpos.begin(), robot.home_qpos.end(), qpos);
    qpos[robot.object_qpos + 2] = 0.35 + 0.01 * env;
    for (size_t j = 0; j < 23; ++j) ctrl[j] = qpos[robot.qpos[j]] + 0.1 * (env + 1);
  }
  static BatchPhysics::Observe Nothing() {
    return [](int, const SimView&) {};
  }
  static BatchPhysics::Control Idle() {
    return [](int, int, const SimView&) {};
  }
  static std::vector<mjtNum> State(const BatchPhysics& physics, int env) {
    std::vector<mjtNum> state(static_cast<size_t>(physics.StateSize()));
    physics.ReadState(env, state.data());
    return state;
  }

  ModelSet models_;
  std::vector<const mjModel*> list_;
};

TEST_F(PhysicsTest, StepsEachEnvironmentExactlyLikeMjStepOnItsOwnModel) {
  const std::unique_ptr<BatchPhysics> physics = Make(2);
  physics->Step(10, 6, Idle(), Nothing());
  for (int env = 0; env < kEnvs; ++env) {
    const mjModel* model = list_[static_cast<size_t>(env)];
    const DataPtr data(mj_makeData(model), mj_deleteData);
    Start(env, data->qpos, data->ctrl);
    for (int step = 0; step < 60; ++step) mj_step(model, data.get());
    std::vector<mjtNum> expected(static_cast<size_t>(physics->StateSize()));
    mj_getState(model, data.get(), expected.data(), mjSTATE_INTEGRATION);
    EXPECT_EQ(State(*physics, env), expected) << env;
  }
}

TEST_F(PhysicsTest, PosesBelongToTheStateAfterTheStepNotBeforeIt) {
  const std::unique_ptr<BatchPhysics> physics = Make(2);
  std::vector<double> seen(kEnvs);
  const RobotBinding& robot = models_.Binding();
  physics->Step(1, 6, Idle(), [&](int env, const SimView& sim) {
    seen[static_cast<size_t>(env)] = sim.xpos[3 * robot.object_body + 2];
    EXPECT_EQ(sim.xpos[3 * robot.object_body + 2], sim.qpos[robot.object_qpos + 2]);
  });
  for (int env = 0; env < kEnvs; ++env) {
    const mjModel* model = physics->Model(env);
    const DataPtr data(mj_makeData(model), mj_deleteData);
    mj_setState(model, data.get(), State(*physics, env).data(), mjSTATE_INTEGRATION);
    mj_kinematics(model, data.get());
    mj_comPos(model, data.get());
    mj_camlight(model, data.get());
    EXPECT_EQ(std::memcmp(physics->GeomXpos(env), data->geom_xpos, sizeof(mjtNum) * 3 * model->ngeom), 0);
    EXPECT_EQ(std::memcmp(physics->GeomXmat(env), data->geom_xmat, sizeof(mjtNum) * 9 * model->ngeom), 0);
    EXPECT_EQ(std::memcmp(physics->CamXpos(env), data->cam_xpos, sizeof(mjtNum) * 3 * model->ncam), 0);
    EXPECT_EQ(std::memcmp(physics->CamXmat(env), data->cam_xmat, sizeof(mjtNum) * 9 * model->ncam), 0);
    EXPECT_LT(seen[static_cast<size_t>(env)], 0.35 + 0.01 * env);  // it fell
  }
}

TEST_F(PhysicsTest, ControlRunsOncePerTickAndIsHeldOverItsSubsteps) {
  const std::unique_ptr<BatchPhysics> three_ticks = Make(1), by_hand = Make(1);
  std::vector<int> ticks(kEnvs, 0);
  const auto control = [&](int env, int tick, const SimView& sim) {
    EXPECT_EQ(tick, ticks[static_cast<size_t>(env)]++);
    sim.ctrl[0] = 0.1 * tick;
  };
  three_ticks->Step(3, 2, control, Nothing());
  for (int tick = 0; tick < 3; ++tick)
    by_hand->Step(
        1, 2, [&](int, int, const SimView& sim) { sim.ctrl[0] = 0.1 * tick; }, Nothing());
  for (int env = 0; env < kEnvs; ++env) {
    EXPECT_EQ(ticks[static_cast<size_t>(env)], 3);
    EXPECT_EQ(State(*three_ticks, env), State(*by_hand, env));
  }
}

TEST_F(PhysicsTest, ResetTouchesOnlyTheEnvironmentsNamed) {
  const std::unique_ptr<BatchPhysics> physics = Make(2);
  physics->Step(4, 6, Idle(), Nothing());
  std::vector<std::vector<mjtNum>> before;
  for (int env = 0; env < kEnvs; ++env) before.push_back(State(*physics, env));
  const std::vector<int> some = {1, 4};
  physics->Reset(
      some, [this](int env, const SimView& sim) { Start(env, sim.qpos, sim.ctrl); }, Nothing());
  const std::unique_ptr<BatchPhysics> fresh = Make(1);
  for (int env = 0; env < kEnvs; ++env) {
    const bool reset = env == 1 || env == 4;
    EXPECT_EQ(State(*physics, env), reset ? State(*fresh, env) : before[static_cast<size_t>(env)]) << env;
  }
}

TEST_F(PhysicsTest, WrittenStateContinuesBitForBit) {
  const std::unique_ptr<BatchPhysics> physics = Make(2), other = Make(2);
  physics->Step(5, 6, Idle(), Nothing());
  for (int env = 0; env < kEnvs; ++env) other->WriteState(env, State(*physics, env).data());
  physics->Step(5, 6, Idle(), Nothing());
  other->Step(5, 6, Idle(), Nothing());
  for (int env = 0; env < kEnvs; ++env) EXPECT_EQ(State(*physics, env), State(*other, env));
}

TEST_F(PhysicsTest, BadNumberInOneEnvironmentIsReportedAndLeavesTheOthersAlone) {
  const std::unique_ptr<BatchPhysics> physics = Make(2), healthy = Make(2);
  std::vector<mjtNum> broken = State(*physics, 2);
  broken[1 + static_cast<size_t>(models_.Binding().object_qpos)] = std::nan("");  // time comes first
  physics->WriteState(2, broken.data());
  physics->Step(2, 6, Idle(), [](int env, const SimView&) { EXPECT_NE(env, 2); });
  healthy->Step(2, 6, Idle(), Nothing());
  for (int env = 0; env < kEnvs; ++env) {
    EXPECT_EQ(physics->Health(env), env == 2 ? SimHealth::kBadNumber : SimHealth::kOk);
    if (env == 2) continue;
    EXPECT_EQ(State(*physics, env), State(*healthy, env));
  }
}

TEST_F(PhysicsTest, BadControlIsReportedToo) {
  const std::unique_ptr<BatchPhysics> physics = Make(2);
  physics->Step(
      1, 2, [](int env, int, const SimView& sim) { sim.ctrl[3] = env == 5 ? std::nan("") : 0; }, Nothing());
  for (int env = 0; env < kEnvs; ++env)
    EXPECT_EQ(physics->Health(env), env == 5 ? SimHealth::kBadNumber : SimHealth::kOk);
}

TEST_F(PhysicsTest, ResetMakesAFaultyEnvironmentSound) {
  const std::unique_ptr<BatchPhysics> physics = Make(2);
  physics->Step(
      1, 2, [](int env, int, const SimView& sim) { sim.ctrl[3] = env == 5 ? std::nan("") : 0; }, Nothing());
  const std::vector<int> ids = {5};
  physics->Reset(
      ids, [this](int env, const SimView& sim) { Start(env, sim.qpos, sim.ctrl); }, Nothing());
  EXPECT_EQ(physics->Health(5), SimHealth::kOk);
  EXPECT_EQ(State(*physics, 5), State(*Make(1), 5));
}

}  // namespace
}  // namespace gripstream
