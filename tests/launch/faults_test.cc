// Tests launch/supervisor.cc and launch/child.cc: whoever dies is named, and nothing is left behind.
#include <gmock/gmock.h>

#include <set>
#include <tuple>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::HasSubstr;

// Everything under /dev/shm, to see that nothing is left there.
std::set<std::string> SharedMemoryNames() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) names.insert(entry.path().filename());
  return names;
}

class Faults : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  // A run that goes on until somebody ends it.
  std::unique_ptr<Command> StartEndlessRun(std::vector<std::string> more = {}) {
    const auto [transport, mode] = GetParam();
    more.insert(more.end(), {std::string("wire.transport=") + transport, std::string("runtime.mode=") + mode,
                             "policy.inference_chunk=4", "train.iterations=1000000", "train.checkpoint_every=5",
                             "eval.at_start=false"});
    std::vector<std::string> arguments = TinyRun(folder_ / "run", more);
    arguments.insert(arguments.begin(), Program("gripstream"));
    auto run = std::make_unique<Command>(arguments);
    EXPECT_TRUE(WaitForFile(folder_ / "run/checkpoints/iteration_000005.safetensors", 60)) << run->Output();
    return run;
  }

  static bool WaitForFile(const std::string& path, double seconds) {
    const Deadline deadline = Deadline::After(seconds);
    while (!std::filesystem::exists(path)) {
      if (deadline.Passed()) return false;
      usleep(5000);
    }
    return true;
  }

  pid_t PidOf(const std::string& program) {
    for (const pid_t pid : ProcessesNaming(folder_ / "run")) {
      std::error_code error;
      const auto target = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error);
      if (target.filename() == program) return pid;
    }
    return -1;
  }

  void ExpectNothingIsLeft(const std::set<std::string>& shared_memory_before) {
    EXPECT_TRUE(AllGone(folder_ / "run", 5)) << "orphan processes";
    EXPECT_EQ(SharedMemoryNames(), shared_memory_before);
  }

  ScratchFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(OverEachTransportInEachMode, Faults,
                         testing::Combine(testing::Values("shm", "zmq"),
                                          testing::Values("lockstep", "double_buffered", "async")),
                         [](const auto& named) {
                           return std::string(std::get<0>(named.param)) + "_" + std::get<1>(named.param);
                         });

TEST_P(Faults, AKilledSimulatorIsNamedAndTheRunEndsWithOne) {
  const auto before = SharedMemoryNames();
  const auto run = StartEndlessRun({"sim.processes=2", "sim.envs=8", "wire.deadline_s=5"});
  const pid_t simulator = PidOf("gripstream-sim");
  ASSERT_GT(simulator, 0);
  kill(simulator, SIGKILL);
  EXPECT_EQ(run->Wait(15), 1);
  EXPECT_THAT(run->Output(), HasSubstr("(pid " + std::to_string(simulator)));
  EXPECT_THAT(run->Output(), HasSubstr("signal 9"));
  ExpectNothingIsLeft(before);
}

TEST_P(Faults, AStoppedSimulatorIsNamedWithinTheDeadline) {
  const auto before = SharedMemoryNames();
  const auto run = StartEndlessRun({"wire.deadline_s=2", "wire.heartbeat_s=0.5"});
  const pid_t simulator = PidOf("gripstream-sim");
  ASSERT_GT(simulator, 0);
  kill(simulator, SIGSTOP);
  EXPECT_EQ(run->Wait(15), 1);
  EXPECT_THAT(run->Output(), HasSubstr("pid " + std::to_string(simulator)));
  ExpectNothingIsLeft(before);
}

TEST_P(Faults, AKilledLearnerEndsTheRun) {
  const auto before = SharedMemoryNames();
  const auto run = StartEndlessRun();
  kill(PidOf("gripstream-learner"), SIGKILL);
  EXPECT_EQ(run->Wait(15), 1);
  EXPECT_THAT(run->Output(), HasSubstr("the learner ended: signal 9"));
  ExpectNothingIsLeft(before);
}

TEST_P(Faults, AKilledLauncherTakesEveryRoleWithIt) {
  const auto before = SharedMemoryNames();
  const auto run = StartEndlessRun();
  kill(run->Pid(), SIGKILL);
  EXPECT_EQ(run->Wait(5), 128 + SIGKILL);
  ExpectNothingIsLeft(before);
}

TEST_P(Faults, CtrlCEndsWithinFiveSecondsWithACheckpointToResume) {
  const auto before = SharedMemoryNames();
  const auto run = StartEndlessRun();
  kill(-run->Pid(), SIGINT);  // a terminal sends it to the whole group
  EXPECT_EQ(run->Wait(5), 1);
  EXPECT_EQ(ReadJson(folder_ / "run/results.json")["status"], "interrupted");
  ExpectNothingIsLeft(before);
  const int64_t done = ReadJson(folder_ / "run/results.json")["iterations"];
  const Ended resumed =
      RunGripstream({"train", "--resume", folder_ / "run", "--set", "train.iterations=" + std::to_string(done + 1)});
  EXPECT_EQ(resumed.code, 0) << resumed.output;
}

// Over inproc there is no peer that could miss the process.
TEST(SingleProcess, IsNamedByTheLauncherWhenItIsStopped) {
  const ScratchFolder folder;
  std::vector<std::string> arguments = TinyRun(folder / "run", {"wire.transport=inproc", "train.iterations=1000000",
                                                                "wire.deadline_s=2", "wire.heartbeat_s=0.5"});
  arguments.insert(arguments.begin(), Program("gripstream"));
  Command run(arguments);
  ASSERT_TRUE(run.WaitForOutput("before training", 60)) << run.Output();
  pid_t single = -1;
  for (const pid_t pid : ProcessesNaming(folder / "run")) {
    if (pid != run.Pid()) single = pid;
  }
  ASSERT_GT(single, 0);
  kill(single, SIGSTOP);
  EXPECT_EQ(run.Wait(15), 1);
  EXPECT_THAT(run.Output(), HasSubstr("(pid " + std::to_string(single) + ") has been stopped"));
  EXPECT_TRUE(AllGone(folder / "run", 5));
}

TEST(SimulatorProgram, LinksNoLibTorch) {
  Command ldd({"/usr/bin/ldd", Program("gripstream-sim")});
  EXPECT_EQ(ldd.Wait(20), 0);
  EXPECT_THAT(ldd.Output(), HasSubstr("libmujoco"));
  EXPECT_THAT(ldd.Output(), testing::Not(HasSubstr("libtorch")));
  EXPECT_THAT(ldd.Output(), testing::Not(HasSubstr("libc10")));
}

}  // namespace
}  // namespace gripstream
