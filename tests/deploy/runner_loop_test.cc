// Tests deploy/runner_loop.h and deploy/robot_link.h with both ends of the interface in one process.
#include "deploy/runner_loop.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/error.h"
#include "tests/deploy/small_robot.h"

namespace gripstream {
namespace {

using testing::FrameOf;
using ::testing::HasSubstr;
using testing::SmallManifest;
using testing::StatesOf;
using testing::ToldEngine;

constexpr double kPatience_s = 20;

class RunnerLoopTest : public ::testing::TestWithParam<const char*> {
 protected:
  RunnerLoopTest() {
    std::string name = (std::filesystem::temp_directory_path() / "gripstream_link_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    const std::string kind = GetParam();
    config_.states = kind + folder_ + "/states";
    config_.targets = kind + folder_ + (kind == "shm:" ? "/states" : "/targets");
    config_.patience_s = kPatience_s;
    config_.log = folder_ + "/log.csv";
  }
  ~RunnerLoopTest() override {
    if (thread_.joinable()) thread_.join();
    std::filesystem::remove_all(folder_);
  }

  void StartRunner(const Manifest& manifest = SmallManifest()) {
    runner_ = std::make_unique<Runner>(manifest, "manifest.yaml", config_, engine_);
    thread_ = std::thread([this] {
      TickLog log(config_.log, {"shoulder", "elbow", "finger"}, 3);
      const auto link = RunnerLink({config_.states, config_.targets, ""});
      try {
        ServeRobot(*runner_, *link, config_, log);
      } catch (const RunError& error) {
        failure_ = error.what();
      }
      ended_ = true;
    });
  }
  void OpenRobot() { robot_ = RobotsOwnLink({config_.states, config_.targets, ""}); }
  void Publish(uint32_t run, uint32_t flags = 0) {
    ++sequence_;
    const int64_t stamp_ns = 1 + static_cast<int64_t>(sequence_) * 16666667;
    const auto frame = FrameOf(4, 3, 500, sequence_, stamp_ns);
    robot_->Send(std::as_bytes(std::span(&frame.head, 1)), frame.Bytes());
    JointStates states = StatesOf({0.1, 0.2, 0.3}, sequence_, run, stamp_ns);
    states.flags = flags;
    robot_->Send(states);
  }
  // The next targets, if any come in time.
  bool Targets(double seconds, JointTargets& targets) {
    std::vector<std::byte> message;
    return robot_->Receive(Deadline::After(seconds), message) && ReadMessage(message, kJointTargetsKind, targets);
  }
  // Publishes at about the control rate until targets tell `phase`.
  JointTargets PublishUntil(RunnerPhase phase, uint32_t run, bool states = true) {
    JointTargets targets{};
    for (const Deadline deadline = Deadline::After(kPatience_s); !deadline.Passed();) {
      if (states) Publish(run);
      if (Targets(0.02, targets) && targets.phase == static_cast<uint32_t>(phase)) return targets;
    }
    ADD_FAILURE() << "never in phase " << NameOf(phase);
    return targets;
  }
  void SayGoodbye() {
    for (const Deadline deadline = Deadline::After(kPatience_s); !ended_ && !deadline.Passed();) {
      Publish(1, kGoodbye);
      JointTargets ignored;
      Targets(0.02, ignored);
    }
    thread_.join();
  }

  std::string folder_, failure_;
  RunnerConfig config_;
  ToldEngine engine_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<RobotLink> robot_;
  std::thread thread_;
  std::atomic<bool> ended_ = false;
  uint32_t sequence_ = 0;
};

TEST_P(RunnerLoopTest, InLockStepEveryStateIsAnsweredOnceAndInOrder) {
  config_.clock = "lockstep";
  StartRunner();
  OpenRobot();
  JointTargets targets{};
  while (targets.answers == 0) {  // until the sockets have met
    Publish(0);
    Targets(0.05, targets);
  }
  while (Targets(0.05, targets)) {
  }
  for (int k = 0; k < 100; ++k) {
    Publish(1);
    ASSERT_TRUE(Targets(kPatience_s, targets));
    ASSERT_EQ(targets.answers, sequence_);
    ASSERT_EQ(targets.head.run, 1u);
  }
  EXPECT_EQ(engine_.runs, 10);
  SayGoodbye();
  EXPECT_EQ(failure_, "");
  // The log has a line per tick that its header names.
  std::ifstream log(config_.log);
  std::string header, line;
  std::getline(log, header);
  EXPECT_THAT(header, HasSubstr("joints_age_s"));
  int lines = 0, decided = 0;
  while (std::getline(log, line)) {
    EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(header, ','));
    decided += line.find(",policy,") != std::string::npos;
    ++lines;
  }
  EXPECT_GE(lines, 101);
  EXPECT_EQ(decided, 60);
}

TEST_P(RunnerLoopTest, InRealTimeARobotThatFallsSilentIsStoppedAndOneThatReturnsGoesOnWithANewRun) {
  config_.watchdog.misses = 1000;  // a loaded machine is no fault here
  config_.watchdog.joints_s = 0.5;
  config_.watchdog.camera_s = 5;
  config_.policy_s = 1000;
  StartRunner();
  OpenRobot();
  PublishUntil(RunnerPhase::kPolicy, 1);
  const JointTargets stopped = PublishUntil(RunnerPhase::kStopped, 1, false);
  EXPECT_EQ(stopped.stop, static_cast<uint32_t>(StopReason::kStaleJoints));
  PublishUntil(RunnerPhase::kPolicy, 2);
  SayGoodbye();
  EXPECT_EQ(failure_, "");
}

TEST_P(RunnerLoopTest, InRealTimeALostConnectionStopsTheRobot) {
  config_.watchdog.misses = 1000;
  config_.watchdog.joints_s = config_.watchdog.camera_s = 50;
  config_.policy_s = 1000;
  StartRunner();
  OpenRobot();
  PublishUntil(RunnerPhase::kPolicy, 1);
  robot_.reset();
  OpenRobot();
  const JointTargets stopped = PublishUntil(RunnerPhase::kStopped, 1);
  EXPECT_EQ(stopped.stop, static_cast<uint32_t>(StopReason::kLostConnection));
  SayGoodbye();
}

TEST_P(RunnerLoopTest, InRealTimeTicksThatTakeTooLongStopTheRobot) {
  config_.watchdog.joints_s = config_.watchdog.camera_s = 50;
  config_.policy_s = 1000;
  engine_.run = [](const PolicyInput&, PolicyOutput& output) {
    output.action = {0, 0, 0};
    output.aux = {0, 0, 0};
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
  };
  Manifest manifest = SmallManifest();
  manifest.control.policy_hz = 60;
  StartRunner(manifest);
  OpenRobot();
  const JointTargets stopped = PublishUntil(RunnerPhase::kStopped, 1);
  EXPECT_EQ(stopped.stop, static_cast<uint32_t>(StopReason::kMissedDeadline));
  SayGoodbye();
}

TEST_P(RunnerLoopTest, WithoutARobotTheRunnerGivesUp) {
  config_.patience_s = 0.3;
  StartRunner();
  thread_.join();
  EXPECT_THAT(failure_, HasSubstr("no joint states came from " + config_.states));
}

TEST_P(RunnerLoopTest, InLockStepARobotThatFallsSilentEndsTheRunner) {
  config_.clock = "lockstep";
  config_.patience_s = 1;
  StartRunner();
  OpenRobot();
  JointTargets targets{};
  while (targets.answers == 0) {
    Publish(1);
    Targets(0.05, targets);
  }
  robot_.reset();
  thread_.join();
  EXPECT_EQ(runner_->Stopped(), StopReason::kLostConnection);
}

INSTANTIATE_TEST_SUITE_P(Links, RunnerLoopTest, ::testing::Values("ipc://", "shm:"),
                         [](const auto& kind) { return std::string(kind.param) == "shm:" ? "shared_memory" : "zmq"; });

TEST(RobotLink, AddressesBeyondThisMachineNeedATrustedNetwork) {
  const std::string here = "tcp://127.0.0.1:0";
  EXPECT_THROW(RunnerLink({"tcp://10.1.2.3:7411", here, ""}), InputError);
  EXPECT_THROW(RunnerLink({"tcp://10.1.2.3:7411", here, "10.2.0.0/16"}), InputError);
  EXPECT_THROW(RunnerLink({"nonsense", here, ""}), InputError);
  EXPECT_THROW(RunnerLink({"tcp://robot:7411", here, ""}), InputError);
  EXPECT_NO_THROW(CheckAddresses({"tcp://10.1.2.3:7411", "tcp://10.1.2.3:7412", "10.1.0.0/16"}));
  EXPECT_THROW(RobotsOwnLink({"shm:/nowhere/at/all", "shm:/nowhere/at/all", ""}), InputError);
  EXPECT_THROW(RunnerLink({"shm:/tmp/one", "shm:/tmp/two", ""}), InputError);
  EXPECT_THROW(RunnerLink({"shm:/tmp/one", here, ""}), InputError);
  EXPECT_THROW(RobotsOwnLink({"ipc:///nowhere/at/all", "ipc:///nowhere/else", ""}), InputError);
}

}  // namespace
}  // namespace gripstream
