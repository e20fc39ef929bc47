// Tests launch/supervisor.cc and launch/roles.cc with runtime.on_loss replace: runs go on, and who is lost comes back.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Case {
  const char* transport;
  const char* mode;
};

std::string TextOf(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One column of RUN/metrics.csv, by iteration.
std::vector<double> Column(const std::string& run_dir, const std::string& name) {
  std::istringstream rows(TextOf(run_dir + "/metrics.csv"));
  std::string line, cell;
  std::getline(rows, line);
  std::istringstream header(line);
  size_t column = 0, at = 0;
  for (; std::getline(header, cell, ',') && cell != name; ++column) {
  }
  std::vector<double> values;
  for (; std::getline(rows, line); at = 0) {
    std::istringstream row(line);
    while (std::getline(row, cell, ',') && at++ < column) {
    }
    values.push_back(std::atof(cell.c_str()));
  }
  return values;
}

class Losses : public testing::TestWithParam<Case> {
 protected:
  std::vector<std::string> Settings(std::vector<std::string> more) {
    more.insert(more.begin(),
                {std::string("wire.transport=") + GetParam().transport, std::string("runtime.mode=") + GetParam().mode,
                 "runtime.on_loss=replace", "sim.processes=2", "sim.envs=8", "policy.inference_chunk=4",
                 "train.checkpoint_every=5", "train.iterations=1000000", "eval.at_start=false", "wire.deadline_s=2",
                 "wire.heartbeat_s=0.5"});
    return more;
  }
  std::unique_ptr<Command> Start(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = TinyRun(Run(), Settings(more));
    arguments.insert(arguments.begin(), Program("gripstream"));
    auto run = std::make_unique<Command>(arguments);
    EXPECT_TRUE(Await([&] { return std::filesystem::exists(Run() + "/checkpoints/iteration_000005.safetensors"); }))
        << run->Output();
    return run;
  }
  std::string Run() const { return folder_ / "run"; }

  template <class Condition>
  static bool Await(Condition condition, double seconds = 60) {
    for (const Deadline deadline = Deadline::After(seconds); !condition(); usleep(5000)) {
      if (deadline.Passed()) return false;
    }
    return true;
  }
  bool LearnerSays(const std::string& text) {
    return Await([&] { return TextOf(Run() + "/logs/learner.log").find(text) != std::string::npos; });
  }
  bool LearnerSaysTimes(const std::string& text, int times) {
    return Await([&] {
      const std::string log = TextOf(Run() + "/logs/learner.log");
      int count = 0;
      for (size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++count;
      return count >= times;
    });
  }

  // The role's processes, oldest first, whose command line holds `argument`.
  std::vector<pid_t> PidsOf(const std::string& program, const std::string& argument = "") {
    std::vector<pid_t> found;
    for (const pid_t pid : ProcessesNaming(Run())) {
      std::error_code error;
      const std::string proc = "/proc/" + std::to_string(pid);
      std::string line = TextOf(proc + "/cmdline");
      std::replace(line.begin(), line.end(), '\0', ' ');
      if (std::filesystem::read_symlink(proc + "/exe", error).filename() != program) continue;
      if (line.find(argument) != std::string::npos) found.push_back(pid);
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  pid_t Simulator(int index) {
    const auto pids = PidsOf("gripstream-sim", "--index " + std::to_string(index));
    EXPECT_EQ(pids.size(), 1u);
    return pids.empty() ? -1 : pids.front();
  }

  // Ctrl-C ends the run within 5 s, and the results say that it was the reason.
  nlohmann::json EndByCtrlC(Command& run) {
    kill(-run.Pid(), SIGINT);
    EXPECT_EQ(run.Wait(5), 1) << run.Output();
    const nlohmann::json results = ReadJson(Run() + "/results.json");
    EXPECT_EQ(results["status"], "interrupted") << run.Output();
    EXPECT_TRUE(AllGone(Run(), 5)) << "orphan processes";
    return results;
  }

  ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Each, Losses,
                         testing::Values(Case{"shm", "lockstep"}, Case{"zmq", "double_buffered"}, Case{"shm", "async"}),
                         [](const auto& named) { return std::string(named.param.transport) + "_" + named.param.mode; });

// What does not depend on the mode.
class OneLoss : public Losses {};
INSTANTIATE_TEST_SUITE_P(Once, OneLoss, testing::Values(Case{"shm", "lockstep"}),
                         [](const auto&) { return "lockstep"; });

constexpr char kReplaced[] = "has taken the place of a lost one";

TEST_P(Losses, AKilledSimulatorIsStartedAgainAndTheRunGoesOnMeanwhile) {
  const auto run = Start();
  const pid_t lost = Simulator(1);
  kill(lost, SIGKILL);
  ASSERT_TRUE(Await([&] { return Column(Run(), "lost/replaced").back() == 1; }));
  const nlohmann::json results = EndByCtrlC(*run);
  EXPECT_EQ(results["lost_simulators"], 1);
  EXPECT_EQ(results["replacements"], 1);
  // Whole steps of eight environments.
  EXPECT_GT(results["lost_samples"], 0);
  EXPECT_EQ(results["lost_samples"].get<int64_t>() % 4, 0);
  EXPECT_THAT(run->Output(), HasSubstr("simulator 1 (pid " + std::to_string(lost) + ") ended: signal 9"));
  EXPECT_EQ(Column(Run(), "lost/simulators").back(), 1);
  EXPECT_THAT(TextOf(Run() + "/logs/learner.log"), HasSubstr(kReplaced));
  EXPECT_GT(Column(Run(), "lost/absent_s").back(), 0);
  EXPECT_GT(Column(Run(), "ppo/used_samples").back(), 0);
}

TEST_P(Losses, ARunThatLostASimulatorReachesItsLastIteration) {
  const auto run = Start({"train.iterations=60"});
  kill(Simulator(0), SIGKILL);
  EXPECT_EQ(run->Wait(60), 0);
  const nlohmann::json results = ReadJson(Run() + "/results.json");
  EXPECT_EQ(results["status"], "completed");
  EXPECT_EQ(results["iterations"], 60);
  EXPECT_EQ(results["episodes"], 16);
  EXPECT_EQ(results["lost_simulators"], 1);
}

TEST_P(OneLoss, AStoppedSimulatorIsReplaced) {
  const auto run = Start();
  kill(Simulator(0), SIGSTOP);
  ASSERT_TRUE(LearnerSays(kReplaced));
  EXPECT_EQ(EndByCtrlC(*run)["replacements"], 1);
  EXPECT_THAT(run->Output(), HasSubstr("has been stopped for"));
}

TEST_P(Losses, ASpareTakesOverAndTheNextOneIsStarted) {
  const auto run = Start({"sim.spares=1"});
  ASSERT_TRUE(LearnerSays("waits as a spare"));
  const pid_t spare = PidsOf("gripstream-sim", "--learner 0").at(0);
  kill(Simulator(1), SIGKILL);
  ASSERT_TRUE(LearnerSays("simulator 'spare' (pid " + std::to_string(spare)));
  ASSERT_TRUE(LearnerSays(kReplaced));
  ASSERT_TRUE(LearnerSaysTimes("waits as a spare", 2));
  // One step, and the newcomer's first record, of eight environments.
  EXPECT_LE(EndByCtrlC(*run)["lost_samples"], GetParam().mode == std::string("async") ? 8 * 4 : 16);
}

TEST_P(OneLoss, WhoKeepsDyingIsGivenUpAndNamed) {
  const auto run = Start({"runtime.respawns=2"});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Await([&] { return PidsOf("gripstream-sim", "--index 1").size() == 1; }));
    const pid_t pid = Simulator(1);
    ASSERT_TRUE(LearnerSaysTimes(kReplaced, i));
    kill(pid, SIGKILL);
    ASSERT_TRUE(Await([&] {
      const auto pids = PidsOf("gripstream-sim", "--index 1");
      return pids.empty() || pids.front() != pid;
    }));
  }
  EXPECT_EQ(run->Wait(15), 1);
  EXPECT_THAT(run->Output(), HasSubstr("it was started again 2 times within an hour already (runtime.respawns)"));
  EXPECT_EQ(ReadJson(Run() + "/results.json")["status"], "interrupted");
  EXPECT_TRUE(AllGone(Run(), 5));
}

TEST_P(Losses, CtrlCEndsARunThatWaitsForReplacements) {
  const auto run = Start({"runtime.respawns=0"});
  for (const int index : {0, 1}) kill(Simulator(index), SIGKILL);
  ASSERT_TRUE(run->WaitForOutput("simulator 1 (pid", 10));
  usleep(300000);
  const nlohmann::json results = EndByCtrlC(*run);
  EXPECT_EQ(results["lost_simulators"], 2);
  EXPECT_EQ(results["replacements"], 0);
}

TEST_P(Losses, CtrlCEndsARunWithAStoppedSimulatorWithACheckpointToGoOnFrom) {
  const auto run = Start({"wire.deadline_s=60"});
  kill(Simulator(0), SIGSTOP);
  usleep(300000);
  const int64_t done = EndByCtrlC(*run)["iterations"];
  // Of the stopped one nothing is known: its environments begin new episodes.
  const Ended resumed =
      RunGripstream({"train", "--resume", Run(), "--set", "train.iterations=" + std::to_string(done + 3)});
  EXPECT_EQ(resumed.code, 0) << resumed.output;
  if (done % 5 == 0) return;  // the last checkpoint is from before
  EXPECT_THAT(TextOf(Run() + "/logs/learner.log"), HasSubstr("8 environments begin new episodes"));
}

TEST_P(OneLoss, SimulatorsStartedByHandTakeALostOnesPlace) {
  const auto run = Start({"runtime.respawns=0"});
  kill(Simulator(1), SIGKILL);
  ASSERT_TRUE(run->WaitForOutput("simulator 1 (pid", 10));
  Command by_hand({Program("gripstream"), "sim_server", Run(), "--index", "1"});
  ASSERT_TRUE(LearnerSays(kReplaced));
  EXPECT_EQ(EndByCtrlC(*run)["replacements"], 1);
  EXPECT_EQ(by_hand.Wait(5), 0);
}

TEST_P(OneLoss, WithoutAReplacementInTimeTheRunEndsAndSaysWhoIsMissing) {
  const auto run = Start({"runtime.respawns=0", "runtime.replace_within_s=0.5"});
  kill(Simulator(1), SIGKILL);
  EXPECT_EQ(run->Wait(20), 1);
  EXPECT_THAT(run->Output(), HasSubstr("runtime.replace_within_s"));
  EXPECT_THAT(run->Output(), HasSubstr("environments [8, 16)"));
  EXPECT_TRUE(AllGone(Run(), 5));
}

// The same bits as if nothing had happened: the restarted learner goes on from its checkpoint, and gives the waiting
// simulators the environments that were in it.
TEST_P(Losses, AKilledLearnerGoesOnFromItsCheckpointToTheSameResult) {
  const std::vector<std::string> length = {"train.iterations=60"};
  const Ended undisturbed = RunGripstream(TinyRun(folder_ / "undisturbed", Settings(length)));
  ASSERT_EQ(undisturbed.code, 0) << undisturbed.output;
  const auto run = Start(length);
  const std::vector<pid_t> simulators = PidsOf("gripstream-sim");
  kill(PidsOf("gripstream-learner").at(0), SIGKILL);
  EXPECT_EQ(run->Wait(60), 0);
  EXPECT_THAT(run->Output(), HasSubstr("the learner ended: signal 9"));
  EXPECT_THAT(run->Output(), HasSubstr("going on from iteration_0000"));
  EXPECT_THAT(run->Output(), Not(HasSubstr("simulator 0 (pid")));  // they have waited
  const nlohmann::json results = ReadJson(Run() + "/results.json");
  EXPECT_EQ(results["iterations"], 60);
  EXPECT_EQ(results["lost_simulators"], 0);
  EXPECT_EQ(Column(Run(), "run/env_steps").size(), 60u);
  EXPECT_EQ(results["parameters_sha256"], ReadJson(folder_ / "undisturbed/results.json")["parameters_sha256"]);
}

TEST_P(OneLoss, AStoppedLearnerIsStartedAgain) {
  const auto run = Start({"train.iterations=60"});
  kill(PidsOf("gripstream-learner").at(0), SIGSTOP);
  EXPECT_EQ(run->Wait(60), 0);
  EXPECT_EQ(ReadJson(Run() + "/results.json")["iterations"], 60);
}

// Every deadline is of a clock that only goes forward: a training under a wall clock that jumps by hours is as ever,
// and a loss in it is found in time.
TEST(JumpingClock, ChangesNothing) {
  const ScratchFolder folder;
  const std::vector<std::string> settings = {"train.iterations=3",    "sim.processes=2",         "sim.envs=8",
                                             "runtime.mode=lockstep", "runtime.on_loss=replace", "wire.deadline_s=5"};
  const Ended plain = RunGripstream(TinyRun(folder / "plain", settings));
  ASSERT_EQ(plain.code, 0) << plain.output;
  std::vector<std::string> arguments = TinyRun(folder / "jumping", settings);
  arguments.insert(arguments.begin(),
                   {"/usr/bin/env", std::string("LD_PRELOAD=") + GRIPSTREAM_JUMPING_CLOCK, Program("gripstream")});
  Command jumping(arguments);
  EXPECT_EQ(jumping.Wait(60), 0) << jumping.Output();
  const nlohmann::json results = ReadJson(folder / "jumping/results.json");
  EXPECT_EQ(results["lost_simulators"], 0);
  EXPECT_LT(results["wall_s"], 60);
  EXPECT_GE(results["wall_s"], 0);
  EXPECT_EQ(results["parameters_sha256"], ReadJson(folder / "plain/results.json")["parameters_sha256"]);
}

// Roles that nobody supervises: the learner is killed and started again by hand, the simulators wait for it.
TEST(RolesByHand, SimulatorsWaitForTheNextLearner) {
  const ScratchFolder folder;
  const std::string run = folder / "run";
  std::vector<std::string> more = {"--set", "run.dir=" + run,      "--set", "runtime.on_loss=replace",
                                   "--set", "train.iterations=30", "--set", "train.checkpoint_every=5",
                                   "--set", "eval.at_start=false"};
  const auto role = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("gripstream"));
    arguments.push_back(std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/tiny.yaml");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<Command>(arguments);
  };
  const auto first = role({"learner"});
  const auto simulator = role({"sim_server", "--index", "0"});
  const Deadline deadline = Deadline::After(60);
  while (!std::filesystem::exists(run + "/checkpoints/iteration_000005.safetensors") && !deadline.Passed())
    usleep(2000);
  kill(first->Pid(), SIGKILL);
  EXPECT_EQ(first->Wait(5), 128 + SIGKILL);
  const auto second = role({"learner", "--resume", run + "/checkpoints/iteration_000005.safetensors"});
  EXPECT_EQ(second->Wait(60), 0) << second->Output();
  EXPECT_EQ(simulator->Wait(5), 0);
  EXPECT_EQ(ReadJson(run + "/results.json")["iterations"], 30);
}

}  // namespace
}  // namespace gripstream
