// Tests deploy/runner.h: phases, watchdog, limits, with a robot that follows its targets perfectly.
#include "deploy/runner.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "tests/deploy/small_robot.h"

namespace gripstream {
namespace {

using testing::FrameOf;
using ::testing::HasSubstr;
using testing::SmallManifest;
using testing::StatesOf;
using testing::ToldEngine;

constexpr double kDt = 1.0 / 60;

class RunnerTest : public ::testing::Test {
 protected:
  void Make() { runner_ = std::make_unique<Runner>(manifest_, "manifest.yaml", config_, engine_); }
  // One tick with fresh data; the robot then is where it was sent.
  void Tick() {
    now_s_ += kDt;
    ++sequence_;
    if (camera_) {
      const auto frame = FrameOf(4, 3, 500, sequence_, Stamp());
      EXPECT_EQ(runner_->TakeFrame(frame.head, frame.Bytes(), now_s_), "");
    }
    if (joints_) {
      EXPECT_EQ(runner_->TakeJoints(StatesOf(q_, sequence_, run_, Stamp()), now_s_), "");
    }
    runner_->Tick(now_s_);
    const JointTargets& t = runner_->Targets();
    if (t.joints == 0) return;
    std::vector<double> next(t.q, t.q + 3);
    for (size_t j = 0; j < 3; ++j) {
      const double speed = (next[j] - q_[j]) / kDt;
      fastest_ = std::max(fastest_, std::abs(speed));
      hardest_ = std::max(hardest_, std::abs(speed - speed_[j]) / kDt);
      speed_[j] = speed;
    }
    q_ = next;
  }
  void Ticks(int count) {
    for (int k = 0; k < count; ++k) Tick();
  }
  // Until the phase is reached; fails after a minute.
  void Until(RunnerPhase phase) {
    for (int k = 0; runner_->Phase() != phase; ++k) {
      ASSERT_LT(k, 3600) << NameOf(runner_->Phase()) << ": " << runner_->Why();
      Tick();
    }
  }
  int64_t Stamp() const { return static_cast<int64_t>(1e9 * now_s_); }
  void ExpectStop(StopReason reason, const char* why) {
    EXPECT_EQ(runner_->Phase(), RunnerPhase::kStopped);
    EXPECT_STREQ(NameOf(runner_->Stopped()), NameOf(reason));
    EXPECT_EQ(runner_->Targets().stop, static_cast<uint32_t>(reason));
    EXPECT_THAT(runner_->Why(), HasSubstr(why));
  }
  // Everything comes to rest and stays there.
  void ExpectRest() {
    joints_ = camera_ = true;
    Ticks(60);
    const std::vector<double> at = q_;
    Ticks(60);
    EXPECT_EQ(q_, at);
    for (const double speed : speed_) EXPECT_EQ(speed, 0);
  }

  Manifest manifest_ = SmallManifest();
  RunnerConfig config_;
  ToldEngine engine_;
  std::unique_ptr<Runner> runner_;
  std::vector<double> q_ = {0.1, 0.2, 0.3}, speed_ = {0, 0, 0};
  bool joints_ = true, camera_ = true;
  double now_s_ = 100, fastest_ = 0, hardest_ = 0;
  uint32_t sequence_ = 0, run_ = 1;
};

TEST_F(RunnerTest, MovesHomeThenActsByThePolicyForAnEpisodeThenHolds) {
  Make();
  q_ = {-0.9, 1.1, -0.5};
  run_ = 0;
  Ticks(5);
  EXPECT_EQ(runner_->Phase(), RunnerPhase::kWaiting);
  EXPECT_EQ(runner_->Targets().joints, 0u);
  run_ = 1;
  Tick();
  EXPECT_EQ(runner_->Phase(), RunnerPhase::kHome);
  double fastest = 0, hardest = 0;  // on the way
  for (; runner_->Phase() == RunnerPhase::kHome; Tick()) fastest = fastest_, hardest = hardest_;
  EXPECT_EQ(runner_->Phase(), RunnerPhase::kPolicy);
  EXPECT_NEAR(fastest, config_.home.speed, 1e-9);
  EXPECT_LE(hardest, config_.home.acceleration + 1e-6);
  EXPECT_EQ(engine_.runs, 1);
  Ticks(59);
  EXPECT_EQ(runner_->Phase(), RunnerPhase::kPolicy);
  EXPECT_EQ(engine_.runs, 10);  // 10 Hz
  Tick();
  EXPECT_EQ(runner_->Phase(), RunnerPhase::kDone);
  EXPECT_EQ(engine_.runs, 10);
  ExpectRest();
  run_ = 2;
  Until(RunnerPhase::kPolicy);
}

TEST_F(RunnerTest, ThePolicyIsToldWhatTheRobotSensesAndItsActionsReachTheJoints) {
  Make();
  engine_.action = {0.25f, -0.5f, 3.0f};
  Tick();
  ASSERT_EQ(runner_->Phase(), RunnerPhase::kPolicy);
  const double shoulder = 0.1, both = 0.1 + 0.2;
  EXPECT_EQ(engine_.depth, std::vector<float>(12, 0.5f));
  ASSERT_EQ(engine_.proprio.size(), 10u);
  EXPECT_EQ(engine_.proprio[2], 0.3f);
  EXPECT_NEAR(engine_.proprio[3], 0.5 * std::cos(shoulder) + 0.3 * std::cos(both), 1e-6);
  EXPECT_EQ(engine_.proprio[6], 0);
  EXPECT_EQ(engine_.proprio[9], 1);
  Ticks(12);
  EXPECT_EQ(engine_.proprio[6], 0.25f);
  EXPECT_EQ(engine_.proprio[8], 1);  // clamped
  EXPECT_NEAR(engine_.proprio[9], 0.8, 1e-6);
  Ticks(20);
  EXPECT_NEAR(q_[0], 0.5, 1e-3);  // -2 .. 2
  EXPECT_NEAR(q_[1], -1.0, 1e-3);
  EXPECT_NEAR(q_[2], 1.0, 1e-3);
  EXPECT_NEAR(runner_->Targets().object[1], 2, 1e-6);
}

TEST_F(RunnerTest, TargetsStayWithinTheOperatorsLimitsWhateverThePolicyWants) {
  config_.limits.velocity = {1, 2, 0.5};
  config_.limits.acceleration = {8};
  Make();
  int k = 0;
  engine_.run = [&](const PolicyInput&, PolicyOutput& output) {
    const float side = ++k % 3 == 0 ? -1.0f : 1.0f;
    output.action = {side, -side, side};
    output.aux = {0, 0, 0};
  };
  for (run_ = 1; run_ < 10; ++run_) Ticks(90);
  EXPECT_LE(fastest_, 2 + 1e-9);
  EXPECT_LE(hardest_, 10 + 1e-6);  // the stop's
}

TEST_F(RunnerTest, StaleJointStatesStopTheRobot) {
  Make();
  engine_.action = {0.1f, 0.2f, 0.4f};
  Ticks(10);
  joints_ = false;
  Ticks(6);
  EXPECT_EQ(runner_->Phase(), RunnerPhase::kPolicy);
  Ticks(1);
  ExpectStop(StopReason::kStaleJoints, "joint states are 0.1");
  ExpectRest();
}

TEST_F(RunnerTest, StaleFramesStopThePolicyByWhenTheyWereTakenNotByWhenTheyCame) {
  Make();
  Ticks(10);
  camera_ = false;
  // Frames keep coming, but what they show is old.
  const auto old = FrameOf(4, 3, 500, 7, Stamp());
  for (int k = 0; k < 15; ++k) {
    runner_->TakeFrame(old.head, old.Bytes(), now_s_);
    Tick();
  }
  EXPECT_EQ(runner_->Phase(), RunnerPhase::kPolicy);
  Tick();
  ExpectStop(StopReason::kStaleCamera, "camera depth is 0.26");
  ExpectRest();
}

TEST_F(RunnerTest, WithoutAnyFrameThePolicyDoesNotBegin) {
  Make();
  camera_ = false;
  Ticks(15);
  EXPECT_EQ(runner_->Phase(), RunnerPhase::kHome);  // waits for one
  Ticks(2);
  ExpectStop(StopReason::kStaleCamera, "no frame");
  EXPECT_EQ(engine_.runs, 0);
  run_ = 2;
  Ticks(3);
  camera_ = true;
  Tick();
  EXPECT_EQ(runner_->Phase(), RunnerPhase::kPolicy);
}

TEST_F(RunnerTest, NumbersThatAreNoneStopTheRobotWhereverTheyComeFrom) {
  for (const int from : {0, 1, 2}) {
    engine_.action = {0, 0, 0};
    engine_.aux = {1, 2, 0.3f};
    Make();
    q_ = {0.1, 0.2, 0.3};
    Ticks(3);
    const std::vector<double> before = q_;
    const double nan = std::nan("");
    if (from == 0) q_[1] = nan;
    if (from == 1) engine_.action[2] = std::numeric_limits<float>::infinity();
    if (from == 2) engine_.aux[0] = static_cast<float>(nan);
    Ticks(from == 0 ? 1 : 6);
    ExpectStop(StopReason::kBadNumber, from == 0 ? "joint elbow" : "policy's output");
    for (int j = 0; j < 3; ++j) EXPECT_TRUE(std::isfinite(runner_->Targets().q[j]));
    if (from == 0) q_ = before;
    ExpectRest();
    run_ = 1;
  }
}

TEST_F(RunnerTest, JointsBeyondTheirLimitsOrFarFromTheirTargetsStopTheRobot) {
  Make();
  Tick();
  q_[2] = 1.11;
  Tick();
  ExpectStop(StopReason::kOutOfLimits, "joint finger");
  q_ = {0.1, 0.2, 0.3};
  run_ = 2;
  Tick();
  EXPECT_EQ(runner_->Phase(), RunnerPhase::kPolicy);
  EXPECT_EQ(runner_->Stopped(), StopReason::kNone);
  q_[0] += 0.6;
  Tick();
  ExpectStop(StopReason::kNotFollowing, "joint shoulder");
}

TEST_F(RunnerTest, AStopFromOutsideDeceleratesWithinTheStopsAccelerationAndKeepsItsFirstReason) {
  config_.limits.velocity = {2};  // standing again long before any limit
  Make();
  engine_.action = {1, -1, 1};
  Ticks(8);
  hardest_ = 0;
  runner_->Stop(StopReason::kLostConnection, "the connection to the robot was lost");
  runner_->Stop(StopReason::kMissedDeadline, "late");
  Tick();
  ExpectStop(StopReason::kLostConnection, "lost");
  Ticks(100);
  EXPECT_LE(hardest_, config_.limits.stop_acceleration + 1e-6);
  for (const double speed : speed_) EXPECT_EQ(speed, 0);
}

TEST_F(RunnerTest, AGraspedObjectIsCarriedToThePlaceAndLetGo) {
  config_.place.above_z_m = 0.45;
  config_.place.palm = {0.5, 0.5, 0, 1.426, 0, 0};  // within reach of two joints
  config_.place.open_hand = {-0.8};
  Make();
  engine_.action = {0, 0, 1};
  Ticks(13);
  engine_.aux[2] = 0.5f;
  Ticks(6);  // seen high once: not yet
  EXPECT_EQ(runner_->Phase(), RunnerPhase::kPolicy);
  Until(RunnerPhase::kGrasped);
  const double closed = q_[2];
  EXPECT_GT(closed, 0.5);
  Until(RunnerPhase::kPlace);
  const int runs = engine_.runs;
  Ticks(30);
  EXPECT_GE(q_[2], closed - 1e-6);  // held on the way
  Until(RunnerPhase::kDone);
  EXPECT_EQ(engine_.runs, runs);
  const RobotModel robot = testing::SmallRobot();
  EXPECT_LT(Norm(FramePose(robot.tree, q_, robot.palm).pos - Vec3{0.5, 0.5, 0}), 0.03);
  EXPECT_LT(q_[2], closed - 0.3);  // opens
}

TEST_F(RunnerTest, MessagesThatDoNotFitAreNamedAndIgnored) {
  Make();
  EXPECT_THAT(runner_->TakeJoints(StatesOf({1, 2}, 1, 1), 0), HasSubstr("2 joints, expected 3"));
  JointStates states = StatesOf({0, 0, 0}, 1, 1);
  states.head.version = 9;
  EXPECT_THAT(runner_->TakeJoints(states, 0), HasSubstr("version 9"));
  EXPECT_FALSE(runner_->HasJoints());
  auto frame = FrameOf(4, 3, 1);
  std::strcpy(frame.head.camera, "left");
  EXPECT_THAT(runner_->TakeFrame(frame.head, frame.Bytes(), 0), HasSubstr("'left'"));
  frame = FrameOf(8, 3, 1);
  EXPECT_THAT(runner_->TakeFrame(frame.head, frame.Bytes(), 0), HasSubstr("8 x 3"));
}

TEST_F(RunnerTest, AFrameThatWasOvertakenIsNotTaken) {
  Make();
  const auto young = FrameOf(4, 3, 500, 2, 2000), old = FrameOf(4, 3, 100, 1, 1000);
  runner_->TakeFrame(young.head, young.Bytes(), 100);
  runner_->TakeFrame(old.head, old.Bytes(), 100);
  runner_->TakeJoints(StatesOf({0.1, 0.2, 0.3}, 1, 1, 3000), 100);
  runner_->Tick(100);
  EXPECT_EQ(engine_.depth.front(), 0.5f);
}

TEST_F(RunnerTest, AConfigurationThatDoesNotFitThePolicyIsRefused) {
  config_.place.above_z_m = 0.4;
  manifest_.policy.aux = 0;
  EXPECT_THROW(Make(), InputError);
  config_ = {};
  config_.limits.velocity = {1, 2};
  EXPECT_THROW(Make(), InputError);
  config_ = {};
  config_.place.open_hand = {1, 2};
  EXPECT_THROW(Make(), InputError);
  config_ = {};
  manifest_.policy.inputs = {"state"};
  EXPECT_THROW(Make(), InputError);
  manifest_ = SmallManifest();
  manifest_.policy.actions = 2;
  manifest_.proprio.sizes[2] = 2;
  EXPECT_THROW(Make(), InputError);
}

}  // namespace
}  // namespace gripstream
