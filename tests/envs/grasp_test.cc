// Tests envs/grasp.h: rewards against their formulas, layouts, success and the ends of episodes.
#include "envs/grasp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "core/error.h"
#include "tests/envs/helpers.h"

namespace gripstream {
namespace {

using testing::MakeBatch;
using testing::Record;

TaskConfig GraspTask() {
  TaskConfig task = testing::SmallTask();
  task.name = "grasp";
  task.decimation = 2;
  task.episode_s = 0.5;
  task.action.map = "fabric";
  task.action.palm_low = {-1.2, -0.7, 0, -3.1416, -0.7854, 2.3562};
  task.action.palm_high = {0, 0.7, 1, -1.5708, 0.7854, 3.927};
  return task;
}

// A robot of two arm and two hand joints.
RobotBinding SmallRobot() {
  RobotBinding robot;
  robot.arm_joints = 2;
  robot.home = {0, 0, 0.5, 0.25};
  return robot;
}

class GraspTest : public ::testing::Test {
 protected:
  GraspTest() {
    config_.grasp.curl.clear();
    config_.decimation = 2;
    config_.physics_hz = 120;
  }
  std::unique_ptr<Task> Make() const { return MakeGrasp(config_, SmallRobot()); }
  Scene SceneAt(Vec3 object, double level = 0) {
    hand_ = {{{0, 0, 0.5}, {}, {}}, {{0.1, 0, 0.5}, {}, {}}};
    Scene scene;
    scene.q = q_;
    scene.qd = q_;
    scene.hand = scene.hand_seen = hand_;
    scene.object = scene.object_seen = {object, {}};
    scene.level = level;
    return scene;
  }
  static constexpr Vec3 kGoal{-0.5, 0, 0.75};

  TaskConfig config_;
  std::vector<double> q_ = {9, 9, 0.7, 0.15};
  std::vector<FrameMotion> hand_;
};

TEST_F(GraspTest, RewardTermsAreTheirFormulas) {
  const auto task = Make();
  const Vec3 object{-0.4, 0.1, 0.3};
  for (const double level : {0.0, 0.5, 1.0}) {
    std::vector<float> terms(5), memory(2);
    task->Evaluate(SceneAt(object, level), memory, false, terms);
    const double d_h = std::sqrt(0.5 * 0.5 + 0.1 * 0.1 + 0.2 * 0.2);  // the farther hand point
    const double d_g = std::sqrt(0.1 * 0.1 + 0.1 * 0.1 + 0.45 * 0.45);
    EXPECT_NEAR(terms[0], std::exp(-10 * d_h), 1e-6);
    EXPECT_NEAR(terms[1], 5 * std::exp(-(15 + 5 * level) * d_g), 1e-6);
    EXPECT_NEAR(terms[2], -0.01 * (0.2 * 0.2 + 0.1 * 0.1), 1e-6);
    EXPECT_NEAR(terms[3], 5 * (1 - level) * std::exp(-8.5 * 0.45), 1e-6);
  }
}

TEST_F(GraspTest, GripIsPaidWhileThumbAndAFingerFeelSomething) {
  config_.grasp.weight_grip = 2;
  config_.grasp.grip_n = 0.5;
  const auto task = Make();
  const auto grip = [&](const std::vector<double>& touch) {
    std::vector<float> terms(5), memory(2);
    Scene scene = SceneAt({0, 0, 0.4});
    scene.touch = touch;
    task->Evaluate(scene, memory, false, terms);
    return terms[4];
  };
  EXPECT_NEAR(grip({0, 0.6, 0.5}), 2 * std::exp(-10 * std::sqrt(0.02)), 1e-6) << "the last is the thumb's";
  EXPECT_EQ(grip({0.6, 0.6, 0.4}), 0);
  EXPECT_EQ(grip({0.4, 0.4, 0.6}), 0);
  EXPECT_EQ(grip({}), 0);
}

TEST_F(GraspTest, MetricsTellLiftedAndInRegion) {
  const auto task = Make();
  std::vector<float> metrics(task->Metrics().size());
  task->Measure(SceneAt({-0.5, 0, 0.399}), metrics);
  EXPECT_EQ(metrics[0], 0);
  EXPECT_EQ(metrics[1], 0);
  task->Measure(SceneAt({-0.5, 0, 0.401}), metrics);
  EXPECT_EQ(metrics[0], 1) << "0.15 m above the table";
  EXPECT_NEAR(metrics[2], 0.349, 1e-6);
  task->Measure(SceneAt({-0.5, 0.06, 0.68}), metrics);
  EXPECT_EQ(metrics[1], 1) << "9.2 cm from the goal";
  task->Measure(SceneAt({-0.5, 0.08, 0.68}), metrics);
  EXPECT_EQ(metrics[1], 0) << "10.6 cm from it";
}

TEST_F(GraspTest, LeavingTheReachableAreaEndsTheEpisode) {
  const auto task = Make();
  std::vector<float> terms(5), memory(2);
  const auto ends = [&](Vec3 object) { return task->Evaluate(SceneAt(object), memory, false, terms).terminated; };
  EXPECT_FALSE(ends({-0.55, 0.1, 0.3}));
  EXPECT_FALSE(ends({-0.31, 0.49, 0.21}));
  EXPECT_TRUE(ends({-0.29, 0.1, 0.3}));
  EXPECT_TRUE(ends({-0.81, 0.1, 0.3}));
  EXPECT_TRUE(ends({-0.55, 0.51, 0.3}));
  EXPECT_TRUE(ends({-0.55, -0.31, 0.3}));
  EXPECT_TRUE(ends({-0.55, 0.1, 0.19}));
}

// Outcome after each of the given numbers of steps inside (true) and outside the region.
std::vector<Outcome> Play(const Task& task, const std::vector<bool>& inside, const std::function<Scene(Vec3)>& scene) {
  std::vector<float> terms(5), memory(static_cast<size_t>(task.MemorySize()));
  std::vector<Outcome> outcomes;
  for (const bool in : inside) {
    const Scene now = scene(in ? Vec3{-0.5, 0, 0.75} : Vec3{-0.5, 0, 0.4});
    task.Remember(now, memory);
    outcomes.push_back(task.Evaluate(now, memory, false, terms));
  }
  return outcomes;
}

TEST_F(GraspTest, SuccessNeedsTheHoldTimeWithoutABreak) {
  config_.grasp.hold_s = 3.0 / 60;
  const auto at_end = Make();
  const auto scene = [this](Vec3 object) { return SceneAt(object); };
  const std::vector<bool> path = {true, true, false, true, true, true, false};
  std::vector<bool> success;
  for (const Outcome& outcome : Play(*at_end, path, scene)) success.push_back(outcome.success);
  EXPECT_EQ(success, (std::vector<bool>{false, false, false, false, false, true, false}));
  config_.grasp.success = "ever";
  success.clear();
  for (const Outcome& outcome : Play(*Make(), path, scene)) success.push_back(outcome.success);
  EXPECT_EQ(success, (std::vector<bool>{false, false, false, false, false, true, true}));
}

TEST_F(GraspTest, EpisodesMayEndAfterATimeInTheRegion) {
  config_.grasp.end_after_hold_s = 2.0 / 60;
  const auto outcomes = Play(*Make(), {true, false, true, true}, [this](Vec3 object) { return SceneAt(object); });
  EXPECT_FALSE(outcomes[0].terminated || outcomes[1].terminated || outcomes[2].terminated);
  EXPECT_TRUE(outcomes[3].terminated && outcomes[3].success);
}

TEST_F(GraspTest, SpawnAreaAndTurnGrowWithTheLevel) {
  const auto task = Make();
  const ObjectInfo object{.name = "cube", .half_height_m = 0.03};
  double widest_x = 0, widest_y = 0;
  for (uint32_t i = 0; i < 500; ++i) {
    Rng rng = RandomStream(1, "spawn").At(i, 0);
    const Transform at_start = task->Spawn(object, 0, rng);
    EXPECT_LT(Norm(at_start.pos - Vec3{-0.55, 0.1, 0.5}), 1e-12);
    EXPECT_LT(Norm(RotationVector(at_start.quat)), 1e-12);
    const Transform full = task->Spawn(object, 1, rng);
    widest_x = std::max(widest_x, std::abs(full.pos.x + 0.55));
    widest_y = std::max(widest_y, std::abs(full.pos.y - 0.1));
  }
  EXPECT_LE(widest_x, 0.25);
  EXPECT_GT(widest_x, 0.24);
  EXPECT_LE(widest_y, 0.4);
  EXPECT_GT(widest_y, 0.38);
}

TEST(GraspEnv, StudentHas159NumbersTeacherAndCriticTheObjectsAsWell) {
  TaskConfig task = GraspTask();
  const auto size = [](const std::vector<ObservationField>& fields) {
    return std::accumulate(fields.begin(), fields.end(), 0, [](int sum, const auto& f) { return sum + f.size; });
  };
  const auto student = MakeBatch(task, 1);
  EXPECT_EQ(size(student->ProprioFields()), 159);
  EXPECT_EQ(size(student->StateFields()), 215 + 4) << "four objects, four touch sensors";
  EXPECT_EQ(student->ActionSpec().Elements(), 11u);
  task.grasp.proprio = "teacher";
  EXPECT_EQ(size(MakeBatch(task, 1)->ProprioFields()), 167 + 4);
}

// The declared layout against values known from elsewhere.
TEST(GraspEnv, ObservationsHoldWhatTheirLayoutSays) {
  TaskConfig task = GraspTask();
  task.grasp.proprio = "teacher";
  task.grasp.velocity_inputs = {1, 1};
  task.grasp.observation_clip = 0;
  const auto envs = MakeBatch(task, 3);
  envs->Reset({});
  for (int step = 0; step < 10; ++step) testing::StepRandomly(*envs, 0, step);
  const Record record(*envs);
  const std::vector<float> actions = testing::RandomActions(*envs, 0, 9);
  for (int env = 0; env < 3; ++env) {
    const auto part = [&](const std::string& tensor, const std::string& name) {
      const auto fields = tensor == "state" ? envs->StateFields() : envs->ProprioFields();
      const std::vector<float> row = record.Get<float>(tensor, env);
      size_t at = 0;
      for (const ObservationField& field : fields) {
        const size_t size = static_cast<size_t>(field.size);
        if (field.name == name) return std::vector<float>(row.begin() + at, row.begin() + at + size);
        at += size;
      }
      ADD_FAILURE() << "no " << name;
      return std::vector<float>();
    };
    const std::vector<mjtNum> state = testing::StateOf(*envs, env);  // time, then qpos
    const RobotBinding& robot = envs->Robot();
    for (const char* tensor : {"obs.proprio", "state"}) {
      const auto q = part(tensor, "joint_position");
      for (size_t j = 0; j < 23; ++j) EXPECT_NEAR(q[j], state[1 + robot.qpos[j]], 1e-6);
      const auto object = part(tensor, "object_position"), truth = record.Get<float>("aux.object_position", env);
      for (size_t k = 0; k < 3; ++k) EXPECT_EQ(object[k], truth[k]);
      EXPECT_EQ(part(tensor, "goal"), (std::vector<float>{-0.5f, 0, 0.75f}));
      const auto last = part(tensor, "last_action");
      for (size_t k = 0; k < 11; ++k) EXPECT_EQ(last[k], actions[static_cast<size_t>(env) * 11 + k]);
      const auto one_hot = part(tensor, "object");
      EXPECT_EQ(std::accumulate(one_hot.begin(), one_hot.end(), 0.0f), 1.0f);
      const auto hand = part(tensor, "hand_position");
      std::vector<double> joints(23);
      for (size_t j = 0; j < 23; ++j) joints[j] = state[1 + robot.qpos[j]];
      const Vec3 tip = FramePose(robot.tree, joints, robot.tips[2]).pos;
      EXPECT_LT(Norm(Vec3{hand[9], hand[10], hand[11]} - tip), 1e-6) << "palm, index, middle, ring";
    }
    const auto commanded = part("obs.proprio", "commanded_position");
    const auto q = part("obs.proprio", "joint_position");
    for (size_t j = 0; j < 23; ++j) EXPECT_NEAR(commanded[j], q[j], 0.5) << "the arm follows";
  }
}

TEST(GraspEnv, CriticMayReadATeachersNumbersWithoutTheirNoise) {
  TaskConfig task = GraspTask();
  task.grasp.proprio = task.grasp.state = "teacher";
  task.grasp.observation_clip = 0;
  task.grasp.velocity_inputs = {1, 1};
  const auto exact = MakeBatch(task, 2);
  task.randomise.enabled = true;
  task.curriculum.start = 50;
  const auto noisy = MakeBatch(task, 2);
  for (EnvBatch* envs : {exact.get(), noisy.get()}) {
    envs->Reset({});
    testing::StepRandomly(*envs, 0, 0);
    const Record record(*envs);
    const std::vector<float> seen = record.Get<float>("obs.proprio", 0), state = record.Get<float>("state", 0);
    ASSERT_EQ(seen.size(), state.size());
    EXPECT_EQ(envs->StateFields().size(), envs->ProprioFields().size());
    EXPECT_EQ(seen == state, envs == exact.get());
  }
}

TEST(GraspEnv, VelocityInputsAreZeroByDefault) {
  const auto envs = MakeBatch(GraspTask(), 2);
  envs->Reset({});
  for (int step = 0; step < 5; ++step) testing::StepRandomly(*envs, 0, step);
  const std::vector<float> row = Record(*envs).Get<float>("obs.proprio", 1);
  for (size_t i = 23; i < 46; ++i) EXPECT_EQ(row[i], 0);
  for (size_t i = 61; i < 76; ++i) EXPECT_EQ(row[i], 0);
  for (size_t i = 113; i < 159; ++i) EXPECT_EQ(row[i], 0);
  EXPECT_NE(row[90], 0) << "commanded positions are there";
}

TEST(GraspEnv, SameSeedSameBitsInAnyGroupingWithEverythingRandomised) {
  TaskConfig task = GraspTask();
  task.randomise.enabled = true;
  task.curriculum.start = 50;
  const auto whole = MakeBatch(task, 4, 9, 0, 2);
  const auto first = MakeBatch(task, 1, 9, 0, 1), rest = MakeBatch(task, 3, 9, 1, 2);
  for (EnvBatch* envs : {whole.get(), first.get(), rest.get()}) envs->Reset({});
  for (int step = 0; step < 70; ++step) {  // over two ends of episodes
    testing::StepRandomly(*whole, 0, step);
    testing::StepRandomly(*first, 0, step);
    testing::StepRandomly(*rest, 1, step);
  }
  EXPECT_EQ(Record(*whole).Bytes(0), Record(*first).Bytes(0));
  for (int env = 1; env < 4; ++env) EXPECT_EQ(Record(*whole).Bytes(env), Record(*rest).Bytes(env - 1));
}

TEST(GraspEnv, SavedStateGoesOnBitForBitWithEverythingRandomised) {
  TaskConfig task = GraspTask();
  task.randomise.enabled = true;
  const auto envs = MakeBatch(task, 3);
  envs->SetCurriculumLevel(40);
  envs->Reset({});
  for (int step = 0; step < 17; ++step) testing::StepRandomly(*envs, 0, step);
  envs->SetCurriculumLevel(50);
  std::vector<std::byte> saved(3 * envs->StateBytes());
  for (int env = 0; env < 3; ++env) envs->SaveState(env, saved.data() + env * envs->StateBytes());
  const auto other = MakeBatch(task, 3);
  for (int env = 0; env < 3; ++env) other->LoadState(env, saved.data() + env * envs->StateBytes());
  other->FinishLoad();
  EXPECT_EQ(other->CurriculumLevel(), 50);
  for (int step = 17; step < 60; ++step) {
    testing::StepRandomly(*envs, 0, step);
    testing::StepRandomly(*other, 0, step);
  }
  for (int env = 0; env < 3; ++env) EXPECT_EQ(Record(*envs).Bytes(env), Record(*other).Bytes(env));
}

TEST(GraspEnv, CurlPostureOfAnotherHandIsRefused) {
  TaskConfig task = GraspTask();
  task.grasp.curl = {0, 1, 2};
  EXPECT_THROW(MakeBatch(task, 1), InputError);
}

}  // namespace
}  // namespace gripstream
