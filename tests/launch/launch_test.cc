// Tests launch/command_launch.cc as a user would, on this machine and on two that are network namespaces.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

#include "tests/launch/command.h"

namespace gripstream {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kTiny = std::string(GRIPSTREAM_SOURCE_DIR) + "/configs/tiny.yaml";

std::vector<std::string> WithSettings(std::vector<std::string> command, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) command.insert(command.end(), {"--set", setting});
  return command;
}

std::string Digest(const std::string& run_dir) {
  return ReadJson(run_dir + "/results.json").value("parameters_sha256", "none");
}

class Launch : public testing::Test {
 protected:
  // The digest of a run that `train` starts.
  std::string Trained(const std::vector<std::string>& settings) {
    const Ended ended = RunGripstream(TinyRun(folder_ / "trained", settings));
    EXPECT_EQ(ended.code, 0) << ended.output;
    return Digest(folder_ / "trained");
  }
  ScratchFolder folder_;
};

TEST_F(Launch, LocallyIsWhatTrainDoes) {
  const std::string run = folder_ / "run";
  const Ended ended = RunGripstream(WithSettings({"launch", kTiny}, {"run.dir=" + run}));
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(Digest(run), Trained({}));
}

TEST_F(Launch, EveryRoleSeesOnlyItsGpu) {
  if (std::filesystem::exists("/proc/driver/nvidia/version"))
    GTEST_SKIP() << "the GPUs of this machine have names of their own";
  const std::string run = folder_ / "run";
  std::vector<std::string> command = {"/usr/bin/env", "CUDA_VISIBLE_DEVICES=4-6", Program("gripstream"), "launch",
                                      kTiny};
  Command launch(WithSettings(command, {"run.dir=" + run, "sim.processes=2", "train.iterations=1000000"}));
  EXPECT_TRUE(launch.WaitForOutput("simulator 1: GPU 6", 60)) << launch.Output();
  EXPECT_THAT(launch.Output(), AllOf(HasSubstr("learner: GPU 4"), HasSubstr("simulator 0: GPU 5")));
  std::vector<std::string> seen;
  const Deadline deadline = Deadline::After(30);
  while (seen.size() < 3 && !deadline.Passed()) {
    seen.clear();
    for (const pid_t pid : ProcessesNaming(run)) {
      if (pid == launch.Pid()) continue;
      std::ifstream in("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
      for (std::string variable; std::getline(in, variable, '\0');) {
        if (variable.starts_with("CUDA_VISIBLE_DEVICES=")) seen.push_back(variable.substr(21));
      }
    }
    usleep(10000);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_THAT(seen, testing::ElementsAre("4", "5", "6"));
}

// A loopback port that somebody holds.
class HeldPort {
 public:
  HeldPort() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd_, generic, size) != 0 || listen(fd_, 1) != 0 || getsockname(fd_, generic, &size) != 0) abort();
    port_ = ntohs(address.sin_port);
  }
  ~HeldPort() { close(fd_); }
  std::string Text() const { return std::to_string(port_); }

 private:
  int fd_, port_;
};

TEST_F(Launch, DryRunPrintsTheCommandsAndLeavesNothing) {
  const std::string run = folder_ / "run";
  const Ended ended =
      RunGripstream(WithSettings({"launch", kTiny, "--dry-run"}, {"run.dir=" + run, "sim.processes=2"}));
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("gripstream-learner " + run),
                                  HasSubstr("gripstream-sim " + run + " --index 1"), HasSubstr("versions")));
  EXPECT_FALSE(std::filesystem::exists(run));
}

TEST_F(Launch, DryRunFindsPortsKeysHostsAndNetworks) {
  const HeldPort held;
  const auto check = [&](const std::vector<std::string>& settings) {
    const Ended ended = RunGripstream(WithSettings(
        {"launch", kTiny, "--dry-run", "--set", "run.dir=" + (folder_ / "run"), "--set", "wire.transport=zmq"},
        settings));
    EXPECT_EQ(ended.code, 1) << ended.output;
    return ended.output;
  };
  EXPECT_THAT(check({"wire.address=tcp://127.0.0.1:" + held.Text()}), HasSubstr("in use"));
  EXPECT_THAT(check({"wire.address=tcp://no-such-host.invalid:5555"}),
              AllOf(HasSubstr("the name is unknown"), HasSubstr("gripstream keygen")));
  EXPECT_THAT(check({"wire.address=tcp://203.0.113.0/24"}),
              AllOf(HasSubstr("no address in 203.0.113.0/24"), HasSubstr("leads beyond this machine")));
  EXPECT_THAT(check({"wire.address=tcp://203.0.113.0/24", "wire.curve.keys=" + (folder_ / "keys")}),
              HasSubstr("learner.secret"));
}

TEST_F(Launch, RefusesWhatItCannotStart) {
  const auto refused = [&](std::vector<std::string> arguments) {
    const Ended ended = RunGripstream(std::move(arguments));
    EXPECT_EQ(ended.code, 2) << ended.output;
    return ended.output;
  };
  EXPECT_THAT(refused({"launch"}), HasSubstr("a configuration or --resume RUN"));
  EXPECT_THAT(refused({"launch", kTiny, "--engine", "pigeons"}), HasSubstr("pigeons"));
  EXPECT_THAT(refused({"launch", kTiny, "--wait"}), HasSubstr("--engine slurm"));
  EXPECT_THAT(refused({"launch", kTiny, "--engine", "mpi"}), HasSubstr("mpirun, srun or torchrun"));
}

// Processes as torchrun starts them.
class Ranks : public Launch {
 protected:
  std::vector<std::string> Rank(int rank, int size, const std::vector<std::string>& settings,
                                const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {"/usr/bin/env", "RANK=" + std::to_string(rank),
                                        "WORLD_SIZE=" + std::to_string(size), "LOCAL_RANK=0"};
    command.insert(command.end(), more.begin(), more.end());
    command.insert(command.end(), {Program("gripstream"), "launch", kTiny, "--engine", "mpi"});
    return WithSettings(WithSettings(command, {"run.dir=" + (folder_ / "run")}), settings);
  }
  // Starts `commands`, checks that all end well and returns the first one's output.
  std::string RunAll(const std::vector<std::vector<std::string>>& commands) {
    std::vector<std::unique_ptr<Command>> running;
    for (const auto& command : commands) running.push_back(std::make_unique<Command>(command));
    for (const auto& command : running) EXPECT_EQ(command->Wait(120), 0) << command->Output();
    return running[0]->Output();
  }
};

TEST_F(Ranks, BecomeLearnersThenSimulators) {
  const std::vector<std::string> settings = {"sim.processes=2", "wire.transport=zmq"};
  std::vector<std::vector<std::string>> commands;
  for (int rank = 0; rank < 3; ++rank)
    commands.push_back(Rank(rank, 3, settings, {"MASTER_ADDR=127.0.0.1", "MASTER_PORT=1"}));
  EXPECT_THAT(RunAll(commands), HasSubstr("rank 0 of 3 (torchrun) is learner"));
  EXPECT_EQ(Digest(folder_ / "run"), Trained({"sim.processes=2"}));
}

TEST_F(Ranks, ThatDoNotFitTheConfigurationAreRefused) {
  Command wrong(Rank(0, 5, {}));
  EXPECT_EQ(wrong.Wait(60), 2);
  EXPECT_THAT(wrong.Output(), AllOf(HasSubstr("'5'"), HasSubstr("1 learners + 1 simulators = 2")));
  Command apart(Rank(1, 2, {}, {"LOCAL_WORLD_SIZE=1"}));  // the default transport is for one machine
  EXPECT_EQ(apart.Wait(60), 2);
  EXPECT_THAT(apart.Output(), AllOf(HasSubstr("wire.address"), HasSubstr("several machines")));
}

TEST_F(Ranks, ThatNeverStartAreNamed) {
  const std::vector<std::string> settings = {"sim.processes=2", "sim.envs=16", "wire.join_s=3"};
  Command learner(Rank(0, 3, settings)), simulator(Rank(1, 3, settings));
  EXPECT_EQ(learner.Wait(60), 1);
  EXPECT_THAT(learner.Output(), AllOf(HasSubstr("join"), HasSubstr("[16, 32)"))) << learner.Output();
  simulator.Wait(60);
  Command alone(Rank(1, 2, {"wire.join_s=1", "wire.transport=zmq", "wire.address=tcp://127.0.0.0/8"}));
  EXPECT_EQ(alone.Wait(60), 1);
  EXPECT_THAT(alone.Output(), AllOf(HasSubstr("learner 0 was not found"), HasSubstr("wire.join_s")));
}

// Two machines with one wire between them.
class TwoMachines : public Ranks {
 protected:
  void SetUp() override {
    if (geteuid() != 0 || !std::filesystem::exists("/sbin/ip"))
      GTEST_SKIP() << "network namespaces need root and iproute2";
    const std::string id = std::to_string(getpid());
    for (const char* side : {"a", "b"}) names_.push_back("gs" + id + side);
    const std::string script =
        "set -e; a=$1 b=$2; ip netns add $a; ip netns add $b; ip -n $a link add eth0 type veth peer name eth0 netns "
        "$b; "
        "ip -n $a addr add 10.77.0.1/24 dev eth0; ip -n $b addr add 10.77.0.2/24 dev eth0; "
        "for n in $a $b; do ip -n $n link set lo up; ip -n $n link set eth0 up; done";
    Command made({"/bin/sh", "-c", script, "sh", names_[0], names_[1]});
    if (made.Wait(30) != 0) GTEST_SKIP() << "no network namespaces here: " << made.Output();
  }
  void TearDown() override {
    for (const std::string& name : names_) Command({"/sbin/ip", "netns", "del", name}).Wait(30);
  }
  std::vector<std::string> On(int machine, std::vector<std::string> command) const {
    command.insert(command.begin(), {"/sbin/ip", "netns", "exec", names_[static_cast<size_t>(machine)]});
    return command;
  }
  std::string Keys() {
    EXPECT_EQ(RunGripstream({"keygen", folder_ / "keys"}).code, 0);
    return folder_ / "keys";
  }
  std::vector<std::string> names_;
};

TEST_F(TwoMachines, LearnWhatOneDoesWithKeysBetweenThem) {
  const std::vector<std::string> settings = {"wire.transport=zmq", "wire.address=tcp://10.77.0.0/24",
                                             "wire.curve.keys=" + Keys()};
  const std::vector<std::string> apart = {"LOCAL_WORLD_SIZE=1"};
  RunAll({On(0, Rank(0, 2, settings, apart)), On(1, Rank(1, 2, settings, apart))});
  EXPECT_EQ(Digest(folder_ / "run"), Trained({}));
}

TEST_F(TwoMachines, ShareABatchBetweenTheirLearners) {
  std::vector<std::string> settings = {"learner.processes=2", "sim.processes=2", "learner.gradient_delay=predicted"};
  const std::string one_machine = Trained(settings);
  settings.insert(settings.end(), {"learner.trusted_network=10.77.0.0/24", "wire.transport=zmq",
                                   "wire.address=tcp://10.77.0.0/24", "wire.curve.keys=" + Keys()});
  const std::vector<std::string> apart = {"LOCAL_WORLD_SIZE=2"};
  RunAll({On(0, Rank(0, 4, settings, apart)), On(1, Rank(1, 4, settings, apart)), On(1, Rank(2, 4, settings, apart)),
          On(0, Rank(3, 4, settings, apart))});
  EXPECT_EQ(Digest(folder_ / "run"), one_machine);
}

TEST_F(TwoMachines, AreNotLearnedOnWithoutKeys) {
  Command learner(On(0, Rank(0, 2, {"wire.transport=zmq", "wire.address=tcp://10.77.0.0/24"})));
  EXPECT_EQ(learner.Wait(60), 2);
  EXPECT_THAT(learner.Output(), HasSubstr("wire.curve.keys"));
}

}  // namespace
}  // namespace gripstream
