// Tests launch/main_run.cc and launch/main_sim_robot.cc with the real commands: an exported policy moves a simulated
// robot, and what is wrong is named in one line.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "core/files.h"
#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::HasSubstr;
using testing::Not;

class Robot : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new ScratchFolder;
    const Ended trained = RunGripstream(TinyRun(Path("run"), {}));
    ASSERT_EQ(trained.code, 0) << trained.output;
    const Ended exported = RunGripstream({"export", Path("run"), "-o", Path("policy")});
    ASSERT_EQ(exported.code, 0) << exported.output;
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::string Path(const std::string& name) { return *folder_ / name; }

  // Both ends, eight episodes; the figures.
  static nlohmann::json Play(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"sim_robot", Path("policy"),     "--run", Path("policy"), "--episodes", "8",
                                          "--json",    Path("played.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = RunGripstream(arguments);
    EXPECT_EQ(ended.code, 0) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("ticks with the policy: "));
    EXPECT_THAT(ended.output, HasSubstr("the highest rate it holds: "));
    EXPECT_THAT(ended.output, HasSubstr("95 % interval"));
    return ReadJson(Path("played.json"));
  }
  // A copy of the exported folder.
  static std::string Copy(const std::string& name) {
    std::filesystem::copy(Path("policy"), Path(name), std::filesystem::copy_options::recursive);
    return Path(name);
  }
  static void Replace(const std::string& file, const std::string& what, const std::string& with) {
    std::string text = ReadText(file);
    const size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    std::ofstream(file) << text.replace(at, what.size(), with);
  }
  static void ExpectRefusal(const std::vector<std::string>& arguments, const std::string& expected) {
    const Ended ended = RunGripstream(arguments);
    EXPECT_EQ(ended.code, 2) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(expected));
    EXPECT_EQ(std::count(ended.output.begin(), ended.output.end(), '\n'), 1) << ended.output;
  }

 private:
  static inline ScratchFolder* folder_ = nullptr;
};

TEST_F(Robot, AnExportedPolicyMovesTheSimulatedRobotAndTheSameOptionsGiveTheSameEpisodes) {
  const nlohmann::json played = Play({"--run-set", "log=" + Path("ticks.csv"), "--sheet", Path("sheet.png")});
  EXPECT_EQ(played.value("episodes", 0), 8);
  EXPECT_EQ(played.value("stopped", -1), 0);
  EXPECT_EQ(played.value("ticks", 0), 8 * 30);  // half a second at 60 Hz
  EXPECT_EQ(played.value("frames", 0), 8 * 30);
  EXPECT_TRUE(std::filesystem::exists(Path("sheet.png")));
  const std::string log = ReadText(Path("ticks.csv"));
  EXPECT_GE(std::count(log.begin(), log.end(), '\n'), 8 * 30 + 1);
  EXPECT_THAT(log, HasSubstr(",policy,none,"));
  EXPECT_EQ(Play({}), played);
  EXPECT_EQ(Play({"--shared-memory"}), played);
}

TEST_F(Robot, LostLateAndUnevenFramesAreCountedAndSurvived) {
  const nlohmann::json played = Play({"--frame-loss", "10", "--frame-delay", "30", "--frame-jitter", "10",
                                      "--target-delay", "17", "--camera-hz", "30"});
  EXPECT_GT(played.value("frames_lost", 0), 0);
  EXPECT_EQ(played.value("stopped", -1), 0);
  EXPECT_EQ(Play({"--frame-loss", "10", "--frame-delay", "30", "--frame-jitter", "10", "--target-delay", "17",
                  "--camera-hz", "30"}),
            played);
}

TEST_F(Robot, WithoutACameraEveryEpisodeIsASafeStopThatIsNamed) {
  const Ended ended =
      RunGripstream({"sim_robot", Path("policy"), "--run", Path("policy"), "--episodes", "2", "--frame-loss", "100"});
  EXPECT_EQ(ended.code, 1) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("safe stops in 2 episodes"));
  EXPECT_THAT(ended.output, HasSubstr("stale_camera: 2"));
}

TEST_F(Robot, TheRunnerNeedsNoSimulator) {
  Command ldd({"/usr/bin/ldd", Program("gripstream-run")});
  EXPECT_EQ(ldd.Wait(20), 0);
  EXPECT_THAT(ldd.Output(), HasSubstr("libtorch_cpu"));
  EXPECT_THAT(ldd.Output(), Not(HasSubstr("mujoco")));
}

TEST_F(Robot, ARunnerWithoutARobotAndARobotWithoutARunnerGiveUp) {
  const std::string states = "states=ipc://" + Path("s"), targets = "targets=ipc://" + Path("t");
  const Ended runner =
      RunGripstream({"run", Path("policy"), "--set", states, "--set", targets, "--set", "patience_s=0.5"});
  EXPECT_EQ(runner.code, 1);
  EXPECT_THAT(runner.output, HasSubstr("no joint states came"));
  const Ended robot = RunGripstream({"sim_robot", Path("policy"), "--states", "ipc://" + Path("s"), "--targets",
                                     "ipc://" + Path("t"), "--patience", "0.5"});
  EXPECT_EQ(robot.code, 1);
  EXPECT_THAT(robot.output, HasSubstr("the runner has not answered"));
}

TEST_F(Robot, TheExampleInPythonIsARobot) {
  const std::string python = std::string(GRIPSTREAM_DEPS_DIR) + "/venv/bin/python";
  Command has({python, "-c", "import zmq"});
  if (has.Wait(60) != 0) GTEST_SKIP() << "no pyzmq: tools/setup.sh --tests";
  const std::string states = "ipc://" + Path("ps"), targets = "ipc://" + Path("pt");
  Command robot({python, std::string(GRIPSTREAM_SOURCE_DIR) + "/tools/robot_client.py", Path("policy/manifest.yaml"),
                 "8", states, targets});
  const Ended runner = RunGripstream({"run", Path("policy"), "--set", "states=" + states, "--set", "targets=" + targets,
                                      "--set", "watchdog={joints_s: 5, camera_s: 5, misses: 1000}"});
  EXPECT_EQ(robot.Wait(60), 0) << robot.Output();
  EXPECT_THAT(robot.Output(), HasSubstr("waiting"));
  EXPECT_THAT(robot.Output(), HasSubstr("policy"));
  EXPECT_THAT(robot.Output(), HasSubstr("done"));
  EXPECT_EQ(runner.code, 0) << runner.output;
}

TEST_F(Robot, BadInputIsNamedInOneLine) {
  ExpectRefusal({"run"}, "folder");
  ExpectRefusal({"run", Path("nowhere")}, "nowhere/manifest.yaml");
  ExpectRefusal({"run", Path("policy"), "--set", "watchdog.joint_s=1"}, "watchdog.joint_s");
  ExpectRefusal({"run", Path("policy"), "--set", "limits.velocity=[1, 2]"}, "limits.velocity");
  ExpectRefusal({"run", Path("policy"), "--set", "calibration=" + Path("nowhere.yaml")}, "nowhere.yaml");
  ExpectRefusal({"run", Path("policy"), "--set", "states=tcp://10.0.0.1:7"}, "trusted_network");
  ExpectRefusal({"run", Path("policy"), "--set", "log=/nowhere/log.csv"}, "/nowhere/log.csv");
  ExpectRefusal({"sim_robot"}, "config");
  ExpectRefusal({"sim_robot", Path("nowhere.yaml")}, "nowhere.yaml");
  ExpectRefusal({"sim_robot", Path("policy"), "--frame-loss", "101"}, "--frame-loss");
  ExpectRefusal({"sim_robot", Path("policy"), "--states", "somewhere"}, "somewhere");
}

TEST_F(Robot, AFolderThatWasChangedIsRefused) {
  const std::string joints = Copy("joints");
  Replace(joints + "/manifest.yaml", "arm: 7", "arm: 70");
  ExpectRefusal({"run", joints}, "joints.arm");
  const std::string version = Copy("version");
  Replace(version + "/manifest.yaml", "version: 2", "version: 1");
  ExpectRefusal({"run", version}, "version");
  const std::string policy = Copy("other");
  std::ofstream(policy + "/policy.pt", std::ios::app) << "x";
  ExpectRefusal({"run", policy}, "policy.pt");
}

}  // namespace
}  // namespace gripstream
